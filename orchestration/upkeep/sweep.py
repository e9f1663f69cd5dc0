"""The sweep: over a whole graph in bounded batches, resting between them, while others read and write."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Sequence
from itertools import batched, groupby
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.upkeep import duplicates, findings, links, text_quality, time_overlaps
from orchestration.upkeep.findings import Place, finding
from orchestration.upkeep.ledger import Ledger
from orchestration.upkeep.metadata_quality import Quality
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.temporal import Instant
from schemas.upkeep import GraphCounts, SweepAnswer, SweepReport, SweepRequest
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import read_stamp
from substrate.store import reader, upkeep
from substrate.store.upkeep import MemoryRow, Part, RecordRow

REST: Final = 2.0
"""Seconds of rest for each second of work: two thirds of the engine and of this process stay with others."""


type Progress = Callable[[int, int], None]
"""Told after each page: memories done, and memories in the graph when the sweep began."""


class Batch(NamedTuple):
    """The part of a graph that is gone over: memories behind the internal id `after`, at most `most`."""

    after: int = -1
    most: int | None = None


class Sweep:
    """One sweep of one graph: where it is, and what it has found so far."""

    def __init__(self, place: Place, deps: Deps, listed: int, *, mendable: bool) -> None:
        self.place = place
        self.graph = graph_name(place.level, place.citizen_id)
        self.connection = deps.connection
        self.ledger = Ledger(listed, mendable=mendable)
        self.quality = Quality(listed)
        self.digests = duplicates.Digests()
        self.pages = self.nodes = self.links = 0
        self._worked = time.perf_counter()

    async def rest(self) -> None:
        """A page is done: leave the engine and this process to others for a while."""
        self.pages += 1
        await asyncio.sleep(REST * (time.perf_counter() - self._worked))
        self._worked = time.perf_counter()


async def sweep(
    request: SweepRequest, deps: Deps, now: Instant, progress: Progress = lambda done, total: None
) -> SweepAnswer:
    """The state of each graph asked for, or of one batch; a graph that does not exist is empty."""
    if request.limit is not None:
        return await _sweep_batch(request, request.limit, deps, now)
    reports = []
    for level in request.chosen():
        report, _ = await _swept(_place(request, level, now), deps, request.findings_per_kind, Batch(), progress)
        reports.append(report)
    return SweepAnswer(reports=tuple(reports))


async def _sweep_batch(request: SweepRequest, limit: int, deps: Deps, now: Instant) -> SweepAnswer:
    """The batch that begins behind `after`. A level's last batch says where the next level begins."""
    levels = request.chosen()
    name, _, behind = (request.after or f"{levels[0]}:0").partition(":")
    level = Level(name)
    if level not in levels:
        raise InvalidRequest(f"after: {level} is not among the levels of this sweep, {', '.join(levels)}")
    batch = Batch(int(behind) - 1, limit)
    report, last = await _swept(_place(request, level, now), deps, request.findings_per_kind, batch)
    later = levels[levels.index(level) + 1 :]
    beyond = f"{later[0]}:0" if later else None
    return SweepAnswer(reports=(report,), next=beyond if last is None else f"{level}:{last + 1}")


def _place(request: SweepRequest, level: Level, now: Instant) -> Place:
    return Place(level, request.citizen_id if level is Level.N1 else None, now)


async def _swept(
    place: Place, deps: Deps, listed: int, batch: Batch, progress: Progress = lambda done, total: None
) -> tuple[SweepReport, int | None]:
    """The state of a graph or of a batch of it, and behind which internal id there may be more.

    Changes made while it runs may or may not be seen.
    """
    graph = graph_name(place.level, place.citizen_id)
    begun = time.perf_counter()
    stamp = await read_stamp(deps.graph(graph))
    if stamp is None:
        return SweepReport(level=place.level, citizen_id=place.citizen_id), None
    fits = stamp.generation_of(deps.embedder.model, deps.embedder.dimension) is not None
    if fits:
        await deps.graphs.for_reading(graph)  # its schema is ours, or this says so
    else:
        deps.connection.generations[graph] = stamp.generation
    place = place._replace(embedded=stamp.dimension > 0)
    run = Sweep(place, deps, listed, mendable=fits)
    counts = GraphCounts(**(await reader.counts(deps.graph(graph)))._asdict())
    if not fits:
        said = (
            f"embedded with {stamp.embedding_model}, configured is {deps.embedder.model}: run `substrate reembed`"
        )
        run.ledger.add([finding("embedding_stale", place, graph, said)])
    last = await _pages(run, batch, lambda: progress(run.nodes, counts.memories))
    await _duplicates(run)
    return _report(run, counts, time.perf_counter() - begun), last


def _report(run: Sweep, counts: GraphCounts, seconds: float) -> SweepReport:
    return SweepReport(
        level=run.place.level,
        citizen_id=run.place.citizen_id,
        counts=counts,
        findings_by_kind=run.ledger.by_kind(),
        findings=run.ledger.findings(),
        report=run.quality.report(),
        important_missing=dict(run.quality.important_missing),
        pages=run.pages,
        scanned_nodes=run.nodes,
        scanned_links=run.links,
        seconds=round(seconds, 3),
    )


async def _pages(run: Sweep, batch: Batch, told: Callable[[], None]) -> int | None:
    """Go over the pages of the batch; the internal id behind which there may be more, None at the end."""
    after = batch.after
    most = sys.maxsize if batch.most is None else batch.most
    while page := await upkeep.memories(Graph(run.connection, run.graph), after, most - run.nodes):
        after = page[-1].place
        run.nodes += len(page)
        for row in page:
            _look_at(row, run)
        await run.rest()
        await _links_of(page, run)
        await _versions_of(page, run)
        told()
        if run.nodes >= most:
            return after
    return None


def _look_at(row: MemoryRow, run: Sweep) -> None:
    found = list(findings.of_memory(row, run.place))
    run.ledger.add(found)
    if not findings.is_open(row):
        return
    run.quality.memory(row.place, str(row.fields["id"]), findings.own_quality(row))
    if not any(one.kind in ("junk", "memory_invalid") for one in found):
        key = text_quality.content_key(findings.said(row))
        if key is not None:
            run.digests.add(text_quality.digest(key), row.place)


async def _links_of(page: Sequence[MemoryRow], run: Sweep) -> None:
    """All links that begin in the page, and their closed records where there are any."""
    closed = [row.place for row in page if row.past_links_out]
    degrees = [(row.place, max(row.links_out, row.past_links_out)) for row in page]
    for _, shares in groupby(upkeep.parts(degrees), key=lambda part: part.first):
        records: list[RecordRow] = []
        for part in shares:
            records += await _open_links(part, run)
            if any(part.first <= place < part.beyond for place in closed):
                records += await upkeep.past_links(Graph(run.connection, run.graph), part)
                await run.rest()
        run.ledger.add(time_overlaps.of_links(records, run.place))


async def _open_links(part: Part, run: Sweep) -> list[RecordRow]:
    records = []
    for row in await upkeep.links(Graph(run.connection, run.graph), part):
        run.links += 1
        result, found = links.of_link(row, run.place)
        run.ledger.add(found)
        run.quality.link({end.place: str(end.id) for end in (row.source, row.target)}, result)
        record = time_overlaps.record_of(row)
        if record is not None:
            records.append(record)
    await run.rest()
    return records


async def _versions_of(page: Sequence[MemoryRow], run: Sweep) -> None:
    """All past versions of the page, each beside the record that its identity carries."""
    degrees = [(row.place, row.past_versions) for row in page]
    for _, shares in groupby(upkeep.parts(degrees), key=lambda part: part.first):
        records: list[RecordRow] = []
        for part in shares:
            earlier = [one for one in records if not one.carried]
            records = earlier + await upkeep.versions(Graph(run.connection, run.graph), part)
            await run.rest()
        run.ledger.add(time_overlaps.of_memories(records, run.place))


async def _duplicates(run: Sweep) -> None:
    """Read again what agrees in its digest, and compare it whole."""
    for group in run.digests.repeated():
        told: list[duplicates.Told] = []
        for places in batched(group, upkeep.CONTENTS_A_READ):
            told += duplicates.told(await upkeep.contents(Graph(run.connection, run.graph), places))
            await run.rest()
        run.ledger.add(duplicates.of_group(told, run.place))
