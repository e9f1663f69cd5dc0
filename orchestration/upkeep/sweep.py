"""The sweep: checks a whole graph in small batches with pauses between them, while others read and write.

As the job `sweep` it keeps the summary of what it found. At its end the job drops the notes of streams that are
too old, also those of a citizen who asks nothing more, and closes threads that were told as solved to a process
that ended before it closed them. It changes no other record.

Whether two memories say the same, and how complete a memory is with the links of others, is known only when the
whole graph was read: 40 bytes for each memory, too much for a cursor. So the process that sweeps keeps these, and
the cursor says how far it is. A run that goes on in another process begins again at the first page: it only reads,
and what counts is the summary, which a run keeps once.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import batched, groupby
from typing import Final, NamedTuple

from orchestration.dependencies import Deps
from orchestration.mind.stream_notes import drop_old_notes
from orchestration.upkeep import text_quality
from orchestration.upkeep.findings import (
    SEVERITIES,
    SEVERITY,
    DatedContent,
    SweptGraph,
    build_finding,
    date_contents,
    fallen_from,
    find_duplicates,
    find_in_link,
    find_in_links,
    find_in_long_texts,
    find_in_memories,
    find_in_memory,
    find_strays,
    is_open,
    memory_texts,
    record_of,
    summarise,
    thin_out,
    validate_own_metadata,
)
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.upkeep.text_quality import MetadataQuality
from orchestration.validation import given_of_link, given_of_memory
from orchestration.writing.passages import LONG
from orchestration.writing.thread_closing import close_left
from schemas.errors import InvalidRequest, SubstrateError
from schemas.memory import GraphKey, Level, graph_fields
from schemas.temporal import Instant, to_datetime
from schemas.upkeep.findings import (
    MOST_SUMMARIES,
    Finding,
    GraphCounts,
    Kind,
    QualityAnswer,
    QualitySeries,
    QualitySummary,
    SweepAnswer,
    SweepReport,
    SweepRequest,
)
from substrate.connection.errors import GraphMissing
from substrate.graphs import filling
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import note_adapter, read_stamp
from substrate.store import passages, reader, upkeep
from substrate.store import runs as store
from substrate.store.upkeep import MemoryRow, RecordRow

REST: Final = 2.0
"""Seconds of pause for each second of work: others get two thirds of the engine's time and of this process."""


type Progress = Callable[[int, int], None]
"""Called after each page with the number of memories done, and of those in the graph when the sweep began."""
type Pause = Callable[[float], Awaitable[None]]
"""Called after each read with the seconds of work since the last pause."""


def no_progress(done: int, total: int) -> None:
    pass


class Batch(NamedTuple):
    """A part of a graph: at most `limit` memories after the internal id `after`."""

    after: int = -1
    limit: int | None = None


class Ledger:
    """The findings of a sweep in bounded memory: all are counted, only the first `listed` of each kind are listed.

    When no repair can run (`repairable` is False), findings are listed without their repair tasks.
    """

    def __init__(self, listed: int, *, repairable: bool = True) -> None:
        self._limit = listed
        self._repairable = repairable
        self._counts: Counter[Kind] = Counter()
        self._findings: dict[Kind, list[Finding]] = {}

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._counts[finding.kind] += 1
            listed = self._findings.setdefault(finding.kind, [])
            if len(listed) < self._limit:
                listed.append(finding if self._repairable else finding.model_copy(update={"repair": None}))

    def by_kind(self) -> dict[Kind, int]:
        """Return the number of findings of each kind, the most severe kinds first."""
        kinds = sorted(self._counts, key=lambda kind: (SEVERITIES.index(SEVERITY[kind]), kind))
        return {kind: self._counts[kind] for kind in kinds}

    def findings(self) -> tuple[Finding, ...]:
        """Return the listed findings, the most severe kinds first."""
        return tuple(finding for kind in self.by_kind() for finding in self._findings[kind])


class Sweep:
    """One sweep of one graph: its findings and counts so far. `pause` waits between its reads."""

    def __init__(self, swept: SweptGraph, graph: Graph, listed: int, *, repairable: bool) -> None:
        self.swept = swept
        self.graph = graph
        self.ledger = Ledger(listed, repairable=repairable)
        self.repairable = repairable
        self.dimension = 0
        self.quality = MetadataQuality(listed)
        self.digests = text_quality.Digests()
        self.pages = self.nodes = self.links = 0
        self.pause: Pause = lambda worked: asyncio.sleep(REST * worked)
        self._worked_since = time.perf_counter()

    async def rest(self) -> None:
        """Pause after a page, so that others can use the engine and this process."""
        self.pages += 1
        await self.pause(time.perf_counter() - self._worked_since)
        self._worked_since = time.perf_counter()

    def report(self, counts: GraphCounts, seconds: float) -> SweepReport:
        return SweepReport(
            **graph_fields(self.swept.key),
            citizen_id=self.swept.citizen_id,
            counts=counts,
            findings_by_kind=self.ledger.by_kind(),
            findings=self.ledger.findings(),
            report=self.quality.report(),
            important_missing=dict(self.quality.important_missing),
            pages=self.pages,
            scanned_nodes=self.nodes,
            scanned_links=self.links,
            seconds=round(seconds, 3),
        )


async def sweep(request: SweepRequest, deps: Deps, progress: Progress = no_progress) -> SweepAnswer:
    """Sweep each requested graph, or one batch of a graph; a graph that does not exist counts as empty.

    Raises InvalidRequest when `after` names a level that is not requested.
    """
    if request.limit is not None:
        return await _sweep_batch(request, request.limit, deps)
    reports = []
    for key in request.chosen():
        report, _ = await _sweep_graph(request, key, Batch(), deps, progress=progress)
        reports.append(report)
    return SweepAnswer(reports=tuple(reports))


async def _sweep_batch(request: SweepRequest, limit: int, deps: Deps) -> SweepAnswer:
    """Sweep the batch after `after`. After the last batch of a graph, `next` is the start of the next one."""
    graphs = request.chosen()
    key, _, first = (request.after or f"{graphs[0]}:0").rpartition(":")
    if key not in graphs:
        raise InvalidRequest(f"after: {key} is not among the levels of this sweep, {', '.join(graphs)}")
    report, last = await _sweep_graph(request, key, Batch(int(first) - 1, limit), deps)
    later = graphs[graphs.index(key) + 1 :]
    next_graph = f"{later[0]}:0" if later else None
    return SweepAnswer(reports=(report,), next=next_graph if last is None else f"{key}:{last + 1}")


async def _sweep_graph(
    request: SweepRequest, key: GraphKey, batch: Batch, deps: Deps, *, progress: Progress = no_progress
) -> tuple[SweepReport, int | None]:
    """The report, and the internal id after which there may be more memories; None at the end.

    Changes made meanwhile may or may not be seen.
    """
    begun = time.perf_counter()
    citizen_id = request.citizen_id if key == Level.N1 else None
    graph = deps.graph(graph_name(key, citizen_id))
    run = await open_sweep(key, citizen_id, deps, listed=request.findings_per_kind)
    if run is None:
        return SweepReport(**graph_fields(key), citizen_id=citizen_id), None
    counts = GraphCounts(**(await reader.counts(graph))._asdict())
    last = await _sweep_pages(run, batch, lambda: progress(run.nodes, counts.memories))
    await _find_duplicates(run)
    return run.report(counts, time.perf_counter() - begun), last


async def open_sweep(key: GraphKey, citizen_id: str | None, deps: Deps, *, listed: int) -> Sweep | None:
    """A sweep that has read nothing yet; None when the graph does not exist.

    `listed`: how many findings of each kind it lists. Raises StoreMisfit for a schema that is not ours.
    """
    graph = deps.graph(graph_name(key, citizen_id))
    stamp = await read_stamp(graph)
    if stamp is None:
        return None
    fits = stamp.generation_of(deps.embedder.model, deps.embedder.dimension) is not None
    if fits:
        await deps.graphs.for_reading(graph.name)  # raises for a schema that is not ours
    else:
        deps.connection.vectors.use(graph.name, generation=stamp.generation)
        note_adapter(deps.connection, graph.name, stamp)
    swept = SweptGraph(key, citizen_id, embedded=stamp.dimension > 0)
    run = Sweep(swept, graph, listed, repairable=fits)
    run.dimension = deps.graphs.dimension
    if not fits:
        models = f"embedded with {stamp.embedding_model}, configured is {deps.embedder.model}"
        message = f"{models}: run `substrate reembed`"
        run.ledger.add([build_finding("embedding_stale", swept, graph.name, message)])
    return run


async def _sweep_pages(run: Sweep, batch: Batch, report_page: Callable[[], None]) -> int | None:
    """Sweep the pages of the batch; returns the internal id after which there may be more, None at the end."""
    after = batch.after
    limit = sys.maxsize if batch.limit is None else batch.limit
    while (last := await sweep_page(run, after, limit - run.nodes)) is not None:
        after = last
        report_page()
        if run.nodes >= limit:
            return after
    if batch.limit is None:
        await _find_strays(run)
    return None


async def sweep_page(run: Sweep, after: int, limit: int = upkeep.MEMORIES_A_PAGE) -> int | None:
    """Sweep the memories after the internal id `after`; returns the last internal id, None when there are none."""
    page = await upkeep.read_memories(run.graph, after, limit)
    if not page:
        return None
    run.nodes += len(page)
    for row in page:
        findings = list(find_in_memory(row, run.swept))
        run.ledger.add(findings)
        if not is_open(row):
            continue
        given = given_of_memory(row.fields)
        run.quality.add_memory(row.internal_id, str(row.fields["id"]), validate_own_metadata(row), given)
        if not any(finding.kind in ("junk", "memory_invalid") for finding in findings):
            key = text_quality.content_key(memory_texts(row))
            if key is not None:
                run.digests.add(text_quality.short_digest(key), row.internal_id)
    await run.rest()
    await _sweep_links(page, run)
    await _sweep_versions(page, run)
    for some in batched((row.internal_id for row in page), upkeep.CONTENTS_A_READ):
        texts = await passages.read_long_texts(run.graph, some, LONG)
        run.ledger.add(find_in_long_texts(texts, run.swept))
    await run.rest()
    return page[-1].internal_id


async def finish_sweep(run: Sweep) -> SweepReport:
    """The report after the last page, with what can only be found in the graph as a whole."""
    await _find_strays(run)
    await _find_duplicates(run)
    return run.report(GraphCounts(), 0.0)


async def _find_strays(run: Sweep) -> None:
    if run.repairable:
        await filling.drop_orphans(run.graph)
        await filling.fill(run.graph, run.dimension)
    run.ledger.add(find_strays(await passages.stray_memories(run.graph), run.swept))


async def _sweep_links(page: Sequence[MemoryRow], run: Sweep) -> None:
    """Sweep all links that begin in the page, with their closed records if there are any."""
    with_closed = [row.internal_id for row in page if row.past_links_out]
    degrees = [(row.internal_id, max(row.links_out, row.past_links_out)) for row in page]
    for _, shares in groupby(upkeep.plan_shares(degrees), key=lambda share: share.first):
        records: list[RecordRow] = []
        for share in shares:
            for row in await upkeep.read_links(run.graph, share):
                run.links += 1
                validation, found = find_in_link(row, run.swept)
                run.ledger.add(found)
                ends = {end.internal_id: str(end.id) for end in (row.source, row.target)}
                run.quality.add_link(ends, validation, given_of_link(row.fields))
                record = record_of(row)
                if record is not None:
                    records.append(record)
            await run.rest()
            if any(share.first <= internal_id < share.beyond for internal_id in with_closed):
                records += await upkeep.read_past_links(run.graph, share)
                await run.rest()
        run.ledger.add(find_in_links(records, run.swept))


async def _sweep_versions(page: Sequence[MemoryRow], run: Sweep) -> None:
    """Sweep all past versions of the page, together with the records that the memories carry."""
    degrees = [(row.internal_id, row.past_versions) for row in page]
    for _, shares in groupby(upkeep.plan_shares(degrees), key=lambda share: share.first):
        records: list[RecordRow] = []
        for share in shares:
            past = [record for record in records if not record.carried]
            records = past + await upkeep.read_versions(run.graph, share)
            await run.rest()
        run.ledger.add(find_in_memories(records, run.swept))


async def _find_duplicates(run: Sweep) -> None:
    """Read the memories with equal digests again and compare their whole contents."""
    for group in run.digests.repeated():
        contents: list[DatedContent] = []
        for internal_ids in batched(group, upkeep.CONTENTS_A_READ):
            contents += date_contents(await upkeep.read_contents(run.graph, internal_ids))
            await run.rest()
        run.ledger.add(find_duplicates(contents, run.swept))


async def sweep_and_keep(
    request: SweepRequest, deps: Deps, now: Instant, progress: Progress = no_progress
) -> SweepAnswer:
    """Sweep as `sweep` does, and keep the summary of each graph; a batch is a part of a graph and keeps none.

    A summary that cannot be kept, such as on a full disk, is a note of the answer. Raises as `sweep` does.
    """
    answer = await sweep(request, deps, progress)
    if request.limit is not None:
        return answer
    notes = []
    for report in answer.reports:
        graph = deps.graph(graph_name(report.graph_key, report.citizen_id))
        try:
            await keep_report(graph, report, now, summary_id=f"sweep-{now}")
        except SubstrateError as error:
            notes.append(f"the summary of {report.graph_key} was not kept: {error.detail}")
    return answer.model_copy(update={"notes": tuple(notes)})


async def keep_report(graph: Graph, report: SweepReport, now: Instant, *, summary_id: str) -> int:
    """Keep the summary of one sweep, once for each id, and drop what is too old.

    Returns the number of summaries stored: 0 for a graph without memories, or erased meanwhile. Raises what
    `Graph.write` raises.
    """
    if not report.scanned_nodes or await read_stamp(graph) is None:
        return 0
    summary = summarise(report, to_datetime(now))
    if not await store.keep_summary(graph, summary_id, now, summary.model_dump_json()):
        return 0
    try:
        dropped = thin_out(await store.read_times(graph), now)
    except GraphMissing:
        return 0
    if dropped:
        await store.drop_summaries(graph, times=dropped)
    return 1


async def read_series(graph: Graph, key: GraphKey, citizen_id: str | None, limit: int) -> QualitySeries:
    """The newest summaries of a graph, oldest first; empty when it does not exist or was never swept."""
    stored = await store.read_summaries(graph, MOST_SUMMARIES)
    summaries = tuple(QualitySummary.model_validate(each.summary) for each in stored)
    fallen = fallen_from(summaries)
    return QualitySeries(
        **graph_fields(key), citizen_id=citizen_id, summaries=summaries[-limit:], fallen_from=fallen
    )


async def read_last_summary(graph: Graph) -> QualitySummary | None:
    """The summary of the last sweep of a graph; None when it does not exist or was never swept."""
    stored = await store.read_summaries(graph, 1)
    return QualitySummary.model_validate(stored[0].summary) if stored else None


async def read_quality(
    graphs: Sequence[GraphKey], citizen_id: str | None, deps: Deps, *, limit: int
) -> QualityAnswer:
    """The series of each graph. Raises Unavailable when the engine does not answer."""
    series = []
    for key in graphs:
        owner = citizen_id if key == Level.N1 else None
        series.append(await read_series(deps.graph(graph_name(key, owner)), key, owner, limit))
    return QualityAnswer(series=tuple(series))


MOST_UNFINISHED: Final = 16
"""This many unfinished sweeps are kept; the oldest is dropped for the next, and begins again if it goes on."""


class SweepJob(Job):
    """One sweep of each graph a day. It can be undone: that drops the summary."""

    name = "sweep"

    def __init__(self) -> None:
        self._unfinished: dict[tuple[str, str], tuple[str, Sweep]] = {}

    async def plan(self, context: JobContext, cursor: str | None) -> Page:
        """Sweep the next page. The last page has the summary of all; a graph that is gone has none."""
        # It is kept again after its next page: half a page would count twice.
        place, run = self._unfinished.pop(_key(context), (None, None))
        if place != cursor:
            run = None
        after = -1 if run is None or cursor is None else int(cursor)
        if run is None:
            run = await open_sweep(context.key, context.citizen_id, context.deps, listed=0)
        if run is None:
            return Page(0)

        async def pause(_worked: float) -> None:
            await context.rest()

        run.pause = pause
        seen = run.nodes
        try:
            last = await sweep_page(run, after)
            if last is not None and str(last) == cursor:
                # It began again and is as far as the one before: a run must not name the same page twice.
                last = await sweep_page(run, last)
            if last is not None:
                self._keep_unfinished(context, str(last), run)
                return Page(run.nodes - seen, next=str(last))
            report = await finish_sweep(run)
        except GraphMissing:
            return Page(0)  # erased since the run began
        quality = report.report
        grade = "no grade" if quality.nothing_given else quality.quality_grade
        shown = f"keep the summary: {grade}, {quality.average_completeness:.0%} complete"
        return Page(0, beside=(report,), shown=(shown,))

    async def keep(self, context: JobContext, page: Page) -> int:
        """Keep the summary, once for each run; drop old notes and close threads, which no undo takes back."""
        reports = [each for each in page.beside if isinstance(each, SweepReport)]
        kept = [
            await keep_report(context.graph, report, context.now, summary_id=context.run_id) for report in reports
        ]
        if context.citizen_id is not None and reports:
            await close_left(context.graph, context.deps, context.since or 0, context.now)
            await drop_old_notes(context.graph, context.deps, context.now)
        return sum(kept)

    async def undo(self, context: JobContext) -> int:
        """Drop the summary of the run."""
        return await store.drop_summaries(context.graph, ids=[context.run_id])

    def _keep_unfinished(self, context: JobContext, cursor: str, run: Sweep) -> None:
        self._unfinished[_key(context)] = (cursor, run)
        while len(self._unfinished) > MOST_UNFINISHED:
            del self._unfinished[next(iter(self._unfinished))]


def _key(context: JobContext) -> tuple[str, str]:
    return context.graph.name, context.run_id
