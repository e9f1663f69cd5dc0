"""A citizen's own state: what it feels and wants now, and the last stream that it was given."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from schemas.base import CitizenId, Emotions, Frozen, Name, Request, ShortText, Unit
from schemas.signal import Channel
from schemas.thought import RecurringCorrection, TemporalDissonance

Factor = Annotated[float, Field(strict=True, ge=0.0, le=100.0, allow_inf_nan=False)]


class Drive(Request):
    """A drive of a citizen: how satisfied it is, what it is about, and by how much it moves which channel.

    Below a satisfaction of 0.3 its nodes join every signal that is built (002), and `bias` multiplies the
    weights of channels (000).
    """

    satisfaction: Unit = 1.0
    nodes: Annotated[tuple[Name, ...], Field(max_length=32)] = ()
    bias: dict[Channel, Factor] = Field(default_factory=dict)


Drives = Annotated[dict[Name, Drive], Field(max_length=64, json_schema_extra={"additionalProperties": False})]


class CitizenState(Frozen):
    """The state as it is kept. A citizen that never had one has energy one half and no emotions."""

    citizen_id: CitizenId
    energy: float = 0.5
    emotion_vector: dict[str, float] = Field(default_factory=dict)
    goal: str | None = None
    drives: dict[str, Drive] = Field(default_factory=dict)
    last_stream_id: str | None = None
    updated_at: datetime | None = None


class StateChange(Request):
    """What is set of a state; what is left out stays, a null clears it. `drives` replaces all of them."""

    energy: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: ShortText | None = None
    drives: Drives | None = None


class LearningMoments(Frozen):
    """The beliefs of a citizen that changed, oldest first, and how often each correction pattern recurs."""

    citizen_id: CitizenId
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
