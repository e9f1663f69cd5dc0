"""What a citizen tells of answers, and what its feedback teaches."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Frozen,
    Identifier,
    Request,
    each_once,
)
from schemas.collectives import AsksGraphs
from schemas.intention import ALL_LEVELS, Levels, QueryText
from schemas.memory import Level
from schemas.temporal import AskedMoment, KnownMoment

MemoryIds = Annotated[tuple[Identifier, ...], AtMost(50), AfterValidator(each_once)]
"""Ids of memories, without repeats, in the order given."""


STEPS: Final = (".", "..")
"""Clients shorten a path with one of these as a part: `DELETE …/feedback/..` would reach the citizen."""


class NotChanged(Request):
    """Two memories, by their ids: the `later` one does not tell what holds instead of the `earlier` one."""

    earlier: Identifier
    later: Identifier


class Feedback(AsksGraphs):
    """Which memories answered a question (`used`), which did not (`wrong`), what was told as a change and is none.

    At least one of these. The question is that of `retrieve`, with what it was asked with; `not_changed` alone
    needs none. Sent again with the same `feedback_id` it counts once.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [
                {"required": ["query_text", "used"]},
                {"required": ["query_text", "wrong"]},
                {"required": ["not_changed"]},
            ]
        }
    )

    query_text: QueryText | None = None
    used: MemoryIds = ()
    wrong: MemoryIds = ()
    not_changed: Annotated[tuple[NotChanged, ...], AtMost(50)] = ()
    query_levels: Levels = ALL_LEVELS
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None
    feedback_id: Annotated[Identifier, Field(json_schema_extra={"not": {"enum": [*STEPS]}})] | None = None

    @model_validator(mode="after")
    def _says_something_once(self) -> Self:
        if not (self.used or self.wrong or self.not_changed):
            raise ValueError("used, wrong and not_changed are all empty; name at least one memory")
        if self.query_text is None and (self.used or self.wrong):
            raise ValueError("query_text is missing: say which question used and wrong are about")
        if self.feedback_id in STEPS:
            raise ValueError(
                f"feedback_id cannot be {self.feedback_id}, a step in a path; leave it out or name another"
            )
        both = [name for name in self.used if name in self.wrong]
        if both:
            raise ValueError(f"{', '.join(both)} cannot be both used and wrong")
        return self

    def asked_with(self) -> dict[str, Any]:
        """The question with what it was asked with, as values of JSON."""
        fields = {"query_text", "query_levels", "collectives", "as_of_time", "known_at"}
        return self.model_dump(mode="json", include=fields, exclude_none=True)


class FeedbackRecord(Frozen):
    """A feedback as it was told, at `told_at`. `query_levels`, `as_of_time`, `known_at`: what was asked with."""

    feedback_id: str
    told_at: datetime
    query_text: str | None = None
    query_levels: tuple[Level, ...]
    collectives: tuple[str, ...] | None = None
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    used: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    not_changed: tuple[NotChanged, ...] = ()


class LearnedFactors(Frozen):
    """What a citizen's feedback does to its questions: `told` is how many feedbacks stand.

    `factors`: by family of channels what their weights are multiplied by, in [0.5, 2]; empty without feedback.
    """

    told: int = 0
    factors: dict[str, float] = Field(default_factory=dict)


class FeedbackPage(Frozen):
    """Feedback of a citizen, oldest first, and what all of it does now; `next` is the cursor of the next page."""

    citizen_id: CitizenId
    feedback: tuple[FeedbackRecord, ...]
    learned: LearnedFactors
    next: str | None = None


class FeedbackTakenBack(Frozen):
    """How many feedbacks were taken back, and what the others do now."""

    citizen_id: CitizenId
    taken_back: int
    learned: LearnedFactors
