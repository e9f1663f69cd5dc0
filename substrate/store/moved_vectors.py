"""Keeps the vectors of a list of commands, and notes which of them are of the present before and after it.

A vector that becomes one of the present is noted so before the statement, one that is so no longer after it: a
crash in between leaves a past vector among those that a question compares, never a memory that it does not find.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Vector
from substrate.store.changesets import ExpectedState, TransactionRows

PRESENT_VECTORS: Final = Query(
    "present_vectors",
    "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n MATCH (n)-[:HAS_TRACE]->(t:Trace) "
    "WHERE t.digest IS NOT NULL RETURN n.id, t.digest",
)
"""The vectors of memories that are of the present."""
VECTORS_OF: Final = Query(
    "vectors_of",
    "UNWIND $wanted AS w MATCH (n:ConsciousnessNode {id: w.id}) WITH n, w "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.version = w.of "
    "WITH collect(n) + collect(p) AS records UNWIND records AS r MATCH (r)-[:HAS_TRACE]->(t) "
    "WHERE t.digest IS NOT NULL RETURN DISTINCT r.id, t.digest",
)
"""The vectors of memories, and of the versions `of` of them."""

type Names = frozenset[tuple[str, str]]
"""Vectors by owner and key."""


class Moving(NamedTuple):
    """The memories whose vectors may be past after the statement, and their vectors of the present before it.

    `vectors`: the new ones, to be kept with the statement.
    """

    ids: Sequence[str] = ()
    before: Names = frozenset()
    vectors: Sequence[Vector] = ()


async def prepare(graph: Graph, expected: ExpectedState, changed: TransactionRows) -> Moving:
    """Note what becomes a vector of the present; returns the new vectors, and what may leave the present."""
    for name in ("new", "past", "carried"):
        setattr(changed, name, likeness.with_digests(getattr(changed, name)))
    if graph.name in graph.connection.indexed:
        return Moving()
    rewritten = [row["id"] for row in changed.carried if row["embedding"] is not None]
    returning = _returning(expected, changed)
    ids = [*rewritten, *(row["id"] for row in returning), *changed.withdrawn]
    before = await _present(graph, ids) if ids else frozenset()
    opened = likeness.vectors_of([*changed.new, *changed.carried])
    is_open = {(vector.owner, vector.key) for vector in opened} | before
    past = likeness.vectors_of(changed.past, is_open=False)
    vectors = [*opened, *(v._replace(is_open=(v.owner, v.key) in is_open) for v in past)]
    if returning:
        again = await graph.read(VECTORS_OF, wanted=returning)
        await likeness.mark(graph.connection, graph.name, {(row[0], row[1]): True for row in again})
        before |= {(row[0], row[1]) for row in again}
    return Moving(ids, before, vectors)


def _returning(expected: ExpectedState, changed: TransactionRows) -> list[dict[str, Any]]:
    """The memories whose content is that of an earlier version again, with that version."""
    carried = {memory_id: version for memory_id, version, _ in expected.memories}
    earlier = {row["id"]: row["of"] for row in changed.carried if row["embedding"] is None}
    again = [memory_id for memory_id, of in earlier.items() if of != carried.get(memory_id)]
    ids = dict.fromkeys([*changed.restored, *again])
    return [{"id": memory_id, "of": earlier.get(memory_id, 0)} for memory_id in ids]


async def finish(graph: Graph, moving: Moving) -> None:
    """Note of the vectors that were of the present before the statement that they are past, if they are."""
    if moving.ids:
        left = moving.before - await _present(graph, moving.ids)
        await likeness.mark(graph.connection, graph.name, dict.fromkeys(sorted(left), False))


async def _present(graph: Graph, ids: Iterable[str]) -> Names:
    rows: Sequence[Sequence[Any]] = await graph.read(PRESENT_VECTORS, ids=list(dict.fromkeys(ids)))
    return frozenset((str(row[0]), str(row[1])) for row in rows)
