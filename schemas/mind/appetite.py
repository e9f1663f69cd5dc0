"""What a citizen has to wake for, and the intention that follows from it (003, S6)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from schemas.base import CitizenId, Flag, Frozen, Unit, Whole
from schemas.collectives import AsksGraphs
from schemas.intention import (
    ALL_LEVELS,
    Form,
    Levels,
    Parts,
    RetrievalIntention,
    StateBasedRetrieval,
    TimeZone,
)
from schemas.memory import Level

type ReadingName = Literal[
    "context_hunger", "unresolved_tension", "pain", "drives", "due", "context", "revaluations"
]
type DecisionKind = Literal["broad", "similar", "state", "nothing"]
type PressureOrigin = Literal["kept", "due", "default"]


class AppetiteSource(Frozen):
    """A memory that a reading comes from. `amount`, in [0, 1]: what it would give alone."""

    id: str
    level: Level
    collective: str | None = None
    name: str
    amount: Unit


class Reading(Frozen):
    """One thing that may wake a citizen. `amount`: 0 is nothing, 1 the most. `reason`: why, in one clause.

    `sources`: the memories that it comes from, the strongest first, 8 at most; `further` counts the others.
    """

    name: ReadingName
    amount: Unit
    reason: str
    sources: tuple[AppetiteSource, ...] = ()
    further: int = 0


class LastAsked(Frozen):
    """The last stream of the citizen: when it was asked for, what for, and at which levels."""

    stream_id: str
    at: datetime
    goal: str | None = None
    levels: tuple[Level, ...] = ()


class Appetite(Frozen):
    """What a citizen has to wake for at the moment `at`.

    `readings`: one of each name, the strongest first. `tension_source`: the words of the open work that pulls
    most. `dominant_emotions`: those that the state has most of. `active_contexts`: what its work and its talk are
    about. `reality_pressure`: how much presses from outside, as the state keeps it or as what is due makes it.
    """

    citizen_id: CitizenId
    at: datetime
    last_stream: LastAsked | None = None
    readings: tuple[Reading, ...]
    tension_source: str | None = None
    dominant_emotions: tuple[str, ...] = ()
    active_contexts: tuple[str, ...] = ()
    reality_pressure: Unit = 0.5
    pressure_from: PressureOrigin = "default"
    notes: tuple[str, ...] = ()

    def reading(self, name: ReadingName) -> Reading:
        """The reading of this name."""
        return next(each for each in self.readings if each.name == name)

    def amount(self, name: ReadingName) -> float:
        """How much of it there is, in [0, 1]."""
        return self.reading(name).amount


class AppetiteRequest(AsksGraphs):
    """In which shared graphs something new counts, and in which zone a planned day begins."""

    query_levels: Levels = ALL_LEVELS
    time_zone: TimeZone = "UTC"


class IntendRequest(AppetiteRequest):
    """Options of the stream. With `run` false only the decision is told, and nothing is asked."""

    run: Flag = True
    apply_feedback: Flag = False
    explain: Flag = False
    max_tokens: Annotated[Whole, Field(ge=1)] | None = None
    form: Form = "full"
    parts: Parts | None = None


class Decision(Frozen):
    """What follows from an appetite. `why`: the reading that decided, with its amount and its threshold.

    `broad`: recent developments in the active contexts. `similar`: past experiences similar to the source of the
    tension. Both are an `intention`. `state`: a waking from the `state`. `nothing`: there is nothing to wake for.
    """

    kind: DecisionKind
    why: str
    reading: ReadingName | None = None
    intention: RetrievalIntention | None = None
    state: StateBasedRetrieval | None = None
