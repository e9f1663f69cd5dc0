"""Runs of upkeep: one job in one graph, what it did there, and the requests that start one or take it back."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import Field

from schemas.base import AtMost, Flag, Frozen, Request
from schemas.collectives import AnyGraphRequest, GraphsRequest
from schemas.memory import Collective, InGraph, Level

JobName = Literal["sweep", "tags", "consolidation", "mirror", "revaluation", "retention", "erasure"]
ONLY_NAMED: Final[tuple[JobName, ...]] = ("erasure",)
"""Jobs that run where they are named alone: what erases."""
RunStatus = Literal["running", "done", "failed", "undone"]


class Run(InGraph, Frozen):
    """One run of a job in one graph.

    `seen`: how many things the job looked at, `changed`: how many changes were stored, `refused`: how many
    commands were refused. `errors`: what went wrong, the last ones only. `attempt`: how often it was tried.
    `next_at`: when the job is due again in this graph. `fence`: the number of the lease under which it last wrote.
    `undone`: how many changes were taken back; `beyond_undo`: how many cannot be, because the job erased.
    """

    id: str
    job: JobName
    level: Level
    collective: Collective = None
    citizen_id: str | None = None
    status: RunStatus
    begun_at: datetime
    ended_at: datetime | None = None
    next_at: datetime | None = None
    seen: int = 0
    changed: int = 0
    refused: int = 0
    attempt: int = 1
    errors: tuple[str, ...] = ()
    fence: int = 0
    undone: int = 0
    beyond_undo: int = 0
    dry_run: bool = False
    shown: tuple[str, ...] = ()
    """The first changes in words: what a dry run would do."""


class RunRequest(GraphsRequest):
    """Run jobs now. Without `jobs`: those that are switched on. Without `levels`: N1 of the citizen when one is
    named, else all levels. With `dry_run` nothing is stored, and the answer shows what would change."""

    jobs: Annotated[tuple[JobName, ...], Field(min_length=1), AtMost(16)] | None = None
    dry_run: Flag = False


class JobInfo(Frozen):
    """A job. `runs`: it runs in idle time; a citizen may ask for other jobs (`OwnUpkeep`)."""

    name: JobName
    levels: tuple[Level, ...]
    period_s: int
    undoable: bool
    runs: bool


class RunsAnswer(Frozen):
    """Runs, the newest first. `holder`: who does the upkeep now; empty when nobody does.

    `upkeep` says whether this service does upkeep in idle time, `jobs` which jobs there are.
    """

    runs: tuple[Run, ...] = ()
    holder: str = ""
    upkeep: Literal["idle", "off"] = "idle"
    jobs: tuple[JobInfo, ...] = ()


class RunsQuery(AnyGraphRequest):
    """Which runs to list. Without `citizen_id` and `level`: those of all graphs."""

    job: JobName | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class OwnUpkeep(Request):
    """What a citizen asks for itself: no upkeep in idle time (`off`), or other jobs than the service runs.

    None: as the service is set. Jobs that erase run only where they are named.
    """

    mode: Literal["idle", "off"] | None = None
    jobs: Annotated[tuple[JobName, ...], AtMost(16)] | None = None
