"""Keeps the vectors of a list of commands, and marks those of them that are of the present.

A vector that becomes one of the present is marked before the statement, in the same round trip; one that is so no
longer loses its mark after it. A crash in between leaves a past vector among those that a question compares, never
a memory that it does not find. Nor does another writer who restores the same text meanwhile: he saw the memory
after this statement, so his mark is another one than was read before it, and only that one is taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from schemas.errors import Unavailable
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Vector, join_name
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
    """The memories whose vectors may be past after the statement, and the marks of their vectors before it.

    `vectors`: those to be kept, or marked, with the statement.
    """

    ids: Sequence[str] = ()
    marks: Mapping[str, str] = MappingProxyType({})
    vectors: Sequence[Vector] = ()


async def prepare(graph: Graph, expected: ExpectedState, changed: TransactionRows) -> Moving:
    """The vectors to keep with the statement, and what may leave the present by it."""
    for name in ("new", "past", "carried"):
        setattr(changed, name, likeness.with_digests(getattr(changed, name)))
    if likeness.sets_of(graph.connection, graph.name) is None:
        return Moving()
    opened = likeness.vectors_of([*changed.new, *changed.carried])
    vectors = [*opened, *likeness.vectors_of(changed.past, is_open=False)]
    rewritten = [row["id"] for row in changed.carried if row["embedding"] is not None]
    # Returning are memories whose content is that of an earlier version again; each is named with that version.
    carried = {memory_id: version for memory_id, version, _ in expected.memories}
    earlier = {row["id"]: row["of"] for row in changed.carried if row["embedding"] is None}
    moved = [memory_id for memory_id, of in earlier.items() if of != carried.get(memory_id)]
    returning = [{"id": name, "of": earlier.get(name, 0)} for name in dict.fromkeys([*changed.restored, *moved])]
    ids = [*rewritten, *(row["id"] for row in returning), *changed.withdrawn]
    if not ids:
        return Moving(vectors=vectors)
    before = await _present(graph, ids)
    if returning:
        rows = await graph.read(VECTORS_OF, wanted=returning)
        again = {(str(owner), str(digest)) for owner, digest in rows} - before
        vectors += [Vector(*name, ()) for name in sorted(again)]
    return Moving(ids, await likeness.marks(graph.connection, graph.name, before), vectors)


async def finish(graph: Graph, moving: Moving) -> None:
    """Take the marks of those vectors away that the statement, which was carried out, made past.

    What the engine does not answer in time is left to the sweep: the commands are stored.
    """
    with suppress(Unavailable):
        if moving.marks:
            present = {join_name(*name) for name in await _present(graph, moving.ids)}
            left = {name: mark for name, mark in moving.marks.items() if name not in present}
            await likeness.unmark(graph.connection, graph.name, left)


async def _present(graph: Graph, ids: Iterable[str]) -> Names:
    rows: Sequence[Sequence[Any]] = await graph.read(PRESENT_VECTORS, ids=list(dict.fromkeys(ids)))
    return frozenset((str(owner), str(digest)) for owner, digest in rows)
