"""Reads the records that a list of commands needs, and writes all its changes in one compare-and-set.

A vector that becomes one of the present is marked before the statement, in the same round trip; one that is so no
longer loses its mark after it. A crash in between leaves a past vector among those that a question compares, never
a memory that it does not find. Nor does another writer who restores the same text meanwhile: he saw the memory
after this statement, so his mark is another one than was read before it, and only that one is taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from schemas.errors import Unavailable
from schemas.temporal import END_OF_TIME
from substrate.bitemporal import Record
from substrate.connection.kept import ALL_READS
from substrate.connection.pool import Row
from substrate.cypher.fragments import PROVENANCE, columns_of, link_columns, node_columns
from substrate.cypher.query import Query
from substrate.cypher.transaction import TOUCHED, transaction
from substrate.graphs.filling import withdraw
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Vector, join_name
from substrate.store import rows
from substrate.store.changesets import ExpectedState, LinkEnds, RecordSelection, StoredRecords, TransactionRows
from substrate.store.rows import LinkName
from substrate.store.writer import ExactlyOnceWrite, note_of

COMMANDS_AT_MOST: Final = 100
"""A commit locks every graph, for about 0.6 ms per indexed vector (ENGINE, rule 11)."""

MEMORIES_OF: Final = Query(
    "memories_of",
    "UNWIND $wanted AS w MATCH (i:ConsciousnessNode {id: w.id}) "
    "WITH i, w, w.every OR (i.expired_at < $open AND w.since < $open) AS every "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i, w, every WITH i, w, every WHERE every OR i.valid_at > w.since "
    "MATCH (i)-[:HAD]->(n:PastVersion) WHERE every OR n.expired_at = $open RETURN n } "
    f"RETURN n.fingerprint, i.version, coalesce(i.versions, i.version), {TOUCHED.format('i')}, "
    f"{node_columns('n')}, {columns_of('n', PROVENANCE)}",
)
"""The records of some memories that their `RecordSelection` selects, all read at one moment."""

_LINK: Final = (
    "WHERE e.id = l.id RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, "
    f"{link_columns('e')}, {columns_of('e', PROVENANCE)}"
)
"""`e.versions`: the highest version used for the link so far, if no record with that version was ever written."""

LINKS_OF: Final = Query(
    "links_of",
    "UNWIND $links AS l MATCH (a:ConsciousnessNode {id: l.source_id}) "
    f"MATCH (b:ConsciousnessNode {{id: l.target_id}}) WITH l, a, b MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK}",
)
"""All records of links whose id follows from their ends; found by these ends."""

NAMED_LINKS_OF: Final = Query(
    "named_links_of",
    f"UNWIND $links AS l MATCH (a)-[e:LINK {{handle: l.handle}}]->(b) {_LINK} "
    f"UNION ALL UNWIND $links AS l MATCH (a)-[e:PAST_LINK {{handle: l.handle}}]->(b) {_LINK}",
)
"""All records of links whose id the sender gave; found by `handle`, a hash of that id."""


async def read_memories(graph: Graph, selections: Mapping[str, RecordSelection]) -> dict[str, StoredRecords]:
    """The selected records of some memories, by memory id; a memory that does not exist is left out."""
    if not selections:
        return {}
    wanted = [{"id": memory_id, **selection._asdict()} for memory_id, selection in selections.items()]
    stored: dict[str, StoredRecords] = {}
    for row in await graph.read(MEMORIES_OF, wanted=wanted, open=END_OF_TIME):
        fingerprint, carried, last_version, touched = row[:4]
        record = rows.record(row[4:])
        before = stored.get(record.id, StoredRecords((), {}, carried, last_version, touched))
        stored[record.id] = _with_record(before, record, fingerprint)
    return stored


async def read_links(graph: Graph, names: Sequence[LinkName]) -> dict[str, StoredRecords]:
    """All records of some links, by link id; a link that does not exist is left out."""
    by_ends = [{"id": n.id, "source_id": n.ends[0], "target_id": n.ends[1]} for n in names if n.ends]
    by_handle = [{"id": n.id, "handle": n.handle} for n in names if not n.ends]
    link_rows: list[Row] = []
    if by_ends:
        link_rows += await graph.read(LINKS_OF, links=by_ends)
    if by_handle:
        link_rows += await graph.read(NAMED_LINKS_OF, links=by_handle)
    stored: dict[str, StoredRecords] = {}
    for row in link_rows:
        fingerprint, is_carried, source_id, target_id, last_version = row[:5]
        record = rows.record_of_link(row[5:])
        before = stored.get(record.id, StoredRecords((), {}, None, 0, ends=LinkEnds(source_id, target_id)))
        stored[record.id] = _with_record(before, record, fingerprint)._replace(
            carried=record.version if is_carried in (True, "true") else before.carried,
            last_version=max(before.last_version, record.version, last_version or 0),
        )
    return stored


def _with_record(stored: StoredRecords, record: Record, fingerprint: int | None) -> StoredRecords:
    fingerprints = {**stored.fingerprints, record.version: fingerprint}
    return stored._replace(records=(*stored.records, record), fingerprints=fingerprints)


async def write(graph: Graph, expected: ExpectedState, changed: TransactionRows) -> int | None:
    """Write all rows if the graph still is as `expected`; else write nothing and return None.

    Returns how many microseconds the transaction time is later than `changed.at`. Raises Conflict when another
    writer stored one of the ids or applied one of the commands at the same time, WriteUnconfirmed when the
    connection was lost and the outcome is unknown, and what `Graph.write` raises.
    """
    command_ids = [receipt["command_id"] for receipt in changed.receipts]
    moved = await _prepare(graph, expected, changed)
    values: dict[str, Any] = {each.name: getattr(changed, each.name) for each in fields(changed)}
    del values["sent_again"]
    values |= {
        "receipts": list(map(dict, changed.receipts)),
        "open": END_OF_TIME,
        "commands": command_ids,
        "ids": expected.ids,
        "seen": expected.memories,
        "held": expected.links,
        "handles": expected.handles,
        "lately": note_of({ALL_READS, *expected.ids, *(row[end] for row in changed.links for end in _ENDS)}),
    }
    lists = frozenset(name for name, value in values.items() if isinstance(value, list) and value)
    once = ExactlyOnceWrite(graph, transaction(lists), values, vectors=moved.vectors)
    try:
        reply = await once.send(command_ids)
    finally:
        changed.sent_again = once.again
    if not reply:
        await withdraw(graph, moved.vectors)
        return None
    await _finish(graph, moved)
    return int(reply[0][0])


_ENDS: Final = ("source_id", "target_id")
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
    `vectors`: those to be kept, or marked, with the statement."""

    ids: Sequence[str] = ()
    marks: Mapping[str, str] = MappingProxyType({})
    vectors: Sequence[Vector] = ()


async def _prepare(graph: Graph, expected: ExpectedState, changed: TransactionRows) -> Moving:
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


async def _finish(graph: Graph, moving: Moving) -> None:
    """Take the marks of those vectors away that the statement, which was carried out, made past. What the engine
    does not answer in time is left to the sweep: the commands are stored."""
    with suppress(Unavailable):
        if moving.marks:
            present = {join_name(*name) for name in await _present(graph, moving.ids)}
            left = {name: mark for name, mark in moving.marks.items() if name not in present}
            await likeness.unmark(graph.connection, graph.name, left)


async def _present(graph: Graph, ids: Iterable[str]) -> Names:
    rows: Sequence[Sequence[Any]] = await graph.read(PRESENT_VECTORS, ids=list(dict.fromkeys(ids)))
    return frozenset((str(owner), str(digest)) for owner, digest in rows)
