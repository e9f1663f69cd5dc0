"""Runs that somebody orders or asks about: run jobs now, list runs, take one back, and a citizen's own setting.

A run is taken back whole: its commands in reverse order, then what its job kept beside them. What it made is
retracted, what it changed is undone. A change on which somebody else has built is refused and named, the rest is
taken back. What a job erased cannot be taken back, and is counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.upkeep import due
from orchestration.upkeep.job import Job, JobContext
from orchestration.upkeep.rounds import OnRun
from orchestration.upkeep.runner import Watch, is_run_in, run_job, show_job, upkeep_deps, view
from schemas.collectives import owner_of
from schemas.commands import CHANGES, ChangeCommand, subject_of
from schemas.errors import NotFound
from schemas.memory import GraphKey, Level, Source, graph_fields, graph_key
from schemas.temporal import to_datetime
from schemas.upkeep.runs import JobInfo, JobName, OwnUpkeep, Run, RunRequest, RunsQuery
from substrate.connection.errors import GraphMissing
from substrate.graphs.names import GraphOf, origin_of
from substrate.store import lease, reader, runs
from substrate.store.lease import Holder, StoredOwn
from substrate.store.rows import StoredReceipt
from substrate.store.runs import Change, LeaseLost, RunRecord, page_name

WAIT_S: Final = 20.0
"""This long an ordered run waits: a background run gives way after its page, the lease of a dead holder ends."""
GRAPHS_AT_ONCE: Final = 8
ERRORS_KEPT: Final = 100
_NEW: Final = ("remember", "relate")

type Reaches = Callable[[GraphOf], bool]
"""Whether somebody may reach the graph of a place."""


def anywhere(_place: GraphOf) -> bool:
    return True


class Order(NamedTuple):
    """How ordered runs are done: for which jobs there are, which are named, by whom, and how they are watched.

    `watch` is without a fence. `on_run` is called after each run. Only graphs that the
    order `reaches` are worked on.
    """

    jobs: Sequence[Job]
    named: Collection[str] | None
    holder: Holder
    watch: Watch
    on_run: OnRun | None = None
    wait_s: float = WAIT_S
    reaches: Reaches = anywhere


def describe_jobs(jobs: Sequence[Job], named: Collection[str] | None) -> tuple[JobInfo, ...]:
    """The jobs, and which of them run in idle time."""
    running = {job.name for job in due.switched_on(jobs, named)}
    infos: list[JobInfo] = []
    for job in jobs:
        facts = {"levels": job.levels, "period_s": job.period_s, "undoable": job.undoable}
        infos.append(JobInfo(name=job.name, **facts, runs=job.name in running))
    return tuple(infos)


async def run_now(request: RunRequest, deps: Deps, order: Order) -> list[Run]:
    """Run the jobs of the request now, in each of its graphs; with `dry_run` only show what they would do.

    Raises Conflict, which names the holder, when another does the upkeep and does not give way; InvalidRequest for
    an unknown job; NotFound for a citizen of whom nothing is stored.
    """
    due.check_names(request.jobs, map(due.name_of, order.jobs))
    places = [place for place in await _places(request, deps) if order.reaches(place)]
    if request.dry_run:
        shown = [await show_job(*pair, deps, order.watch) for pair in await _pairs(request, places, deps, order)]
        return [run for run in shown if run is not None]
    async with lease.hold(deps.connection, order.holder, wait_s=order.wait_s) as held:
        watch = _fenced(order.watch, held)
        done: list[Run] = []
        for job, place in await _pairs(request, places, deps, order):
            begun = time.monotonic()
            record = await run_job(job, place, deps, watch)
            if record is not None:
                done.append(view(record, place))
                if order.on_run is not None:
                    order.on_run(place, record, time.monotonic() - begun)
            if watch.stopped():
                break
        return done


def _fenced(watch: Watch, held: lease.HeldLease) -> Watch:
    return Watch(held.fence, lambda: held.lost, watch.stopped, watch.rest, watch.on_page)


async def _places(request: RunRequest, deps: Deps) -> list[GraphOf]:
    names = await deps.graphs.existing()
    places = list(map(origin_of, names))
    if request.collective is not None:
        collective = GraphOf(graph_key(Level.N2, request.collective))
        if collective not in places:
            raise NotFound(f"nothing was remembered for {owner_of(collective.key, None)} yet")
        return [collective]
    if request.citizen_id is None:
        return [place for place in places if request.levels is None or place.level in request.levels]
    levels = request.levels or (Level.N1,)
    wanted = [GraphOf(level, request.citizen_id if level is Level.N1 else None) for level in dict.fromkeys(levels)]
    if not any(place in places for place in wanted):
        raise NotFound(f"nothing was remembered for {request.citizen_id} yet")
    return [place for place in wanted if place in places]


async def _pairs(
    request: RunRequest, places: Sequence[GraphOf], deps: Deps, order: Order
) -> list[tuple[Job, GraphOf]]:
    """The jobs to run and where: those named by the request, else by the citizen, else by the settings."""
    pairs: list[tuple[Job, GraphOf]] = []
    for place in places:
        named: Collection[str] | None = request.jobs
        if named is None:
            own = await lease.read_own(deps.graph(place.graph))
            named = order.named if own.jobs is None else own.jobs
        pairs += [(job, place) for job in due.jobs_of(order.jobs, place.level, named)]
    return pairs


async def list_runs(query: RunsQuery, deps: Deps, reaches: Reaches = anywhere) -> list[Run]:
    """The runs in graphs that somebody reaches, the newest first."""
    existing = map(origin_of, await deps.graphs.existing())
    places = []
    for place in existing:
        # With a citizen alone: its own graph; with a level alone: all graphs of the level.
        asked = query.citizen_id in (None, place.citizen_id)
        if query.collective is not None:
            asked = place.key == graph_key(Level.N2, query.collective)
        elif query.level is not None:
            asked = place.level is query.level and (place.level is not Level.N1 or asked)
        if asked and reaches(place):
            places.append(place)
    slots = asyncio.Semaphore(GRAPHS_AT_ONCE)

    async def read(place: GraphOf) -> list[Run]:
        async with slots:
            try:
                stored = await runs.read_runs(deps.graph(place.graph))
            except GraphMissing:
                return []  # erased since it was listed
        wanted = [record for record in stored if query.job in (None, record.job)]
        return [view(record, place) for record in wanted[: query.limit]]

    found = [run for part in await asyncio.gather(*map(read, places)) for run in part]
    return sorted(found, key=lambda run: (run.begun_at, run.id), reverse=True)[: query.limit]


async def find_run(run_id: str, deps: Deps) -> tuple[GraphOf, RunRecord]:
    """The run and its graph. Raises NotFound."""
    for name in await deps.graphs.existing():
        if is_run_in(run_id, name):
            record = await runs.read_run(deps.graph(name), run_id)
            if record is not None:
                return origin_of(name), record
    raise not_found(run_id)


def not_found(run_id: str) -> NotFound:
    return NotFound(f"there is no run {run_id}", remedy="See `substrate upkeep status`.")


async def take_back(place: GraphOf, run_id: str, deps: Deps, order: Order) -> Run:
    """Take the whole run back. Raises as `run_now` does, and NotFound."""
    own = upkeep_deps(deps)
    await deps.graphs.for_reading(place.graph)
    async with lease.hold(deps.connection, order.holder, wait_s=order.wait_s) as held:
        record = await runs.read_run(own.graph(place.graph), run_id)
        if record is None:
            raise not_found(run_id)
        job = next((job for job in order.jobs if job.name == record.job), None)
        now = await deps.connection.now()
        context = JobContext(own, *place, run_id=run_id, now=now, rest=order.watch.rest)
        return view(await undo_run(job, record, context, _fenced(order.watch, held)), place)


@dataclass(slots=True)
class _Progress:
    """`done`: ids of the commands looked at. `versions`: by target, its version after what was undone."""

    done: set[str] = field(default_factory=set)
    versions: dict[str, int] = field(default_factory=dict)
    undone: int = 0
    refused: list[str] = field(default_factory=list)


async def undo_run(job: Job | None, record: RunRecord, context: JobContext, watch: Watch) -> RunRecord:
    """Take the run back; the run then says how many changes were, and which were refused.

    Without `job`, which a later release may no longer have, only its commands are taken back. Sent again, it tries
    again what was refused. Raises LeaseLost.
    """
    record = replace(record, fence=watch.fence)
    await runs.save_run(context.graph, record)
    progress = _Progress()
    for number in range(record.pages, 0, -1):
        await watch.rest()
        if watch.lost():
            raise LeaseLost("the lease of upkeep was lost", remedy="Take the run back again: the rest follows.")
        changes = await runs.changes_of_page(context.graph, record.id, number)
        await _undo_page(changes, record, context, progress)
    kept = 0 if job is None else await job.undo(context)
    beyond = record.kept if job is not None and not job.undoable else 0
    undone = replace(
        record,
        status="undone",
        ended_at=await context.deps.connection.now(),
        undone=record.undone + progress.undone + kept,
        beyond_undo=beyond,
        errors=tuple(progress.refused[:ERRORS_KEPT]),
    )
    await runs.save_run(context.graph, undone)
    return undone


async def _undo_page(changes: list[Change], record: RunRecord, context: JobContext, progress: _Progress) -> None:
    """Take the changes of a page back, the last first. One whose command was never applied has no receipt."""
    waiting = [change for change in changes if change.command_id not in progress.done]
    stored = await reader.receipts(context.graph, [change.command_id for change in waiting])
    applied: list[Change] = []
    for change in waiting:
        receipt = stored.get(change.command_id)  # of this run, not of another before it
        if receipt is not None and not receipt.recognised and receipt.created_at >= record.begun_at:
            applied.append(change)
    if applied:
        # The journal names the commands that take back too, so that history shows whose run they concern.
        back = [change._replace(command_id=undo_id(change, record.id), command="undo") for change in applied]
        await runs.write_journal(context.graph, record, page_name(record.id, "undo"), back)
    for change in applied:
        progress.done.add(change.command_id)
        target = Target(context.key, context.citizen_id, progress.versions.get(change.target))
        command = undoing(change, stored[change.command_id], record.id, target)
        [answer] = await insertion.apply([command], context.deps, await context.deps.connection.now())
        if answer.status == "refused":
            progress.refused.append(f"{change.command} {change.target}: {'; '.join(answer.faults)}")
            continue
        progress.undone += not answer.duplicate
        if answer.version is not None:
            progress.versions[change.target] = answer.version


def undo_id(change: Change, run_id: str) -> str:
    """The id of the command that takes a change back: the same each time it is sent."""
    digest = blake2b(f"{run_id}\n{change.command_id}".encode(), digest_size=12).hexdigest()
    return f"{run_id}.undo.{digest}"


class Target(NamedTuple):
    """The graph of a change, and the version of its memory or link; None when it is that of its receipt."""

    key: GraphKey
    citizen_id: str | None = None
    version: int | None = None


def undoing(change: Change, receipt: StoredReceipt, run_id: str, target: Target) -> ChangeCommand:
    """The command that takes one change back, by the source that made it."""
    common: dict[str, Any] = {
        "command_id": undo_id(change, run_id),
        **graph_fields(target.key),
        "citizen_id": target.citizen_id,
        "id": change.target,
        "source": Source(change.source or Source.UPKEEP),
    }
    subject = subject_of(change.command)
    if change.command in _NEW:
        # From its beginning on: what a run made may have ended long ago.
        began = None if receipt.valid_at is None else to_datetime(receipt.valid_at)
        version = receipt.version if target.version is None else target.version
        common |= {"effective_at": began, "expected_version": version}
        return CHANGES["retract", subject](**common)
    return CHANGES["undo", subject](**common | {"undoes": change.command_id})


async def read_own(citizen_id: str, deps: Deps) -> OwnUpkeep:
    """What the citizen asks for. Raises NotFound when nothing was remembered for it yet."""
    own = await lease.read_own(await deps.existing_graph(Level.N1, citizen_id))
    return OwnUpkeep.model_validate({"mode": own.mode, "jobs": own.jobs})


async def set_own(citizen_id: str, own: OwnUpkeep, deps: Deps) -> OwnUpkeep:
    """Store what the citizen asks for, in place of what it asked for before. Raises as `read_own` does."""
    graph = await deps.existing_graph(Level.N1, citizen_id)
    jobs: tuple[JobName, ...] | None = own.jobs
    if not await lease.set_own(graph, StoredOwn(own.mode, jobs)):
        raise NotFound(f"nothing was remembered for {citizen_id} yet")
    return await read_own(citizen_id, deps)
