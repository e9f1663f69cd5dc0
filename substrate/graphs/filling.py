"""Fills the vector sets of a graph from the vectors that the graph keeps: one may be missing, wrong or partial."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final, NamedTuple

from schemas.errors import Fault
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness import elements
from substrate.likeness.elements import Role, Vector
from substrate.likeness.port import sets_of
from substrate.likeness.vector_sets import VectorSets

ROWS: Final = 100
"""Vectors of one page."""
LOGGED_EVERY: Final = 100 * ROWS
_logger = logging.getLogger(__name__)
_LOCK_WAIT_S: Final = 600.0
WRITTEN_WITHIN_S: Final = 5.0
"""A record is written within this time after its vector, or not at all."""

_PAGE: Final = "id(t) > $after AND t.embedding IS NOT NULL WITH t ORDER BY id(t) LIMIT $rows "
_OWNED: Final = (
    "OPTIONAL MATCH (n:ConsciousnessNode)-[:HAS_TRACE]->(t) "
    "OPTIONAL MATCH (p:PastVersion)-[:HAS_TRACE]->(t) "
    "RETURN id(t), coalesce(head(collect(n.id)), head(collect(p.id))), t.digest, t.embedding ORDER BY id(t)"
)
OPEN_VECTORS: Final = Query("open_vectors", f"MATCH (t:Trace) WHERE {_PAGE}{_OWNED}")
PAST_VECTORS: Final = Query("past_vectors", f"MATCH (t:PastTrace) WHERE {_PAGE}{_OWNED}")
PASSAGE_VECTORS: Final = Query(
    "passage_vectors",
    f"MATCH (t:PassageTrace) WHERE {_PAGE}MATCH (q:Passage)-[:HAS_TRACE]->(t) "
    "RETURN id(t), q.memory_id, q.handle, t.embedding ORDER BY id(t)",
)
"""The next vectors: internal id, owner, key, numbers."""
SET_DIGESTS: Final = {
    label: Query(
        f"set_digests_{label.lower()}",
        f"UNWIND $rows AS r MATCH (t:{label}) WHERE id(t) = r[0] SET t.digest = r[1] RETURN count(t)",
    )
    for label in ("Trace", "PastTrace")
}
LAST_OF_PAGE: Final = {
    label: Query(f"last_{label.lower()}", f"MATCH (t:{label}) WHERE {_PAGE}RETURN max(id(t))")
    for label in ("Trace", "PastTrace", "PassageTrace")
}
COUNT_VECTORS: Final = Query(
    "count_vectors",
    "OPTIONAL MATCH (t:Trace) WHERE t.embedding IS NOT NULL WITH count(t) AS open "
    "OPTIONAL MATCH (t:PassageTrace) WHERE t.embedding IS NOT NULL RETURN open, count(t)",
)


class _Part(NamedTuple):
    """The vectors of one label, all open or all past."""

    query: Query
    label: str
    role: Role
    is_open: bool


_PARTS: Final = (
    _Part(PAST_VECTORS, "PastTrace", Role.MEMORIES, is_open=False),
    _Part(OPEN_VECTORS, "Trace", Role.MEMORIES, is_open=True),
    _Part(PASSAGE_VECTORS, "PassageTrace", Role.PASSAGES, is_open=True),
)
"""Open ones after past ones: a vector that is both is open."""


async def ensure_filled(graph: Graph, dimension: int) -> None:
    """Fill the vector sets of a graph that lack vectors of the present, or are of another kind or dimension.

    Called when a graph is opened; costs some queries where nothing is missing. Raises as `Graph.write` does.
    """
    sets = sets_of(graph.connection, graph.name)
    if sets is None or not dimension:
        return
    if all([await _is_complete(graph, sets, role, dimension) for role in Role]):
        return
    lock = graph.connection.lock(
        f"substrate:filling:{graph.name}", wait_s=_LOCK_WAIT_S, refusal="another process fills the vector sets"
    )
    async with lock:
        for role in Role:
            if not await _is_complete(graph, sets, role, dimension):
                await _drop_unusable(sets, role, dimension)
                await fill(graph, dimension, role)


async def _is_complete(graph: Graph, sets: VectorSets, role: Role, dimension: int) -> bool:
    """True when the set has at least as many vectors as the present, in the right dimension."""
    [[open_count, passage_count]] = await graph.read(COUNT_VECTORS)
    wanted = int(passage_count if role is Role.PASSAGES else open_count)
    if not wanted:
        return True
    key = sets.key(role)
    try:
        held = int(await graph.connection.search_vectors("VCARD", key))
        return held >= wanted and int(await graph.connection.search_vectors("VDIM", key)) == dimension
    except Fault:
        return False


async def _drop_unusable(sets: VectorSets, role: Role, dimension: int) -> None:
    key = sets.key(role)
    try:
        if int(await sets.connection.search_vectors("VCARD", key)) == 0:
            return
        usable = int(await sets.connection.search_vectors("VDIM", key)) == dimension
    except Fault:
        usable = False
    if not usable:
        await sets.connection.command("DEL", key)


async def fill(graph: Graph, dimension: int, role: Role | None = None) -> int:
    """Add to the sets every vector of the graph that they lack; returns how many they lacked.

    A vector of an older release gets its digest first. One that has not `dimension` numbers is damaged: it is left
    out, and a sweep reports it.
    """
    sets = sets_of(graph.connection, graph.name)
    if sets is None:
        return 0
    added = done = 0
    for part in _PARTS:
        if role is None or part.role is role:
            async for whole in _pages(graph, part):
                page = [held for held in whole if len(held.vector.embedding) == dimension]
                await _set_digests(graph, part, page)
                added += await _add_missing(sets, part, [vector for _, vector, _ in page])
                done += len(page)
                if done % LOGGED_EVERY == 0:
                    _logger.info("vectors of %s: %d done", graph.name, done)
    return added


OWNED: Final = Query(
    "owned_vectors",
    "UNWIND $owners AS id OPTIONAL MATCH (n:ConsciousnessNode {id: id})-[:HAS_TRACE]->(t) "
    "WITH id, collect(t.digest) AS own OPTIONAL MATCH (p:PastVersion {id: id})-[:HAS_TRACE]->(t) "
    "WITH id, own, collect(DISTINCT t.digest) AS past UNWIND (own + past) AS digest RETURN DISTINCT id, digest",
)
"""The vectors that the records of some memories have."""
OWNED_PASSAGES: Final = Query(
    "owned_passages", "UNWIND $owners AS id MATCH (q:Passage {memory_id: id}) RETURN id, q.handle"
)


async def drop_orphans(graph: Graph) -> int:
    """Remove from the sets the vectors that no record has any more, or never had; returns how many."""
    sets = sets_of(graph.connection, graph.name)
    if sets is None:
        return 0
    removed = 0
    for role, owned in ((Role.MEMORIES, OWNED), (Role.PASSAGES, OWNED_PASSAGES)):
        key, start = sets.key(role), "-"
        while names := await sets.page(key, start, ROWS):
            unowned = await _unowned(graph, owned, names)
            removed += await sets.remove_names(key, unowned)
            start = f"({names[-1]}"
    return removed


async def _unowned(graph: Graph, owned: Query, names: Sequence[str]) -> Sequence[str]:
    """Those of the names that are unowned twice: a record may be written just after its vector."""
    for pause in (WRITTEN_WITHIN_S, 0.0):
        owners = sorted({elements.split_name(name)[0] for name in names})
        rows = await graph.read(owned, owners=owners)
        known = {elements.join_name(str(row[0]), str(row[1])) for row in rows}
        names = [name for name in names if name not in known]
        if not names:
            break
        await asyncio.sleep(pause)
    return names


class _Held(NamedTuple):
    """A vector of the graph, the internal id of its trace, and whether the trace has its digest."""

    place: int
    vector: Vector
    is_marked: bool


async def _set_digests(graph: Graph, part: _Part, page: Sequence[_Held]) -> None:
    unmarked = [[held.place, held.vector.key] for held in page if not held.is_marked]
    if unmarked and part.role is Role.MEMORIES:
        await graph.write(SET_DIGESTS[part.label], rows=unmarked)


async def _add_missing(sets: VectorSets, part: _Part, vectors: Sequence[Vector]) -> int:
    """An open vector that is there already is noted as open; a past one stays as it is."""
    missing = set(await sets.missing(sets.key(part.role), [vector.name for vector in vectors]))
    every = part.role is Role.MEMORIES and part.is_open
    await sets.add([vector for vector in vectors if every or vector.name in missing], part.role)
    return len(missing)


async def _pages(graph: Graph, part: _Part) -> AsyncIterator[list[_Held]]:
    after = -1
    while (last := (await graph.read(LAST_OF_PAGE[part.label], after=after, rows=ROWS))[0][0]) is not None:
        rows = await graph.read_typed(part.query, after=after, rows=ROWS)
        yield [_held(row, part) for row in rows if row[1] is not None]
        after = int(last)


def _held(row: Sequence[Any], part: _Part) -> _Held:
    place, owner, key, embedding = row
    vector = Vector(owner, key or elements.digest(embedding), embedding, part.is_open)
    return _Held(place, vector, key is not None)
