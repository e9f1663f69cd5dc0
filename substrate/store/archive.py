"""Whole graphs, as an export reads and an import writes them: every label and property as it is stored.

Pages follow the internal id, as in `substrate.store.upkeep`. That order differs from store to store, so the export
sorts its lines itself. An import writes into a draft, a graph that takes the name of the graph once it is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple
from uuid import uuid4

from schemas.base import without_nulls
from schemas.errors import Fault
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, GraphKey
from schemas.temporal import Instant
from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection
from substrate.cypher import schema
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS, REPEATED, REPEATED_STATE_TEXTS
from substrate.cypher.query import TRACE_TYPES, Query, trace_role
from substrate.engine.append_log import delete_graph
from substrate.graphs.graph import Graph
from substrate.likeness import port as likeness
from substrate.likeness.elements import Vector, set_names
from substrate.store import rows
from substrate.store.derived import MADE
from substrate.store.kept import Kept
from substrate.store.upkeep import plan_shares
from substrate.store.writer import LINKS_PER_STATEMENT, NODES_PER_STATEMENT, in_batches

ROWS_A_PAGE: Final = 200
NEWEST_SCHEMA: Final = schema.SCHEMA_VERSION
"""The schema version that this release writes; it reads this one and all before it."""
UNIQUE_PROPERTY: Final = dict(schema.UNIQUE)
"""The property that the engine keeps unique, by label."""

PAST_STATE: Final = "PastState"
STATE_LABELS: Final = ("CitizenState", PAST_STATE)
"""The labels of the current record of a citizen's state, and of its past records."""
UPKEEP_TYPES: Final = ("DECLINED", "MADE_TAG")
"""The types of edges that upkeep keeps for itself; they are not exported either. Made tags are made again."""
KNOWN_TYPES: Final = frozenset(("HAD", "TAGGED", "LINK", "PAST_LINK", *UPKEEP_TYPES, *TRACE_TYPES))
VECTORS: Final = ("embedding", "emotion")

_CARRIED_STAMP: Final = Query(
    "carried_stamp",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) "
    "RETURN m {.*, key: null, "
    "generation: null, other_model: null, other_dimension: null, other_state: null, upkeep_fence: null, "
    "shifts: null, epoch: null, likeness: null, changes_until: null, lately: null} LIMIT 1",
)
"""The stamp without what concerns only this store: the generations of vectors, the fence of upkeep, the count of
shifts, its epoch, and until when something changes by itself."""
_HELD: Final = Query("held", "CALL db.meta.stats() YIELD labels, relTypes RETURN labels, relTypes")

_PAGE: Final = Query(
    "carried_page",
    f"MATCH (n) WHERE id(n) > $after AND NOT ('Tag' IN labels(n) AND n.name STARTS WITH '{MADE}') "
    "WITH n LIMIT $rows "
    "RETURN id(n), labels(n), CASE WHEN any(l IN labels(n) WHERE l IN $beside) THEN null ELSE properties(n) END, "
    "outdegree(n, 'HAD'), outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK') "
    "ORDER BY id(n)",
)
"""The next nodes, with properties unless a label is in `beside`, and how many past records and links each has."""

_OF_PAGE: Final = "MATCH (n:ConsciousnessNode) WHERE id(n) >= $first AND id(n) < $beyond WITH n "
_WITHOUT_VECTORS: Final = "t {.*, embedding: null, emotion: null, digest: null}"

_TAGS: Final = Query(
    "carried_tags", f"{_OF_PAGE} MATCH (n)-[g:TAGGED]->(t:Tag) RETURN id(n), t.name, properties(g)"
)


def _traces(vectors: str) -> str:
    return f"{_OF_PAGE} MATCH (n)-[:HAS_TRACE]->(t) RETURN id(n), id(t), labels(t), {vectors}"


_TRACES: Final = Query("carried_traces", _traces(_WITHOUT_VECTORS))
_TRACES_WHOLE: Final = Query("carried_traces_whole", _traces("properties(t)"))


def _records(vectors: str) -> str:
    return (
        f"{_OF_PAGE} MATCH (n)-[:HAD]->(p:PastVersion) WITH n, p SKIP $skip LIMIT $rows "
        f"OPTIONAL MATCH (p)-[:HAS_TRACE]->(t) "
        f"RETURN id(n), id(p), properties(p), id(t), labels(t), {vectors}"
    )


_RECORDS: Final = Query("carried_records", _records(_WITHOUT_VECTORS))
_RECORDS_WHOLE: Final = Query("carried_records_whole", _records("properties(t)"))

_LINKS: Final = Query(
    "carried_links",
    f"{_OF_PAGE} MATCH (n)-[e:LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows RETURN n.id, m.id, properties(e)",
)
_PAST_LINKS: Final = Query(
    "carried_past_links",
    f"{_OF_PAGE} MATCH (n)-[e:PAST_LINK]->(m) WITH n, e, m SKIP $skip LIMIT $rows "
    "RETURN n.id, m.id, properties(e)",
)


class StoredNode(NamedTuple):
    """A node of a page, with the number of its past records, links and past links. `properties` is None for a node
    that is read together with its memory."""

    internal_id: int
    labels: Sequence[str]
    properties: Mapping[str, Any] | None
    records: int
    links: int
    past_links: int


class Trace(NamedTuple):
    """A trace. `label` is `Trace` or `PastTrace` in either generation; vectors are read only on request."""

    internal_id: int
    label: str
    properties: dict[str, Any]


class PastRecord(NamedTuple):
    """A past record of the memory with the internal id `memory`."""

    memory: int
    properties: dict[str, Any]
    trace: Trace | None


class StoredLink(NamedTuple):
    """A link with the ids of its ends."""

    source_id: str
    target_id: str
    properties: Mapping[str, Any]


class StoredCounts(NamedTuple):
    """The number of nodes by label and of links by type in a graph, without zeros."""

    labels: dict[str, int]
    types: dict[str, int]


def memory_of(properties: Mapping[str, Any], graph: GraphKey) -> ConsciousnessNode:
    """Build a memory from the properties of a record. Raises pydantic's ValidationError, or ValueError, for
    invalid properties."""
    return rows.node(list(map(properties.get, NODE_COLUMNS)), graph)


def link_of(link: StoredLink, graph: GraphKey) -> ConsciousnessRelationship:
    """Build a link from the properties of a record. Raises pydantic's ValidationError, or ValueError, for invalid
    properties."""
    columns = list(map(link.properties.get, LINK_COLUMNS))
    return rows.link(columns, (link.source_id, link.target_id), graph)


async def read_stamp(graph: Graph) -> dict[str, Any]:
    """Return every property of the graph's stamp that an export contains."""
    [(stamp,)] = await graph.read_typed(_CARRIED_STAMP)
    return without_nulls(stamp)


async def count_stored(graph: Graph) -> StoredCounts:
    """Count the nodes and links of a graph. Raises GraphMissing when the graph does not exist."""
    [(labels, types)] = await graph.read_typed(_HELD)
    return StoredCounts(_positive(labels), _positive(types))


def _positive(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in sorted(counts.items()) if count}


async def check_labels_known(graph: Graph, kept: Iterable[Kept]) -> None:
    """Raises Fault when the graph has a label, or a type of link, that an export would leave out."""
    labels, types = await count_stored(graph)
    unknown = sorted((labels.keys() - {each.label for each in kept}) | (types.keys() - KNOWN_TYPES))
    if unknown:
        raise Fault(
            f"graph {graph.name} has labels or link types that an export cannot contain: {', '.join(unknown)}",
            remedy="Export with the release of Substrate that wrote it.",
        )


async def read_page(graph: Graph, after: int, kept: Iterable[Kept]) -> list[StoredNode]:
    """Return the next nodes after the internal id `after`; empty at the end."""
    whole = ("ConsciousnessNode", "Tag")
    beside = [each.label for each in kept if not each.is_carried and each.label not in whole]
    values = {"after": after, "rows": ROWS_A_PAGE, "beside": beside}
    return [StoredNode(*row) for row in await graph.read_typed(_PAGE, **values)]


async def read_tags(graph: Graph, first: int, beyond: int) -> dict[int, dict[str, Any]]:
    """Read the tags of the memories with internal ids in `[first, beyond)`. Returns, by memory and by tag name,
    the properties of the link to the tag."""
    tags: dict[int, dict[str, Any]] = {}
    for memory, name, properties in await graph.read_typed(_TAGS, first=first, beyond=beyond):
        tags.setdefault(memory, {})[name] = properties
    return tags


async def read_traces(graph: Graph, first: int, beyond: int, *, vectors: bool) -> dict[int, Trace]:
    """Return the trace of each memory with an internal id in `[first, beyond)`; of several the lowest id."""
    traces: dict[int, Trace] = {}
    query = _TRACES_WHOLE if vectors else _TRACES
    for memory, internal_id, labels, properties in await graph.read_typed(query, first=first, beyond=beyond):
        if memory not in traces or internal_id < traces[memory].internal_id:
            traces[memory] = _trace(internal_id, labels, properties)
    return traces


def _trace(internal_id: int, labels: Sequence[str], properties: Mapping[str, Any]) -> Trace:
    kept = {name: value for name, value in without_nulls(properties).items() if name != "digest"}
    return Trace(internal_id, trace_role(labels[0]), kept)


async def read_past_records(graph: Graph, nodes: Sequence[StoredNode], *, vectors: bool) -> list[PastRecord]:
    """Return the past records of the memories, with their traces."""
    query = _RECORDS_WHOLE if vectors else _RECORDS
    records: dict[int, PastRecord] = {}
    for share in plan_shares([(node.internal_id, node.records) for node in nodes]):
        for memory, internal_id, properties, *trace in await graph.read_typed(query, **share._asdict()):
            has_trace = trace[0] is not None
            records.setdefault(internal_id, PastRecord(memory, properties, _trace(*trace) if has_trace else None))
    return list(records.values())


async def read_links(graph: Graph, nodes: Sequence[StoredNode], *, past: bool) -> list[StoredLink]:
    """Return the open links that begin at the memories or, with `past`, the closed ones."""
    query = _PAST_LINKS if past else _LINKS
    links: list[StoredLink] = []
    for share in plan_shares([(node.internal_id, node.past_links if past else node.links) for node in nodes]):
        links += [StoredLink(*row) for row in await graph.read_typed(query, **share._asdict())]
    return links


DRAFT_IDLE_SECONDS: Final = 600


def draft_name(name: str) -> str:
    """Return a new name for the draft of a graph; the braces put both names in one slot of a cluster."""
    return f"{{{name}}}import-{uuid4().hex[:8]}"


async def draft_names(graph: Graph) -> list[str]:
    """Return the names of the drafts of a graph: of imports that run, and of imports that were killed."""
    names = await graph.connection.graph_names()
    return [name for name in names if name.startswith(f"{{{graph.name}}}import-")]


async def delete_idle_drafts(graph: Graph) -> None:
    """Delete the drafts of a graph that were not written to for `DRAFT_IDLE_SECONDS`."""
    for name in await draft_names(graph):
        if await graph.connection.command("OBJECT", "IDLETIME", name) > DRAFT_IDLE_SECONDS:
            await delete_graph(graph.connection, name)


async def is_empty(graph: Graph) -> bool:
    """True when the graph does not exist, or has no node except its stamp."""
    try:
        labels, _ = await count_stored(graph)
    except GraphMissing:
        return True
    return not labels.keys() - {"SubstrateMeta"}


async def rename_draft(connection: Connection, draft: str, name: str) -> bool:
    """Rename a draft to `name` and replace an empty graph of that name; False when that graph is not empty."""
    if not await is_empty(Graph(connection, name)):
        return False
    await delete_graph(connection, name)
    async with connection.watched([name]) as unchanged:
        if await connection.command("EXISTS", name):
            return False
        pairs = zip(set_names(draft), set_names(name), strict=True)
        sets = [("RENAME", *pair) for pair in pairs if await connection.command("EXISTS", pair[0])]
        return await unchanged(*sets, ("RENAMENX", draft, name))


def _intern(name: str) -> str:
    """Store one copy of each repeated text, as the writer does; an absent text stays absent."""
    interned = ", ".join(f"{column}: intern(r.properties.{column})" for column in sorted(REPEATED))
    return f"SET {name} = r.properties SET {name} += {{{interned}}} "


_VECTORS_OF: Final = "{embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}"

_PUT_STAMP: Final = Query(
    "put_stamp",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m += $properties "
    "SET m.shifts = timestamp(), m.epoch = 1000 * timestamp(), m.changes_until = null RETURN count(m)",
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
    """The kinds of rows of memories and links, in the order in which an import must write them. Before them it
    writes nodes without links: their kind is their label."""

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
