"""The sweep: over a whole graph in bounded batches, resting between them, while others read and write."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import batched, groupby
from typing import Final

from orchestration.deps import Deps
from orchestration.upkeep import duplicates, findings, links, overlaps, wording
from orchestration.upkeep.findings import Place, finding
from orchestration.upkeep.ledger import Ledger
from orchestration.upkeep.quality import Quality
from schemas.memory import Level
from schemas.temporal import Instant
from schemas.upkeep import GraphCounts, SweepAnswer, SweepReport, SweepRequest
from substrate import reader, upkeep
from substrate.graph_schema import graph_name, read_stamp
from substrate.upkeep import MemoryRow, Part, RecordRow

REST: Final = 2.0
"""Seconds of rest for each second of work: two thirds of the engine and of this process stay with others."""


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


async def sweep(request: SweepRequest, deps: Deps, now: Instant) -> SweepAnswer:
    """The state of each graph asked for; one that does not exist is empty."""
    reports = []
    for level in request.chosen():
        place = Place(level, request.citizen_id if level is Level.N1 else None, now)
        reports.append(await sweep_graph(place, deps, request.findings_per_kind))
    return SweepAnswer(reports=tuple(reports))


async def sweep_graph(place: Place, deps: Deps, listed: int) -> SweepReport:
    """The state of one graph. Changes made while it runs may or may not be seen."""
    graph = graph_name(place.level, place.citizen_id)
    begun = time.perf_counter()
    stamp = await read_stamp(deps.connection, graph)
    if stamp is None:
        return SweepReport(level=place.level, citizen_id=place.citizen_id)
    fits = stamp.generation_of(deps.embedder.model, deps.embedder.dimension) is not None
    if fits:
        await deps.graphs.for_reading(graph)  # its schema is ours, or this says so
    place = place._replace(embedded=stamp.dimension > 0)
    run = Sweep(place, deps, listed, mendable=fits)
    counts = GraphCounts(**(await reader.counts(deps.connection, graph))._asdict())
    if not fits:
        said = (
            f"embedded with {stamp.embedding_model}, configured is {deps.embedder.model}: run `substrate reembed`"
        )
        run.ledger.add([finding("embedding_stale", place, graph, said)])
    await _all_pages(run)
    await _duplicates(run)
    return SweepReport(
        level=place.level,
        citizen_id=place.citizen_id,
        counts=counts,
        findings_by_kind=run.ledger.by_kind(),
        findings=run.ledger.findings(),
        report=run.quality.report(),
        important_missing=dict(run.quality.important_missing),
        pages=run.pages,
        scanned_nodes=run.nodes,
        scanned_links=run.links,
        seconds=round(time.perf_counter() - begun, 3),
    )


async def _all_pages(run: Sweep) -> None:
    after = -1
    while page := await upkeep.memories(run.connection, run.graph, after):
        after = page[-1].place
        run.nodes += len(page)
        for row in page:
            _look_at(row, run)
        await run.rest()
        await _links_of(page, run)
        await _versions_of(page, run)


def _look_at(row: MemoryRow, run: Sweep) -> None:
    found = list(findings.of_memory(row, run.place))
    run.ledger.add(found)
    if not findings.is_open(row):
        return
    run.quality.memory(row.place, str(row.fields["id"]), findings.own_quality(row))
    if not any(one.kind in ("junk", "memory_invalid") for one in found):
        key = wording.content_key(findings.said(row))
        if key is not None:
            run.digests.add(wording.digest(key), row.place)


async def _links_of(page: Sequence[MemoryRow], run: Sweep) -> None:
    """All links that begin in the page, and their closed records where there are any."""
    closed = [row.place for row in page if row.past_links_out]
    degrees = [(row.place, max(row.links_out, row.past_links_out)) for row in page]
    for _, shares in groupby(upkeep.parts(degrees), key=lambda part: part.first):
        records: list[RecordRow] = []
        for part in shares:
            records += await _open_links(part, run)
            if any(part.first <= place < part.beyond for place in closed):
                records += await upkeep.past_links(run.connection, run.graph, part)
                await run.rest()
        run.ledger.add(overlaps.of_links(records, run.place))


async def _open_links(part: Part, run: Sweep) -> list[RecordRow]:
    records = []
    for row in await upkeep.links(run.connection, run.graph, part):
        run.links += 1
        result, found = links.of_link(row, run.place)
        run.ledger.add(found)
        run.quality.link({end.place: str(end.id) for end in (row.source, row.target)}, result)
        record = overlaps.record_of(row)
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
            records = earlier + await upkeep.versions(run.connection, run.graph, part)
            await run.rest()
        run.ledger.add(overlaps.of_memories(records, run.place))


async def _duplicates(run: Sweep) -> None:
    """Read again what agrees in its digest, and compare it whole."""
    for group in run.digests.repeated():
        told: list[duplicates.Told] = []
        for places in batched(group, upkeep.CONTENTS_A_READ):
            told += duplicates.told(await upkeep.contents(run.connection, run.graph, places))
            await run.rest()
        run.ledger.add(duplicates.of_group(told, run.place))
