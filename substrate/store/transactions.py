"""Reads the records that a list of commands needs, and writes all its changes in one compare-and-set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schemas.temporal import END_OF_TIME
from substrate.bitemporal import Record
from substrate.connection.pool import Row
from substrate.cypher.fragments import PROVENANCE, columns_of, link_columns, node_columns
from substrate.cypher.query import Query
from substrate.cypher.transaction import TOUCHED, transaction
from substrate.graphs.graph import Graph
from substrate.graphs.orphans import withdraw
from substrate.store import moved_vectors, rows
from substrate.store.changesets import ExpectedState, LinkEnds, RecordSelection, StoredRecords, TransactionRows
from substrate.store.exactly_once import ExactlyOnceWrite
from substrate.store.rows import LinkName

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
    moved = await moved_vectors.prepare(graph, expected, changed)
    values = {
        "at": changed.at,
        "open": END_OF_TIME,
        "commands": command_ids,
        "ids": expected.ids,
        "seen": expected.memories,
        "held": expected.links,
        "handles": expected.handles,
        "new": changed.new,
        "past": changed.past,
        "closing": changed.closing,
        "carried": changed.carried,
        "moved": changed.moved,
        "touched": changed.touched,
        "withdrawn": changed.withdrawn,
        "restored": changed.restored,
        "tagged": changed.tagged,
        "links": changed.links,
        "receipts": list(map(dict, changed.receipts)),
        "pending_until": changed.pending_until,
        "changes_until": changed.changes_until,
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
    await moved_vectors.finish(graph, moved)
    return int(reply[0][0])
