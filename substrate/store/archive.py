"""Reads whole graphs page by page, with every label and property as it is stored.

Pages follow the internal id, as in `substrate.store.upkeep`. That order differs from store to store, so the export
sorts its lines itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.base import without_nulls
from schemas.errors import Fault
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, GraphKey
from substrate.cypher import schema
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS
from substrate.cypher.query import TRACE_TYPES, Query, trace_role
from substrate.graphs.graph import Graph
from substrate.store import rows
from substrate.store.derived import MADE
from substrate.store.kept import Kept
from substrate.store.upkeep import plan_shares

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
    "shifts: null, likeness: null, changes_until: null} LIMIT 1",
)
"""The stamp without what concerns only this store: the generations of vectors, the fence of upkeep, the count of
shifts, and until when something changes by itself."""
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
    """A node of a page, with the number of its past records, links and past links.

    `properties` is None for a node that is read together with its memory.
    """

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
    """Build a memory from the properties of a record.

    Raises pydantic's ValidationError, or ValueError, for invalid properties.
    """
    return rows.node(list(map(properties.get, NODE_COLUMNS)), graph)


def link_of(link: StoredLink, graph: GraphKey) -> ConsciousnessRelationship:
    """Build a link from the properties of a record.

    Raises pydantic's ValidationError, or ValueError, for invalid properties.
    """
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
    """Read the tags of the memories with internal ids in `[first, beyond)`.

    Returns, by memory and by tag name, the properties of the link to the tag.
    """
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
