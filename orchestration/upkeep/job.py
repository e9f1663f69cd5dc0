"""What a job of upkeep is: it plans one bounded page of work at a time; the runner stores what it planned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

from orchestration.dependencies import Deps, Rest, no_rest
from schemas.commands import Command
from schemas.intention import ALL_LEVELS
from schemas.memory import GraphKey, Level, level_of
from schemas.temporal import Instant
from schemas.upkeep.runs import JobName
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name

DRY_RUN: Final = "dry-run"
"""The id of a run of which nothing is stored."""


@dataclass(frozen=True, slots=True)
class JobContext:
    """One run of a job in one graph, at the time of one page.

    `now`: the moment of the page, by the clock of the engine's host. `since`: when the last finished run of this
    job in this graph began; None before the first. `rest` returns when no request waits: a job calls it
    between its own reads, so that none of them delays a request.
    """

    deps: Deps
    key: GraphKey
    citizen_id: str | None
    run_id: str
    now: Instant
    since: Instant | None = None
    rest: Rest = no_rest

    @property
    def is_dry_run(self) -> bool:
        return self.run_id == DRY_RUN

    @property
    def level(self) -> Level:
        return level_of(self.key)

    @property
    def graph(self) -> Graph:
        return self.deps.graph(graph_name(self.key, self.citizen_id))


class Page(NamedTuple):
    """What a job wants to do with the next part of a graph.

    `seen`: how many things it looked at. `next`: where the next page begins, in the job's own words (another
    process may use it, hours later); None at the end. `commands` are applied in order; those without a source get
    `upkeep`, those without a command id get one from the run and their content. `beside`: what the job keeps that
    is no record, such as made tags; `Job.keep` stores it. `shown`: the changes in words, for a dry run.
    `notes`: what it left out on purpose; they stand among the errors of the run.
    """

    seen: int
    next: str | None = None
    commands: tuple[Command, ...] = ()
    beside: tuple[Any, ...] = ()
    shown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Job(Protocol):
    """A job of upkeep. Between two pages it keeps the cursor alone, and a page done twice changes nothing.

    A run changes each memory or link at most once: of two changes only the last can be taken back with the run.
    `period_s`: seconds between two runs in one graph. `undoable`: a run can be taken back whole. `default`: it
    runs unless the settings name other jobs; what erases never does.
    """

    name: JobName
    levels: tuple[Level, ...] = ALL_LEVELS
    period_s: int = 86_400
    undoable: bool = True
    default: bool = True

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """Read the page after `cursor` (None: the first) and decide. It changes nothing."""
        ...

    async def keep(self, context: JobContext, page: Page) -> int:
        """Store `page.beside`, after its commands were applied; returns how many changes that made."""
        return 0

    async def undo(self, context: JobContext) -> int:
        """Take back what `keep` stored in the run `context.run_id`; returns how many changes that made."""
        return 0
