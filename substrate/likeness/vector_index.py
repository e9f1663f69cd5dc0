"""The nearest vectors by the graph itself: by its vector index, or by comparing all of them.

The engine keeps an index in step, and builds it anew at every start. All are compared while vector sets are
filled, or cannot be used.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.likeness.elements import Near, Role, Search

_NEAREST: Final = (
    "CALL db.idx.vector.queryNodes('{}', 'embedding', $k, vecf32($embedding)) YIELD node AS t, score "
)
_ROW: Final = "RETURN s.id, coalesce(t.digest, ''), score ORDER BY score LIMIT $k"

NEAREST_OPEN: Final = Query(
    "nearest_open",
    f"{_NEAREST.format('Trace')} MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t) {_ROW}",
)
NEAREST: Final = Query(
    "nearest",
    f"CALL {{ {_NEAREST.format('Trace')} RETURN t, score UNION ALL "
    f"{_NEAREST.format('PastTrace')} RETURN t, score }} WITH t, score ORDER BY score LIMIT $k "
    "MATCH (s)-[:HAS_TRACE]->(t) WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score "
    "RETURN id, digest, score ORDER BY score LIMIT $k",
)
NEAREST_PASSAGES: Final = Query(
    "nearest_passages",
    f"{_NEAREST.format('PassageTrace')} MATCH (q:Passage)-[:HAS_TRACE]->(t) "
    "RETURN q.memory_id, q.handle, score ORDER BY score LIMIT $k",
)


class VectorIndex(NamedTuple):
    """The vector indexes of a graph."""

    connection: Connection
    graph: str

    async def nearest(self, search: Search) -> list[Near]:
        """The nearest vectors, nearest first. Raises as `Connection.read` does."""
        return await _read_nearest(self, search, NEAREST_OPEN if search.open_only else NEAREST, NEAREST_PASSAGES)


_DISTANCE: Final = (
    "WHERE t.embedding IS NOT NULL WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score "
    "ORDER BY score LIMIT $k "
)
_SCAN_ROW: Final = "RETURN id, digest, score ORDER BY score LIMIT $k"

SCAN_OPEN: Final = Query(
    "scan_open",
    f"MATCH (t:Trace) {_DISTANCE}MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t) "
    f"WITH s.id AS id, coalesce(t.digest, '') AS digest, score {_SCAN_ROW}",
)
SCAN_ALL: Final = Query(
    "scan_all",
    f"CALL {{ MATCH (t:Trace) {_DISTANCE}RETURN t, score UNION ALL MATCH (t:PastTrace) {_DISTANCE}"
    "RETURN t, score } WITH t, score ORDER BY score LIMIT $k MATCH (s)-[:HAS_TRACE]->(t) "
    f"WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score {_SCAN_ROW}",
)
SCAN_PASSAGES: Final = Query(
    "scan_passages",
    f"MATCH (t:PassageTrace) {_DISTANCE}MATCH (q:Passage)-[:HAS_TRACE]->(t) "
    f"WITH q.memory_id AS id, q.handle AS digest, score {_SCAN_ROW}",
)


class ExactScan(NamedTuple):
    """All vectors of a graph, one by one: about a millisecond for a thousand."""

    connection: Connection
    graph: str

    async def nearest(self, search: Search) -> list[Near]:
        """The nearest vectors, nearest first. Raises as `Connection.read` does."""
        return await _read_nearest(self, search, SCAN_OPEN if search.open_only else SCAN_ALL, SCAN_PASSAGES)


async def _read_nearest(
    place: VectorIndex | ExactScan, search: Search, memories: Query, passages: Query
) -> list[Near]:
    query = memories if search.role is Role.MEMORIES else passages
    header = parameters({"k": search.k, "embedding": list(map(float, search.embedding))})
    rows = await place.connection.read(place.graph, query, header)
    return [Near(str(row[0]), str(row[1]), float(row[2])) for row in rows]
