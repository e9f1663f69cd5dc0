"""Writes the rows of an import, of every kind, as they are stored, and the vectors of memories and records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from schemas.temporal import Instant
from substrate.cypher.fragments import REPEATED, REPEATED_STATE_TEXTS
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Vector
from substrate.store.archive import STATE_LABELS
from substrate.store.writer import LINKS_PER_STATEMENT, NODES_PER_STATEMENT, in_batches


def _intern(name: str) -> str:
    """Store one copy of each repeated text, as the writer does; an absent text stays absent."""
    interned = ", ".join(f"{column}: intern(r.properties.{column})" for column in sorted(REPEATED))
    return f"SET {name} = r.properties SET {name} += {{{interned}}} "


_VECTORS_OF: Final = "{embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}"

_PUT_STAMP: Final = Query(
    "put_stamp",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m += $properties "
    "SET m.shifts = timestamp(), m.changes_until = null RETURN count(m)",
)
"""What was kept of another graph of this name, which may have had the same clock, is out of date. Until when
something changes by itself is known when all rows are written."""
_PUT_CHANGES_UNTIL: Final = Query(
    "put_changes_until",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m.changes_until = $changes_until RETURN count(m)",
)
_TEXTS: Final = ", ".join(f"{name}: intern(r.properties.{name})" for name in REPEATED_STATE_TEXTS)


def put_lone(label: str) -> Query:
    """Nodes of a label that an export carries whole."""
    texts = f"SET n += {{{_TEXTS}}} " if label in STATE_LABELS else ""
    text = f"UNWIND $rows AS r CREATE (n:{label}) SET n = r.properties {texts}RETURN count(n)"
    return Query(f"put_{label.lower()}", text)


_PUT_TAGS: Final = Query("put_tags", "UNWIND $rows AS r CREATE (n:Tag) SET n = r.properties RETURN count(n)")
_PUT_MEMORIES: Final = Query(
    "put_memories",
    f"UNWIND $rows AS r CREATE (n:ConsciousnessNode) {_intern('n')} "
    "FOREACH (v IN r.present | CREATE (n)-[:HAS_TRACE]->(t:Trace) "
    f"SET t = v.properties SET t += {_VECTORS_OF}) "
    "FOREACH (v IN r.past | CREATE (n)-[:HAS_TRACE]->(t:PastTrace) "
    f"SET t = v.properties SET t += {_VECTORS_OF}) "
    "FOREACH (g IN r.tags | MERGE (x:Tag {name: g.name}) CREATE (n)-[e:TAGGED]->(x) SET e = g.properties) "
    "RETURN count(n)",
)
_PUT_RECORDS: Final = Query(
    "put_records",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.of}) "
    "CREATE (p:PastVersion)<-[:HAD]-(n) "
    f"{_intern('p')} "
    "FOREACH (v IN r.past | CREATE (p)-[:HAS_TRACE]->(t:PastTrace) "
    f"SET t = v.properties SET t += {_VECTORS_OF}) "
    "RETURN count(p)",
)
"""Past records, each with its own trace."""
_SHARE_TRACES: Final = Query(
    "share_traces",
    "UNWIND $rows AS r MATCH (n:ConsciousnessNode {id: r.of}) WITH r, n "
    "MATCH (n)-[:HAD]->(o:PastVersion)-[:HAS_TRACE]->(t:PastTrace) "
    "WHERE o.version = r.shares_trace_of WITH r, n, t "
    "CREATE (p:PastVersion)<-[:HAD]-(n) CREATE (p)-[:HAS_TRACE]->(t) "
    f"{_intern('p')} RETURN count(p)",
)
"""Past records that share the trace of another record of the same memory."""


def _link(kind: str) -> str:
    return (
        "UNWIND $rows AS r MATCH (a:ConsciousnessNode {id: r.source_id}) "
        f"MATCH (b:ConsciousnessNode {{id: r.target_id}}) CREATE (a)-[e:{kind}]->(b) "
        f"{_intern('e')} RETURN count(e)"
    )


_PUT_LINKS: Final = Query("put_links", _link("LINK"))
_PUT_PAST_LINKS: Final = Query("put_past_links", _link("PAST_LINK"))


class RowKind(StrEnum):
    """The kinds of rows of memories and links, in the order in which an import must write them.

    Before them it writes nodes without links: their kind is their label.
    """

    TAG = "tag"
    MEMORY = "memory"
    RECORD = "record"
    RECORD_WITH_SHARED_TRACE = "record with the trace of another"
    LINK = "link"
    PAST_LINK = "past link"


LARGE: Final = frozenset((RowKind.MEMORY, RowKind.RECORD, RowKind.RECORD_WITH_SHARED_TRACE))
"""Kinds of rows as large as a memory."""
TIMED: Final = LARGE | {RowKind.LINK, RowKind.PAST_LINK}
"""Kinds of rows that are records of memories and links, on both axes of time."""

_WRITES: Final[Mapping[RowKind, Query]] = {
    RowKind.TAG: _PUT_TAGS,
    RowKind.MEMORY: _PUT_MEMORIES,
    RowKind.RECORD: _PUT_RECORDS,
    RowKind.RECORD_WITH_SHARED_TRACE: _SHARE_TRACES,
    RowKind.LINK: _PUT_LINKS,
    RowKind.PAST_LINK: _PUT_PAST_LINKS,
}


def most_rows(kind: str) -> int:
    """The most rows of a kind in one statement."""
    return NODES_PER_STATEMENT if kind in LARGE else LINKS_PER_STATEMENT


async def write_rows(graph: Graph, kind: str, values: Sequence[Mapping[str, Any]]) -> int:
    """Write rows of one kind; returns how many were written. A row whose memory is missing is not."""
    query = _WRITES[RowKind(kind)] if kind in set(RowKind) else put_lone(kind)
    values = await _keep_vectors(graph, kind, values)

    async def send(part: Sequence[Mapping[str, Any]]) -> int:
        [(written,)] = await graph.write(query, rows=list(part))
        return int(written)

    size = graph.connection.batch_sizes.of(query.name, most_rows(kind))
    return sum(await in_batches(values, send, size, graph.connection.writes.others_active))


async def _keep_vectors(
    graph: Graph, kind: str, values: Sequence[Mapping[str, Any]]
) -> Sequence[Mapping[str, Any]]:
    """Keep the vectors of memories or records before these are written; returns the rows with digests."""
    if kind not in (RowKind.MEMORY, RowKind.RECORD):
        return values
    rows: list[Mapping[str, Any]] = []
    vectors: dict[str, Vector] = {}
    for row in values:
        owner = row["properties"]["id"]
        traces = {side: likeness.with_digests(row.get(side, ())) for side in ("past", "present")}
        for side, found in traces.items():
            of_owner = [{**trace, "id": owner} for trace in found]
            for vector in likeness.vectors_of(of_owner, is_open=side == "present"):
                vectors[vector.name] = vector
        rows.append({**row, **traces})
    await likeness.add(graph.connection, graph.name, list(vectors.values()))
    return rows


async def write_stamp(graph: Graph, properties: Mapping[str, Any]) -> None:
    """Set these properties of a graph's stamp; its other properties stay."""
    await graph.write(_PUT_STAMP, properties=dict(properties))


async def write_changes_until(graph: Graph, changes_until: Instant) -> None:
    """Note in a graph's stamp until when its records begin or end to hold; 0 where none does after its clock."""
    await graph.write(_PUT_CHANGES_UNTIL, changes_until=changes_until)
