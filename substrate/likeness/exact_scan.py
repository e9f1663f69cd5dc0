"""The nearest vectors of a graph by comparing all of them: while its vector sets are filled, or cannot be used."""

from __future__ import annotations

from typing import Final, NamedTuple

from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.likeness.elements import Near, Role, Search

_DISTANCE: Final = (
    "WHERE t.embedding IS NOT NULL WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score "
    "ORDER BY score LIMIT $k "
)
_ROW: Final = "RETURN id, digest, score ORDER BY score LIMIT $k"

SCAN_OPEN: Final = Query(
    "scan_open",
    f"MATCH (t:Trace) {_DISTANCE}MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t) "
    f"WITH s.id AS id, coalesce(t.digest, '') AS digest, score {_ROW}",
)
SCAN_ALL: Final = Query(
    "scan_all",
    f"CALL {{ MATCH (t:Trace) {_DISTANCE}RETURN t, score UNION ALL MATCH (t:PastTrace) {_DISTANCE}"
    "RETURN t, score } WITH t, score ORDER BY score LIMIT $k MATCH (s)-[:HAS_TRACE]->(t) "
    f"WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score {_ROW}",
)
SCAN_PASSAGES: Final = Query(
    "scan_passages",
    f"MATCH (t:PassageTrace) {_DISTANCE}MATCH (q:Passage)-[:HAS_TRACE]->(t) "
    f"WITH q.memory_id AS id, q.handle AS digest, score {_ROW}",
)


class ExactScan(NamedTuple):
    """All vectors of a graph, one by one: about a millisecond for a thousand."""

    connection: Connection
    graph: str

    async def nearest(self, search: Search) -> list[Near]:
        """The nearest vectors, nearest first. Raises as `Connection.read` does."""
        query = SCAN_PASSAGES
        if search.role is Role.MEMORIES:
            query = SCAN_OPEN if search.open_only else SCAN_ALL
        header = parameters({"k": search.k, "embedding": [float(number) for number in search.embedding]})
        rows = await self.connection.read(self.graph, query, header)
        return [Near(str(row[0]), str(row[1]), float(row[2])) for row in rows]
