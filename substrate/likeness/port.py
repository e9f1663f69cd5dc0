"""The port of likeness: what a graph's vectors are kept in, vector sets or a vector index of the graph.

The engine keeps an index in step, and builds it anew at every start. While vector sets are not whole, all vectors
of the graph are compared instead, so that no memory is missed.

Queries take what a search found as rows [owner, key, distance] and join them to records, so that a vector without
a record answers nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.errors import Fault
from substrate.connection.lines import Command
from substrate.connection.parameters import parameters
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.likeness import elements, vector_sets
from substrate.likeness.elements import Near, Role, Search, Vector, join_name
from substrate.likeness.vector_sets import VectorSets

__all__ = ["Near", "Role", "Search", "Vector"]


def sets_of(connection: Connection, graph: str) -> VectorSets | None:
    """The vector sets of a graph; None for a graph that has an index instead."""
    place = connection.vectors.of(graph)
    return None if place.indexed else VectorSets(connection, graph, place.generation)


async def nearest(connection: Connection, graph: str, search: Search) -> list[Near]:
    """The nearest vectors of a graph, nearest first; none for no embedding. Raises as `Connection.read` does."""
    if not len(search.embedding):
        return []
    sets = sets_of(connection, graph)
    if sets is None:
        return await _read_nearest(connection, graph, search, _BY_INDEX)
    partial = connection.vectors.of(graph).partial
    if not partial and (found := await sets.nearest(search)):
        return found
    found = await _read_nearest(connection, graph, search, _BY_SCAN)
    if found and not partial:
        connection.missing(graph)  # so the graph is opened anew, and a lost set is filled again
    return found


async def resolve(connection: Connection, graph: str, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of a query, with what was found in place of each search, or list of searches, among them."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Search):
            found[name] = _rows(await nearest(connection, graph, value))
        elif isinstance(value, list) and value and isinstance(value[0], Search):
            found[name] = [_rows(await nearest(connection, graph, search)) for search in value]
    return {**values, **found} if found else values


def _rows(found: Iterable[Near]) -> list[list[Any]]:
    return list(map(list, found))


def additions(connection: Connection, graph: str, vectors: Sequence[Vector]) -> list[Command]:
    """The commands that keep vectors of memories, to be sent before their records; an index needs none."""
    sets = sets_of(connection, graph)
    if sets is None:
        return []
    key = sets.key(Role.MEMORIES)
    return [command for vector in vectors for command in vector_sets.additions(key, vector)]


async def add(
    connection: Connection,
    graph: str,
    vectors: Sequence[Vector],
    role: Role = Role.MEMORIES,
    *,
    other: bool = False,
) -> None:
    """Keep vectors, before their records are written; with `other` in the generation that is not in use. An index
    needs nothing. Raises as `Connection.write` does."""
    sets = sets_of(connection, graph)
    if sets is None or not vectors:
        return
    try:
        await sets.add(vectors, role, other=other)
    except Fault:
        # Another kind of key, or vectors of another dimension: the graph has them all, so they are made again.
        await connection.command("DEL", sets.key(role, other=other))
        connection.vectors.use(graph, partial=True)
        connection.missing(graph)
        await sets.add(vectors, role, other=other)


async def add_missing(connection: Connection, graph: str, vectors: Sequence[Vector], *, other: bool) -> None:
    """Keep vectors of memories that are not kept yet; those that are stay as they are."""
    sets = sets_of(connection, graph)
    if sets is not None:
        missing = set(await sets.missing(sets.key(Role.MEMORIES, other=other), [each.name for each in vectors]))
        await add(connection, graph, [each for each in vectors if each.name in missing], other=other)


async def drop_other(connection: Connection, graph: str) -> None:
    """Drop the sets of the generation that is not in use."""
    sets = sets_of(connection, graph)
    if sets is not None:
        await connection.command("DEL", *(sets.key(role, other=True) for role in Role))


async def begin_other(connection: Connection, graph: str, dimension: int) -> None:
    """Begin the sets of the generation that is not in use, which has no vectors yet."""
    await drop_other(connection, graph)
    sets = sets_of(connection, graph)
    if sets is not None and dimension:
        await sets.note_whole(dimension, other=True)


async def marks(connection: Connection, graph: str, names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """By name, the marks of those vectors that are marked as of the present; an index needs none."""
    sets = sets_of(connection, graph)
    return {} if sets is None else await sets.marks(sets.key(Role.MEMORIES), [join_name(*name) for name in names])


async def unmark(connection: Connection, graph: str, marks: Mapping[str, str]) -> None:
    """Note that vectors are no longer of the present, if they still have the marks that were read."""
    sets = sets_of(connection, graph)
    if sets is not None and marks:
        await sets.unmark(marks)


async def remove(connection: Connection, graph: str, owners: Sequence[str]) -> None:
    """Remove every vector of these owners, before their records are erased. An index needs nothing."""
    sets = sets_of(connection, graph)
    if sets is not None:
        await sets.remove(owners)


def with_digests(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows, each with the digest of its `embedding` as the query stores it; None where it has none."""
    return [{**row, "digest": elements.digest_or_none(row["embedding"])} for row in rows]


def vectors_of(rows: Iterable[Mapping[str, Any]], *, is_open: bool = True) -> list[Vector]:
    """The vectors of rows that have `id`, `embedding` and `digest`; rows without a vector are left out."""
    return [
        Vector(row["id"], row["digest"], row["embedding"], is_open) for row in rows if row["digest"] is not None
    ]


_NEAREST: Final = (
    "CALL db.idx.vector.queryNodes('{}', 'embedding', $k, vecf32($embedding)) YIELD node AS t, score "
)
_ROW: Final = "RETURN s.id, coalesce(t.digest, ''), score ORDER BY score LIMIT $k"

NEAREST_OPEN: Final = Query(
    "nearest_open", f"{_NEAREST.format('Trace')} MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t) {_ROW}"
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


class _Queries(NamedTuple):
    """What finds the nearest vectors of the graph itself: those of the present, of all memories, of passages."""

    present: Query
    memories: Query
    passages: Query


_BY_INDEX: Final = _Queries(NEAREST_OPEN, NEAREST, NEAREST_PASSAGES)
_BY_SCAN: Final = _Queries(SCAN_OPEN, SCAN_ALL, SCAN_PASSAGES)
"""All vectors of a graph, one by one: about a millisecond for a thousand."""


async def _read_nearest(connection: Connection, graph: str, search: Search, queries: _Queries) -> list[Near]:
    memories = queries.present if search.open_only else queries.memories
    query = memories if search.role is Role.MEMORIES else queries.passages
    header = parameters({"k": search.k, "embedding": list(map(float, search.embedding))})
    rows = await connection.read(graph, query, header)
    return [Near(str(owner), str(key), float(distance)) for owner, key, distance in rows]
