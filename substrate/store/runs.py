"""The runs of upkeep: `UpkeepRun` nodes in the graph they concern, their journal, and the summaries of sweeps.

Each write of a run names the fence of its lease. The stamp of the graph has the highest fence that wrote,
`upkeep_fence`, and a write with a lower one changes nothing: its process has lost the lease. The journal
(`UpkeepChange`) has a row for each command, written before the command is sent; what became of a command stands in
its receipt.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import batched
from typing import Any, Final, NamedTuple

import orjson

from schemas.errors import Conflict
from schemas.memory import LinkRecord, MemoryRecord
from schemas.temporal import Instant
from substrate.connection.pool import Row
from substrate.cypher.fragments import TELL_FEED, columns_of
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.applied import event_of

RUNS_AT_MOST: Final = 1000
KEPT_WITHOUT_CHANGES: Final = 20
"""This many finished runs of a job that changed nothing are kept in a graph; those with changes all stay."""
ROWS_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as the graph has it. `cursor`: where its next page begins, None before the first and after the last.

    `pages`: how many pages its journal has. `kept`: how many changes are no commands. Times are microseconds since
    1970; `errors` are the last ones.
    """

    id: str
    job: str
    status: str
    begun_at: Instant
    ended_at: Instant | None = None
    next_at: Instant | None = None
    seen: int = 0
    changed: int = 0
    refused: int = 0
    attempt: int = 1
    errors: tuple[str, ...] = ()
    fence: int = 0
    undone: int = 0
    beyond_undo: int = 0
    kept: int = 0
    cursor: str | None = None
    pages: int = 0

    def values(self) -> dict[str, Any]:
        return {**asdict(self), "errors": orjson.dumps(self.errors).decode()}


_COLUMNS: Final = tuple(field.name for field in fields(RunRecord))
_FENCED: Final = (
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WHERE coalesce(m.upkeep_fence, 0) <= $fence "
    f"SET m.upkeep_fence = $fence {TELL_FEED} WITH m "
)
_RUN: Final = "MATCH (r:UpkeepRun {id: $run}) SET r += $values "

READ_RUNS: Final = Query(
    "upkeep_runs",
    f"MATCH (r:UpkeepRun) RETURN {columns_of('r', _COLUMNS)} ORDER BY r.begun_at DESC, r.id DESC LIMIT $rows",
)
READ_RUN: Final = Query("upkeep_run", f"MATCH (r:UpkeepRun {{id: $run}}) RETURN {columns_of('r', _COLUMNS)}")
EXISTS: Final = Query("upkeep_exists", "RETURN 1")
SAVE_RUN: Final = Query(
    "upkeep_save_run", f"{_FENCED} MERGE (r:UpkeepRun {{id: $run}}) SET r += $values RETURN r.id"
)
JOURNAL: Final = Query(
    "upkeep_journal",
    f"{_FENCED} {_RUN} WITH r UNWIND $rows AS row CREATE (c:UpkeepChange) SET c = row RETURN count(c)",
)
SETTLE: Final = Query(
    "upkeep_settle",
    f"{_FENCED} {_RUN} WITH r OPTIONAL MATCH (c:UpkeepChange) WHERE c.page = $page AND c.command_id IN $gone "
    "WITH r, collect(c) AS gone FOREACH (c IN gone | DELETE c) RETURN r.id",
)
DROP_RUNS: Final = Query(
    "upkeep_drop_runs",
    "MATCH (r:UpkeepRun) WHERE r.job = $job AND r.status <> 'running' AND r.status <> 'failed' "
    "AND r.changed = 0 AND r.kept = 0 WITH r ORDER BY r.begun_at DESC SKIP $keep "
    "WITH collect(r) AS old FOREACH (r IN old | DELETE r) RETURN size(old)",
)
CHANGES_OF_PAGE: Final = Query(
    "upkeep_changes",
    "MATCH (c:UpkeepChange) WHERE c.page = $page RETURN c.nth, c.command_id, c.command, c.target, c.source "
    "ORDER BY c.nth DESC",
)
RUN_OF: Final = Query(
    "upkeep_run_of", "MATCH (c:UpkeepChange) WHERE c.command_id IN $commands RETURN c.command_id, c.run"
)
ERASE_CHANGES: Final = Query(
    "erase_changes",
    "MATCH (c:UpkeepChange) WHERE c.target IN $ids WITH collect(c) AS gone "
    "FOREACH (c IN gone | DELETE c) RETURN size(gone)",
)
FORGET_IN_RUNS: Final = Query(
    "erase_in_runs",
    "MATCH (r:UpkeepRun) WHERE any(x IN $ids WHERE r.errors CONTAINS x OR r.cursor CONTAINS x) "
    "SET r.errors = '[]', r.cursor = null RETURN count(r)",
)
"""A cursor may name a memory. A run without one begins again, and what it does twice changes nothing."""


class LeaseLost(Conflict):
    """Another process has the lease of upkeep; nothing was written."""


class Change(NamedTuple):
    """A row of the journal: a command on `target`, the id of a memory or link; `nth` in its page."""

    nth: int
    command_id: str
    command: str
    target: str
    source: str | None


def page_name(run_id: str, number: int | str) -> str:
    return f"{run_id}:{number}"


def _record(row: Row) -> RunRecord:
    values: dict[str, Any] = dict(zip(_COLUMNS, row, strict=True))
    return RunRecord(**{**values, "errors": tuple(orjson.loads(values["errors"]))})


async def read_runs(graph: Graph, rows: int = RUNS_AT_MOST) -> list[RunRecord]:
    """The runs of a graph, the newest first."""
    return list(map(_record, await graph.read_typed(READ_RUNS, rows=rows)))


async def read_run(graph: Graph, run_id: str) -> RunRecord | None:
    rows = await graph.read_typed(READ_RUN, run=run_id)
    return _record(rows[0]) if rows else None


async def save_run(graph: Graph, record: RunRecord) -> None:
    """Store the run under its fence. Raises LeaseLost when the graph has seen a higher one. Raises GraphMissing
    when the graph was erased."""
    await _fenced(graph, SAVE_RUN, record)


async def write_journal(graph: Graph, record: RunRecord, page: str, changes: Sequence[Change]) -> None:
    """Store the rows of a page, before its commands are sent. Raises as `save_run` does."""
    rows = [{**change._asdict(), "run": record.id, "page": page} for change in changes]
    for part in batched(rows, ROWS_AT_ONCE):
        await _fenced(graph, JOURNAL, record, rows=list(part))


async def settle(graph: Graph, record: RunRecord, page: str, gone: Sequence[str]) -> None:
    """Store the run after a page, and drop the rows of what changed nothing. Raises as `save_run` does."""
    await _fenced(graph, SETTLE, record, page=page, gone=list(gone))


async def _fenced(graph: Graph, query: Query, record: RunRecord, **values: Any) -> None:
    fields: Mapping[str, Any] = record.values()
    await graph.read(EXISTS)  # a write would make the graph anew; reading raises GraphMissing
    ended = record.status in ("failed", "undone") or (query is SETTLE and record.status == "done")
    event = {"id": record.id, "type": record.job, "of": record.status}
    news = (
        event_of("run", record.ended_at or 0, **event)
        if ended and (record.changed + record.kept or record.errors)
        else []
    )
    rows = await graph.write(query, run=record.id, fence=record.fence, values=dict(fields), told=news, **values)
    if not rows or rows[0][0] in (0, None):
        raise LeaseLost(
            "another process does the upkeep now; nothing was stored", remedy="Run the job again when it is done."
        )


async def drop_old_runs(graph: Graph, job: str) -> None:
    """Drop the oldest finished runs of a job that changed nothing."""
    await graph.write(DROP_RUNS, job=job, keep=KEPT_WITHOUT_CHANGES)


async def changes_of_page(graph: Graph, run_id: str, number: int) -> list[Change]:
    """The rows of a page of the journal, the last first."""
    return [Change(*row) for row in await graph.read(CHANGES_OF_PAGE, page=page_name(run_id, number))]


async def name_runs[R: (MemoryRecord, LinkRecord)](graph: Graph, records: Sequence[R]) -> tuple[R, ...]:
    """The records of a history with the runs of upkeep that opened and closed them."""
    opened = {record.command_id for record in records}
    closed = {record.closed_by for record in records}
    commands = sorted(command for command in opened | closed if command is not None)
    rows = await graph.read(RUN_OF, commands=commands) if commands else ()
    found = {str(command): str(run) for command, run in rows}
    if not found:
        return tuple(records)
    return tuple(
        record.model_copy(
            update={"run": found.get(record.command_id or ""), "closed_run": found.get(record.closed_by or "")}
        )
        for record in records
    )


async def erase_changes(graph: Graph, ids: Sequence[str]) -> None:
    """Remove what the runs keep of these memories or links."""
    await graph.write(ERASE_CHANGES, ids=list(ids))
    await graph.write(FORGET_IN_RUNS, ids=list(ids))


QUALITY: Final = Query(
    "quality", "MATCH (q:QualitySummary) WITH q ORDER BY q.swept_at DESC LIMIT $rows RETURN q.swept_at, q.summary"
)
KEEP_QUALITY: Final = Query(
    "keep_quality",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) WITH m LIMIT 1 MERGE (q:QualitySummary {id: $id}) "
    "ON CREATE SET q.swept_at = $at, q.summary = $summary RETURN q.swept_at",
)
"""Returns no row in a graph without a stamp. A summary with the same id is kept once."""
QUALITY_TIMES: Final = Query("quality_times", "MATCH (q:QualitySummary) RETURN q.swept_at")
DROP_QUALITY: Final = Query(
    "drop_quality", "MATCH (q:QualitySummary) WHERE q.swept_at IN $times OR q.id IN $ids DELETE q RETURN count(q)"
)


class StoredSummary(NamedTuple):
    """When a graph was swept, and what was found, as values of JSON."""

    swept_at: Instant
    summary: Mapping[str, Any]


async def read_summaries(graph: Graph, limit: int) -> list[StoredSummary]:
    """The newest summaries of the graph, oldest first; none when the graph does not exist."""
    rows = await graph.read_existing(QUALITY, rows=limit)
    return [StoredSummary(int(at), orjson.loads(summary)) for at, summary in reversed(rows)]


async def read_times(graph: Graph) -> list[Instant]:
    """When the graph was swept, as far as that is kept. Raises GraphMissing."""
    return [int(row[0]) for row in await graph.read(QUALITY_TIMES)]


async def keep_summary(graph: Graph, summary_id: str, at: Instant, summary: str) -> bool:
    """Store a summary, once; `summary` is its text in JSON. False when the graph is none of ours."""
    return bool(await graph.write(KEEP_QUALITY, id=summary_id, at=at, summary=summary))


async def drop_summaries(graph: Graph, *, times: Collection[Instant] = (), ids: Collection[str] = ()) -> int:
    """Remove the summaries of these times or with these ids; returns how many."""
    rows = await graph.write(DROP_QUALITY, times=sorted(times), ids=sorted(ids))
    return int(rows[0][0]) if rows else 0
