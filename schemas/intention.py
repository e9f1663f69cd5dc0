"""What a citizen may ask (003, component 1)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Self
from uuid import uuid4

from pydantic import AfterValidator, Field, model_validator

from schemas.base import CitizenId, Identifier, Request, ShortText, Text, Unit
from schemas.memory import Level
from schemas.temporal import Moment, TemporalMode

ALL_LEVELS = (Level.N1, Level.N2, Level.N3)


def _says_something(text: str) -> str:
    if not text.strip():
        raise ValueError("the query is empty; say what context is needed, or wake from a state instead")
    return text


def _distinct(levels: tuple[Level, ...]) -> tuple[Level, ...]:
    return tuple(dict.fromkeys(levels))


class RetrievalIntention(Request):
    """A request for context on something (003, component 1), plus `known_at`, `explain` and `max_tokens`.

    `as_of_time` asks for both axes at that moment; `known_at` moves the transaction axis apart.
    `time_range_*` bound the transaction time of `evolution`. Limits are per query and level.
    """

    query_text: Annotated[Text, Field(max_length=20_000), AfterValidator(_says_something)]
    temporal_mode: TemporalMode = TemporalMode.CURRENT
    as_of_time: Moment | None = None
    known_at: Moment | None = None
    time_range_start: Moment | None = None
    time_range_end: Moment | None = None
    query_levels: Annotated[tuple[Level, ...], Field(min_length=1), AfterValidator(_distinct)] = ALL_LEVELS
    max_results_per_level: Annotated[int, Field(ge=1, le=100)] = 20
    min_energy: Unit | None = None
    min_confidence: Unit | None = None
    required_emotions: Annotated[tuple[ShortText, ...], Field(max_length=16)] | None = None
    citizen_id: CitizenId
    intention_id: Identifier = Field(default_factory=lambda: uuid4().hex)
    generated_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    generated_by: ShortText = "unknown"
    explain: bool = False
    max_tokens: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _times_fit_the_mode(self) -> Self:
        if self.temporal_mode is TemporalMode.POINT_IN_TIME and self.as_of_time is None:
            raise ValueError("temporal_mode point_in_time needs as_of_time")
        if self.temporal_mode is TemporalMode.CURRENT and (self.as_of_time or self.known_at):
            raise ValueError("as_of_time and known_at need temporal_mode point_in_time")
        start, end = self.time_range_start, self.time_range_end
        if start is not None and end is not None and end <= start:
            raise ValueError("time_range_end must lie after time_range_start")
        return self
