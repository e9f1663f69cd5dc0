"""Runs one job of upkeep in one graph, page by page: plan, journal, apply, keep, save the cursor under the fence.

A run that was broken off anywhere is resumed where its last page ended. The commands of a page stand in the
journal before they are sent; a page done twice sends the same command ids, so it changes nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import Final
from uuid import uuid4

from orchestration import insertion
from orchestration.dependencies import Deps, Rest, no_rest
from orchestration.upkeep import due
from orchestration.upkeep.job import DRY_RUN, Job, JobContext
from orchestration.writing.atomic import name_command
from orchestration.writing.receipts import command_name
from schemas.commands import Command, WriteReceipt
from schemas.errors import SubstrateError
from schemas.memory import Source, graph_fields
from schemas.temporal import to_datetime, to_instant
from schemas.upkeep.runs import Run
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import GraphOf
from substrate.graphs.registry import read_stamp
from substrate.store import runs
from substrate.store.lease import digest
from substrate.store.reader import read_clock
from substrate.store.runs import Change, LeaseLost, RunRecord, page_name

logger = logging.getLogger(__name__)

ERRORS_KEPT: Final = 10
SHOWN_AT_MOST: Final = 50


@dataclass(frozen=True, slots=True)
class Watch:
    """How a run is watched from outside.

    `fence`: the number of the lease. `lost` is true when the lease is lost: then nothing more is written.
    `stopped` is true when the run shall end after its page, to be resumed later. `rest` returns when no request
    waits.
    `on_page` is called after each page.
    """

    fence: int
    lost: Callable[[], bool] = lambda: False
    stopped: Callable[[], bool] = lambda: False
    rest: Rest = no_rest
    on_page: Callable[[RunRecord], None] = lambda _record: None


def upkeep_deps(deps: Deps) -> Deps:
    """The dependencies with which upkeep writes.

    What it stores is not read for names and feelings, and a graph that was erased meanwhile is not made anew.
    """
    return replace(deps, names=False, appraisal="off", graphs=deps.graphs.existing_only())


async def run_job(job: Job, place: GraphOf, deps: Deps, watch: Watch) -> RunRecord | None:
    """Run the job to its end, or until `watch` stops it; a run of the job that has not ended is resumed.

    Returns the run. When a page failed, the run says why and when it is tried again. None when there is no such
    graph, or it was erased meanwhile. Raises LeaseLost, and Unavailable when the engine does not answer.
    """
    if not await deps.graphs.for_reading(place.graph):
        return None
    own = upkeep_deps(deps)
    try:
        before = await runs.read_runs(own.graph(place.graph))
        begun = await _begin(job, before, own.graph(place.graph), watch)
        context = JobContext(
            own, *place, run_id=begun.id, now=begun.begun_at, since=due.since(before, job.name), rest=watch.rest
        )
        return await _run_pages(job, context, begun, watch)
    except (LeaseLost, GraphMissing):
        if await read_stamp(deps.graph(place.graph)) is None:
            return None
        raise


async def _begin(job: Job, before: Sequence[RunRecord], graph: Graph, watch: Watch) -> RunRecord:
    """Store the run that begins, or the one that goes on. `before`: the runs in the graph."""
    latest = due.latest_by_job(before).get(job.name)
    if latest is not None and latest.status in due.UNENDED:
        again = latest.status == "failed"
        begun = replace(latest, status="running", ended_at=None, attempt=latest.attempt + again)
    else:
        await runs.drop_old_runs(graph, job.name)
        now = await graph.connection.now()
        # After all transactions of the graph, whose clock may be ahead: later ones are the run's.
        after_all = max(now, await read_clock(graph, now) + 1)
        run_id = f"run-{digest(graph.name)}-{uuid4().hex[:12]}"  # from which `is_run_in` tells the graph
        begun = RunRecord(run_id, job.name, "running", after_all)
    begun = replace(begun, fence=watch.fence, next_at=None)
    await runs.save_run(graph, begun)
    return begun


def is_run_in(run_id: str, graph: str) -> bool:
    """True when the run is one of this graph."""
    return run_id.startswith(f"run-{digest(graph)}-")


async def _run_pages(job: Job, context: JobContext, record: RunRecord, watch: Watch) -> RunRecord:
    while True:
        await watch.rest()
        if watch.lost():
            raise LeaseLost("the lease of upkeep was lost", remedy="The run goes on where it stopped.")
        context = replace(context, now=await context.deps.connection.now())
        try:
            record = await _run_page(job, context, record)
        except (LeaseLost, GraphMissing):
            raise
        except Exception as error:
            logger.warning("upkeep: %s in %s failed", job.name, context.graph.name, exc_info=error)
            # Of an unexpected one only the kind is told: its text may hold a memory's words.
            told = error.detail if isinstance(error, SubstrateError) else type(error).__name__
            errors = (*record.errors, f"attempt {record.attempt}: {told}")[-ERRORS_KEPT:]
            next_at = due.retry_at(context.now, record.attempt, job.period_s)
            failed = replace(record, status="failed", ended_at=context.now, next_at=next_at, errors=errors)
            await runs.save_run(context.graph, failed)
            return failed
        watch.on_page(record)
        if record.status == "done" or watch.stopped():
            return record


class _StuckJob(Exception):
    """A job names the page that it has just done as the next one."""


async def _run_page(job: Job, context: JobContext, record: RunRecord) -> RunRecord:
    page = await job.plan(context, record.cursor)
    if page.next is not None and page.next == record.cursor:
        raise _StuckJob(job.name)
    commands: list[Command] = []
    for command in page.commands:
        # Its source and its id are upkeep, and a hash of run and content, where the job gives none.
        if "source" not in command.model_fields_set:
            command = command.with_source(Source.UPKEEP)
        if command.command_id is None:
            content = f"{record.id}\n{command_name(command)}\n{command.model_dump_json()}"
            hashed = blake2b(content.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
            command = command.model_copy(update={"command_id": f"{record.id}.{hashed}"})
        commands.append(command)
    if commands:
        record = replace(record, pages=record.pages + 1)
        changes: list[Change] = []
        for nth, named in enumerate(map(name_command, commands)):
            source: Source | None = getattr(named.command, "source", None)
            told = None if source is None else source.value
            changes.append(Change(nth, named.command_id, command_name(named.command), str(named.record_id), told))
        await runs.write_journal(context.graph, record, page_name(record.id, record.pages), changes)
    answers = await insertion.apply(commands, context.deps, context.now) if commands else []
    kept = await job.keep(context, page) if page.beside else 0
    refused = [answer for answer in answers if answer.status == "refused"]
    refusals = [f"{answer.command} {answer.id}: {'; '.join(answer.faults)}" for answer in refused]
    after = replace(
        record,
        cursor=page.next,
        seen=record.seen + page.seen,
        kept=record.kept + kept,
        changed=record.changed + kept + sum(changed_something(answer, record) for answer in answers),
        refused=record.refused + len(refusals),
        errors=(*record.errors, *page.notes, *refusals)[-ERRORS_KEPT:],
    )
    if page.next is None:
        now = await context.deps.connection.now()
        next_at = record.begun_at + job.period_s * due.SECOND
        after = replace(after, status="done", ended_at=now, next_at=max(now, next_at))
    gone = [receipt.command_id for receipt in answers if not changed_something(receipt, record)]
    await runs.settle(context.graph, after, page_name(record.id, record.pages), gone)
    return after


def changed_something(receipt: WriteReceipt, record: RunRecord) -> bool:
    """True for a command that this run stored; false for one that was refused or repeats what was there."""
    if receipt.status != "stored" or receipt.recognised is not None or receipt.created_at is None:
        return False
    return to_instant(receipt.created_at) >= record.begun_at


async def show_job(job: Job, place: GraphOf, deps: Deps, watch: Watch) -> Run | None:
    """What the job would do, in words; nothing is stored. None when there is no such graph.

    With `watch.stopped` it ends earlier, and its status is then `running`.
    """
    if not await deps.graphs.for_reading(place.graph):
        return None
    own = upkeep_deps(deps)
    before = await runs.read_runs(own.graph(place.graph))
    now = await deps.connection.now()
    record = RunRecord(DRY_RUN, job.name, "running", now)
    context = JobContext(
        own, *place, run_id=record.id, now=now, since=due.since(before, job.name), rest=watch.rest
    )
    shown: list[str] = []
    while record.status == "running":
        await watch.rest()
        page = await job.plan(context, record.cursor)
        if page.next is not None and page.next == record.cursor:
            raise _StuckJob(job.name)
        if len(shown) < SHOWN_AT_MOST:
            named = map(name_command, () if page.shown else page.commands)
            shown += page.shown or [f"{command_name(each.command)} {each.record_id}" for each in named]
        changes = record.changed + len(page.commands) + len(page.beside)
        record = replace(record, cursor=page.next, seen=record.seen + page.seen, changed=changes)
        watch.on_page(record)
        if watch.stopped():
            break
        if page.next is None:
            record = replace(record, status="done", ended_at=await deps.connection.now())
    return view(record, place, dry_run=True, shown=tuple(shown[:SHOWN_AT_MOST]))


def view(record: RunRecord, place: GraphOf, *, dry_run: bool = False, shown: tuple[str, ...] = ()) -> Run:
    """The run as a caller sees it."""
    times = {"begun_at": record.begun_at, "ended_at": record.ended_at, "next_at": record.next_at}
    return Run.model_validate(
        {
            **{name: value for name, value in asdict(record).items() if name in Run.model_fields},
            **{name: None if time is None else to_datetime(time) for name, time in times.items()},
            **graph_fields(place.key),
            "citizen_id": place.citizen_id,
            "dry_run": dry_run,
            "shown": shown,
        }
    )
