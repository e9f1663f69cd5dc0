"""Where the newest memories of a graph are: ranges of internal ids, which grow in the order of writing.

A search in such a range does the same work however large the graph is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from schemas.intention import Filters
from schemas.temporal import Scope
from substrate.connection.pool import Row
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.state_reads import read_for_state, state_query

NEWEST: Final = 5000
"""This many of the last nodes of a graph are searched for its newest memories."""
ENOUGH_MEMORIES: Final = 1000
"""If fewer of these nodes are memories, the search begins earlier: re-embedding adds many nodes at the end."""
PROBES: Final = 64

_PLACES: Final = (
    "CALL db.meta.stats() YIELD nodeCount UNWIND [1, 4, 16, 64, 256] AS wide "
    f"WITH nodeCount - {NEWEST} * wide AS first CALL {{ WITH first "
    f"MATCH (n:ConsciousnessNode) WHERE id(n) >= first WITH n LIMIT {ENOUGH_MEMORIES} RETURN count(n) AS held }} "
)

PLACES_NOW: Final = state_query("places_now", _PLACES, ("first", "held"))
"""Node numbers near the end of the graph, each with the number of memories after it, at most `ENOUGH_MEMORIES`."""

PLACE_THEN: Final = Query(
    "place_then",
    f"CALL db.meta.stats() YIELD nodeCount UNWIND range(0, {PROBES - 1}) AS step CALL {{ WITH step, nodeCount "
    f"MATCH (n:ConsciousnessNode) WHERE id(n) >= step * nodeCount / {PROBES} WITH n LIMIT 1 "
    "RETURN CASE WHEN n.valid_at < $valid_to AND n.created_at < $known_to THEN 1 ELSE null END AS held } "
    "RETURN nodeCount, count(step), count(held)",
)
"""The number of nodes, of probes, and of probes that hit a memory which held and was known by the end of the
scope."""


class NodeRange(NamedTuple):
    """A range of internal ids, `[start, end)`; ids grow in the order in which nodes are created."""

    start: int
    end: int = 2**53


def _newest_now(rows: Sequence[Row]) -> NodeRange:
    places = {int(first): int(held) for first, held, *_ in rows}
    enough = [first for first, held in places.items() if held >= ENOUGH_MEMORIES]
    return NodeRange(max(enough, default=min(places)))


async def find_newest(target: GraphTarget, scope: Scope, filters: Filters | None = None) -> NodeRange:
    """The node numbers of the newest memories, now or around the end of the graph at another moment; of all
    memories with filters, of which the newest that pass are sought.

    That end is estimated from the share of probes that held then: a search for the last node that held would be
    wrong, because old memories may be stored late. Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    if filters is not None and not filters.empty:
        return NodeRange(0)
    graph = target.graph
    if scope.is_present and not target.past:
        return await read_for_state(target, "places", PLACES_NOW, scope.bounds(), make=_newest_now)
    rows = await graph.read(PLACE_THEN, **scope.bounds())
    size, probes, held_probes = rows[0] if rows else (0, 0, 0)
    if held_probes == probes:
        return NodeRange(size - NEWEST)
    end = size * held_probes // probes
    return NodeRange(end - NEWEST, end + NEWEST)
