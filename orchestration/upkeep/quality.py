"""Keeps the summary of each sweep in the graph that was swept, and reads the series of them."""

from __future__ import annotations

from collections.abc import Sequence

from orchestration.dependencies import Deps
from orchestration.upkeep.quality_series import fallen_from, summarise, thin_out
from orchestration.upkeep.sweep import Progress, no_progress, sweep
from schemas.errors import SubstrateError
from schemas.memory import GraphKey, Level, graph_fields
from schemas.temporal import Instant, to_datetime
from schemas.upkeep.findings import SweepAnswer, SweepReport, SweepRequest
from schemas.upkeep.quality import MOST_SUMMARIES, QualityAnswer, QualitySeries, QualitySummary
from substrate.connection.errors import GraphMissing
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.graphs.registry import read_stamp
from substrate.store import quality as store


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
