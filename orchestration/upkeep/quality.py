"""The job `sweep`: checks a graph page by page, keeps the summary of what it found, and reads their series.

At its end it drops the notes of streams that are too old, also those of a citizen who asks nothing more, and
closes threads that were told as solved to a process that ended before it closed them. It changes no other record.

Whether two memories say the same, and how complete a memory is with the links of others, is known only when the
whole graph was read: 40 bytes for each memory, too much for a cursor. So the process that sweeps keeps these, and
the cursor says how far it is. A run that goes on in another process begins again at the first page: it only reads,
and what counts is the summary, which a run keeps once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from orchestration.dependencies import Deps
from orchestration.mind.stream_notes import drop_old_notes
from orchestration.upkeep.job import Job, JobContext, Page
from orchestration.upkeep.quality_series import fallen_from, summarise, thin_out
from orchestration.upkeep.sweep import Progress, Sweep, finish_sweep, no_progress, open_sweep, sweep, sweep_page
from orchestration.writing.thread_closing import close_left
from schemas.errors import SubstrateError
from schemas.memory import GraphKey, Level, graph_fields
from schemas.temporal import Instant, to_datetime
from schemas.upkeep.findings import SweepAnswer, SweepReport, SweepRequest
from schemas.upkeep.quality import MOST_SUMMARIES, QualityAnswer, QualitySeries, QualitySummary
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import read_stamp
from substrate.store import runs as store


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
