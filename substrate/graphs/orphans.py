"""Removes from the vector sets of a graph what no record has: a refused write, a crash or a lost race left it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import batched
from typing import Final, NamedTuple

from schemas.errors import Fault, Unavailable
from substrate.connection.errors import GraphMissing
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness.elements import WHOLE, Role, Vector, join_name, split_name
from substrate.likeness.port import sets_of
from substrate.likeness.vector_sets import VectorSets

ROWS: Final = 100
"""Vectors of one page."""
WRITTEN_WITHIN_S: Final = 5.0
"""A record is written within this time after its vector, or not at all."""
MOST_SUSPECTS: Final = 100_000
"""This many are removed at most; the next sweep goes on."""

OWNED: Final = Query(
    "owned_vectors",
    "UNWIND $owners AS id OPTIONAL MATCH (n:ConsciousnessNode {id: id})-[:HAS_TRACE]->(t) "
    "WITH id, collect(t.digest) AS own OPTIONAL MATCH (p:PastVersion {id: id})-[:HAS_TRACE]->(t) "
    "WITH id, own, collect(DISTINCT t.digest) AS past UNWIND (own + past) AS digest RETURN DISTINCT id, digest",
)
"""The vectors that the records of some memories have."""
OWNED_NOW: Final = Query(
    "owned_vectors_now",
    "UNWIND $owners AS id MATCH (n:ConsciousnessNode {id: id}) WITH n MATCH (n)-[:HAS_TRACE]->(t:Trace) "
    "WHERE t.digest IS NOT NULL RETURN n.id, t.digest",
)
"""Those of the present."""
OWNED_PASSAGES: Final = Query(
    "owned_passages", "UNWIND $owners AS id MATCH (q:Passage {memory_id: id}) RETURN id, q.handle"
)


class _Suspects(NamedTuple):
    """Names with the marks that they had: of vectors without a record, and of marked ones that seem to be past."""

    unowned: dict[str, str]
    past: dict[str, str]


async def withdraw(graph: Graph, vectors: Sequence[Vector], role: Role = Role.MEMORIES) -> None:
    """Remove those of these vectors, kept for records that were not written, that no other record has.

    What the engine does not answer in time is left to the sweep.
    """
    sets = sets_of(graph.connection, graph.name)
    if sets is None or not vectors:
        return
    owned = OWNED if role is Role.MEMORIES else OWNED_PASSAGES
    with suppress(Unavailable, Fault, GraphMissing):
        marks = await sets.marks(sets.key(role), [vector.name for vector in vectors])
        unowned = await _unowned(graph, owned, [vector.name for vector in vectors])
        if not await sets.remove_marked(sets.key(role), {name: marks.get(name, "") for name in unowned}):
            return
        # Another writer of the same text may have stored its record since: its vector is kept again.
        owned_since = set(unowned) - set(await _unowned(graph, owned, unowned))
        if owned_since:
            present = await owned_now(graph, sorted(owned_since)) if role is Role.MEMORIES else owned_since
            again = [vector for vector in vectors if vector.name in owned_since]
            await sets.add([vector._replace(is_open=vector.name in present) for vector in again], role)


async def owned_now(graph: Graph, names: Sequence[str]) -> set[str]:
    """Those of these vectors that are of the present."""
    return set(names) - set(await _unowned(graph, OWNED_NOW, names))


async def drop_orphans(graph: Graph) -> int:
    """Remove from the sets the vectors that no record has any more, or never had; returns how many.

    Vectors that are marked as of the present, and are not, lose their marks. Each is looked at twice, because a
    record is written just after its vector; what was marked anew meanwhile stays.
    """
    sets = sets_of(graph.connection, graph.name)
    if sets is None:
        return 0
    removed = 0
    for role, owned in ((Role.MEMORIES, OWNED), (Role.PASSAGES, OWNED_PASSAGES)):
        suspects = await _suspects(graph, sets, role, owned)
        if suspects.unowned or suspects.past:
            await asyncio.sleep(WRITTEN_WITHIN_S)
        for names in batched(suspects.unowned, ROWS):
            unowned = await _unowned(graph, owned, names)
            removed += await sets.remove_marked(sets.key(role), {name: suspects.unowned[name] for name in unowned})
        for names in batched(suspects.past, ROWS):
            await sets.unmark({name: suspects.past[name] for name in await _unowned(graph, OWNED_NOW, names)})
    return removed


async def _suspects(graph: Graph, sets: VectorSets, role: Role, owned: Query) -> _Suspects:
    key, start = sets.key(role), "-"
    suspects = _Suspects({}, {})
    while len(suspects.unowned) < MOST_SUSPECTS and (page := await sets.page(key, start, ROWS)):
        names = [name for name in page if name != WHOLE]
        marks = await sets.marks(key, names)
        suspects.unowned.update({name: marks.get(name, "") for name in await _unowned(graph, owned, names)})
        if role is Role.MEMORIES:
            past = await _unowned(graph, OWNED_NOW, list(marks))
            suspects.past.update({name: marks[name] for name in past if name not in suspects.unowned})
        start = f"({page[-1]}"
    return suspects


async def _unowned(graph: Graph, owned: Query, names: Sequence[str]) -> list[str]:
    if not names:
        return []
    owners = sorted({split_name(name)[0] for name in names})
    known = {join_name(str(row[0]), str(row[1])) for row in await graph.read(owned, owners=owners)}
    return [name for name in names if name not in known]
