"""The beliefs of a citizen that changed."""

from __future__ import annotations

from schemas.base import (
    CitizenId,
    Frozen,
)
from schemas.paging import Paged
from schemas.stream_parts import RecurringCorrection, TemporalDissonance
from schemas.temporal import KnownMoment


class LearningPage(Paged):
    """A page of the learning moments, as known at `known_at`."""

    known_at: KnownMoment | None = None


class LearningMoments(Frozen):
    """The beliefs of a citizen that changed, oldest first.

    `recurring` counts each correction pattern among them, `next` is the cursor of the next page.
    """

    citizen_id: CitizenId
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
    next: str | None = None
