"""Reads and writes the summaries of sweeps: `QualitySummary` nodes in the graph that was swept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

QUALITY: Final = Query(
    "quality",
    "MATCH (q:QualitySummary) WITH q ORDER BY q.swept_at DESC LIMIT $rows RETURN q.swept_at, q.summary",
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
