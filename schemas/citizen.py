"""A citizen's own state: what it feels and wants now, and the last stream that it was given."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from schemas.base import CitizenId, Emotions, Frozen, Request, ShortText, Unit
from schemas.thought import RecurringCorrection, TemporalDissonance


class CitizenState(Frozen):
    """The state as it is kept. A citizen that never had one has energy one half and no emotions."""

    citizen_id: CitizenId
    energy: float = 0.5
    emotion_vector: dict[str, float] = Field(default_factory=dict)
    goal: str | None = None
    last_stream_id: str | None = None
    updated_at: datetime | None = None


class StateChange(Request):
    """What is set of a state; what is left out stays, a null goal clears it."""

    energy: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: ShortText | None = None


class LearningMoments(Frozen):
    """The beliefs of a citizen that changed, oldest first, and how often each correction pattern recurs."""

    citizen_id: CitizenId
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
