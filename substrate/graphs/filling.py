"""Keeps the vector sets of a graph as its records are: adds what they lack, and removes what no record has.

A set may be missing, wrong or partial; a refused write, a crash or a lost race leaves a vector without a record.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import batched
from typing import Any, Final, NamedTuple

from schemas.errors import Fault, Unavailable
from substrate.connection.errors import GraphMissing
from substrate.cypher.fragments import SHIFT
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness import elements
from substrate.likeness.elements import WHOLE, Role, Vector, join_name, split_name
from substrate.likeness.port import sets_of
from substrate.likeness.vector_sets import SetState, VectorSets, read_states

ROWS: Final = 100
"""Vectors of one page."""
LOGGED_EVERY: Final = 100 * ROWS
_logger = logging.getLogger(__name__)
_LOCK_WAIT_S: Final = 600.0

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
        f"{SHIFT} UNWIND $rows AS r MATCH (t:{label}) WHERE id(t) = r[0] SET t.digest = r[1] RETURN count(t)",
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


MOST_VECTORS: Final = Query(
    "most_vectors", "CALL db.meta.stats() YIELD labels RETURN labels.Trace, labels.PassageTrace"
)
"""At most this many vectors of each role: the engine keeps these counts, but not every record has a vector."""


class _Part(NamedTuple):
    """The vectors of one label, all open or all past."""

    query: Query
    label: str
    role: Role
    is_open: bool


_PARTS: Final = (
    _Part(OPEN_VECTORS, "Trace", Role.MEMORIES, is_open=True),
    _Part(PASSAGE_VECTORS, "PassageTrace", Role.PASSAGES, is_open=True),
    _Part(PAST_VECTORS, "PastTrace", Role.MEMORIES, is_open=False),
)
"""The present first: it is asked most."""


async def are_whole(graph: Graph) -> bool:
    """True when the vector sets of the graph have had all its vectors, and were not lost since. Cheap to ask."""
    sets = sets_of(graph.connection, graph.name)
    return sets is None or await sets.are_whole()


async def are_complete(graph: Graph, dimension: int) -> bool:
    """True when the sets are whole, in the right dimension, and have as many vectors as the present at least."""
    sets = sets_of(graph.connection, graph.name)
    if sets is None:
        return True
    for query in (MOST_VECTORS, COUNT_VECTORS):
        counting = graph.connection.reading(graph.name, query)
        counts, *told = await graph.connection.read_together(query.name, (counting, *sets.inquiries()))
        if isinstance(counts, Exception):
            raise counts
        states = read_states(told)
        if not all(state.is_whole and state.dimension == dimension for state in states):
            return False
        if have_all(states, counts, dimension):
            return True
    return False


def have_all(states: Sequence[SetState], counts: Sequence[Any], dimension: int) -> bool:
    """True when the sets are whole, and have as many vectors as the reply to a query counted."""
    [[*wanted]] = counts[1]
    return all(
        state.is_whole and state.dimension == dimension and state.held >= int(count or 0)
        for state, count in zip(states, wanted, strict=True)
    )


async def count_present(graph: Graph) -> int:
    """How many vectors of the present the graph has."""
    [[open_count, passage_count]] = await graph.read(COUNT_VECTORS)
    return int(open_count) + int(passage_count)


async def note_new(graph: Graph, dimension: int) -> None:
    """Note of a graph that has no vectors yet that its sets have them all."""
    sets = sets_of(graph.connection, graph.name)
    if sets is not None and dimension:
        await sets.note_whole(dimension)


async def complete(graph: Graph, dimension: int) -> None:
    """Fill the vector sets of a graph, if they are not complete. Raises as `Graph.write` does. Broken off
    anywhere, it is done again by the next to open the graph: until its end the sets are not whole."""
    lock = graph.connection.lock(
        f"substrate:filling:{graph.name}", wait_s=_LOCK_WAIT_S, refusal="another process fills the vector sets"
    )
    async with lock:
        sets = sets_of(graph.connection, graph.name)
        if sets is None or await are_complete(graph, dimension):
            return
        for role in Role:
            await _drop_unusable(sets, role, dimension)
        await fill(graph, dimension)
        await sets.note_whole(dimension)


async def _drop_unusable(sets: VectorSets, role: Role, dimension: int) -> None:
    """Drop a key of another kind, or a set of another dimension."""
    key = sets.key(role)
    try:
        if not int(await sets.connection.command("EXISTS", key)):
            return
        usable = int(await sets.connection.search_vectors("VDIM", key)) == dimension
    except Fault:
        usable = False
    if not usable:
        await sets.connection.command("DEL", key)


async def fill(graph: Graph, dimension: int) -> int:
    """Add to the sets every vector of the graph that they lack, and mark those of the present; returns how many of
    them lacked or were not marked. A vector of an older release gets its digest first. One that has not
    `dimension` numbers is damaged: it is left out, and a sweep reports it."""
    sets = sets_of(graph.connection, graph.name)
    if sets is None:
        return 0
    added = done = 0
    for part in _PARTS:
        async for whole in _pages(graph, part):
            page = [held for held in whole if len(held.vector.embedding) == dimension]
            unmarked = [[held.place, held.vector.key] for held in page if not held.is_marked]
            if unmarked and part.role is Role.MEMORIES:
                await graph.write(SET_DIGESTS[part.label], rows=unmarked)
            added += await _add_missing(graph, sets, part, [vector for _, vector, _ in page])
            done += len(page)
            if done % LOGGED_EVERY == 0:
                _logger.info("vectors of %s: %d done", graph.name, done)
    return added


class _StoredVector(NamedTuple):
    """A vector of the graph, the internal id of its trace, and whether the trace has its digest."""

    place: int
    vector: Vector
    is_marked: bool


async def _add_missing(graph: Graph, sets: VectorSets, part: _Part, vectors: Sequence[Vector]) -> int:
    names = [vector.name for vector in vectors]
    lacking = set(await sets.missing(sets.key(part.role), names))
    if part.role is Role.MEMORIES and part.is_open:
        lacking |= set(names) - (await sets.marks(sets.key(part.role), names)).keys()
    added = [vector for vector in vectors if vector.name in lacking]
    await sets.add(added, part.role)
    await withdraw(graph, added, part.role)  # what was erased meanwhile
    if part.role is Role.MEMORIES and not part.is_open:
        # Mark those past vectors that a record restored before they were there: its mark was lost.
        present = await owned_now(graph, [vector.name for vector in added])
        await sets.add([Vector(each.owner, each.key, ()) for each in added if each.name in present], Role.MEMORIES)
    return len(lacking)


async def _pages(graph: Graph, part: _Part) -> AsyncIterator[list[_StoredVector]]:
    after = -1
    while (last := (await graph.read(LAST_OF_PAGE[part.label], after=after, rows=ROWS))[0][0]) is not None:
        rows = await graph.read_typed(part.query, after=after, rows=ROWS)
        held = []
        for place, owner, key, embedding in rows:
            if owner is not None:
                vector = Vector(owner, key or elements.digest(embedding), embedding, part.is_open)
                held.append(_StoredVector(place, vector, key is not None))
        yield held
        after = int(last)


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
    """Remove those of these vectors, kept for records that were not written, that no other record has. What the
    engine does not answer in time is left to the sweep."""
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
    """Remove from the sets the vectors that no record has any more, or never had; returns how many. Vectors that
    are marked as of the present, and are not, lose their marks. Each is looked at twice, because a record is
    written just after its vector; what was marked anew meanwhile stays."""
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
    while len(suspects.unowned) < MOST_SUSPECTS and (page := await sets.page(key, start, "+", ROWS)):
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
