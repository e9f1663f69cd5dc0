"""Reads of single memories and of what a graph holds: one async function per named read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import END_OF_TIME, Instant
from substrate.cypher import association as association_cypher
from substrate.cypher import schema as schema_cypher
from substrate.cypher.fragments import PROVENANCE, RECEIPT_COLUMNS, columns_of, link_columns, node_columns
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import Kept, LinkName

MEMORY: Final = Query(
    "memory",
    f"MATCH (n:ConsciousnessNode {{id: $id}}) RETURN {node_columns('n')}, {columns_of('n', PROVENANCE)}",
)
"""The record that an identity carries."""

HISTORY: Final = Query(
    "history",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i MATCH (i)-[:HAD]->(n:PastVersion) RETURN n } "
    f"RETURN {node_columns('n')}, {columns_of('n', PROVENANCE)} ORDER BY n.created_at, n.valid_at",
)
"""All records of an identity, in the order in which they became known."""

_LINK_RECORDS: Final = (
    f"WHERE e.id = $id RETURN a.id, b.id, {link_columns('e')}, {columns_of('e', PROVENANCE)}, "
    "e.created_at AS known, e.valid_at AS held "
)

LINK_HISTORY: Final = Query(
    "link_history",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    f"WITH a, b LIMIT 1 MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK_RECORDS} ORDER BY known, held",
)
"""All records of a link that is found through its ends, in the order in which they became known."""

NAMED_LINK_HISTORY: Final = Query(
    "named_link_history",
    f"MATCH (a)-[e:LINK {{handle: $handle}}]->(b) {_LINK_RECORDS} "
    f"UNION ALL MATCH (a)-[e:PAST_LINK {{handle: $handle}}]->(b) {_LINK_RECORDS}",
)
"""All records of a link with an id of its own."""

SAYING: Final = Query(
    "saying",
    "UNWIND $keys AS key MATCH (n:ConsciousnessNode {text_key: key}) WITH n "
    "WHERE n.expired_at = $open AND n.valid_at <= $now AND n.invalid_at > $now "
    f"RETURN {node_columns('n')}, {columns_of('n', PROVENANCE)} ORDER BY n.created_at, n.id LIMIT 1000",
)
"""Memories that hold now and whose text has one of some keys, the oldest first."""

RECEIPTS: Final = Query(
    "receipts",
    f"UNWIND $ids AS id MATCH (c:Receipt {{command_id: id}}) RETURN {columns_of('c', RECEIPT_COLUMNS)}",
)
"""What is kept of some commands."""

PENDING: Final = Query(
    "pending", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.pending_until, 0) LIMIT 1"
)
"""Until when some record on the past side is still true."""

EXISTING: Final = Query(
    "existing",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) RETURN n.id, n.fingerprint",
)
"""Which of some identities exist, with the fingerprint of what each carries."""

NAMES_OF: Final = Query(
    "names_of",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) WITH DISTINCT n "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WITH n, collect(p) AS past "
    "UNWIND ([n] + past) AS r RETURN n.id, r.name, r.aliases",
)
"""What some memories are called, and were: their records, first the one that each carries."""

KNOWN_SINCE: Final = Query(
    "known_since",
    "MATCH (n:ConsciousnessNode {id: $id}) WHERE n.expired_at = $open "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.expired_at = $open "
    "RETURN n.version, n.valid_at, min(p.valid_at)",
)
"""From when on a memory holds, as is known today: version and beginning of what it carries, and of the rest."""

LIKENESS: Final = Query(
    "likeness",
    "UNWIND $pairs AS pair "
    "MATCH (a:ConsciousnessNode {id: pair[0]})-[:HAS_TRACE]->(t:Trace) WITH pair, t "
    "MATCH (b:ConsciousnessNode {id: pair[1]})-[:HAS_TRACE]->(u:Trace) "
    "RETURN pair[0], pair[1], 1.0 - vec.cosineDistance(t.embedding, u.embedding)",
)
"""How alike the memories of some pairs are, by their embeddings of today."""

COUNT_NODES: Final = Query("count_nodes", "MATCH (n) RETURN count(n)")


type NodeRow = Sequence[Any]
type LinkRow = Sequence[Any]


class Counts(NamedTuple):
    """How much a graph holds."""

    memories: int
    past_versions: int
    traces: int
    past_traces: int
    links: int
    past_links: int


class RarestLabel(NamedTuple):
    """The label that the fewest memories have now, by the name of its node, and how many have it."""

    name: str
    members: int


class Since(NamedTuple):
    """From when on a memory holds; whether that is of the record that it carries, and which version this is."""

    since: Instant
    carried: bool
    version: int


async def known_since(graph: Graph, memory_id: str) -> Since | None:
    """From when on a memory holds, as is known today; None for one that does not exist or was retracted."""
    header = {"id": memory_id, "open": END_OF_TIME}
    rows = await graph.read(KNOWN_SINCE, **header)
    if not rows:
        return None
    version, valid_at, before = rows[0]
    first = before is None or valid_at <= before
    return Since(valid_at if first else before, carried=first, version=version)


async def memory(graph: Graph, memory_id: str) -> NodeRow | None:
    """The record that the identity carries: `NODE_COLUMNS`, `PROVENANCE`; None when there is none."""
    rows = await graph.read(MEMORY, id=memory_id)
    return rows[0] if rows else None


async def history(graph: Graph, memory_id: str) -> list[NodeRow]:
    """All records of the identity in the order in which they became known: `NODE_COLUMNS`, `PROVENANCE`."""
    return list(await graph.read(HISTORY, id=memory_id))


async def saying(graph: Graph, keys: Sequence[int], now: Instant) -> list[NodeRow]:
    """Memories that hold now and whose text has one of the keys, oldest first: `NODE_COLUMNS`, `PROVENANCE`."""
    header = {"keys": list(keys), "open": END_OF_TIME, "now": now}
    return list(await graph.read(SAYING, **header))


async def link_history(graph: Graph, link: LinkName) -> list[LinkRow]:
    """All records of the link in the order in which they became known.

    A row is the ids of its ends, `LINK_COLUMNS`, `PROVENANCE`.
    """
    if link.ends is None:
        values: dict[str, Any] = {"id": link.id, "handle": link.handle}
        rows = await graph.read(NAMED_LINK_HISTORY, **values)
    else:
        values = {"id": link.id, "source_id": link.ends[0], "target_id": link.ends[1]}
        rows = await graph.read(LINK_HISTORY, **values)
    return [row[:-2] for row in sorted(rows, key=lambda row: (row[-2], row[-1]))]


async def receipts(graph: Graph, ids: Sequence[str]) -> dict[str, Kept]:
    """What is kept of these commands, by their ids; those never applied are left out."""
    rows = await graph.read(RECEIPTS, ids=list(ids))
    return {str(row[0]): Kept(*row) for row in rows}


async def pending_until(graph: Graph) -> int:
    """When the last scheduled change takes effect; 0 without one. Until then the past side is needed too."""
    rows = await graph.read(PENDING)
    return int(rows[0][0]) if rows else 0


async def counts(graph: Graph) -> Counts:
    """How many memories, past versions, traces and links the graph holds."""
    rows = await graph.read(schema_cypher.COUNTS)
    return Counts(*(value or 0 for value in rows[0]))


async def existing(graph: Graph, ids: Sequence[str]) -> dict[str, int | None]:
    """Which of the ids are memories of the graph, each with the fingerprint of the record that it carries."""
    rows = await graph.read(EXISTING, ids=list(ids))
    return {str(row[0]): row[1] for row in rows}


async def names_of(graph: Graph, ids: Sequence[str]) -> dict[str, list[str]]:
    """Every name that these memories have, had or are also called, by their ids; first the one they carry."""
    rows = await graph.read(NAMES_OF, ids=list(ids))
    found: dict[str, list[str]] = {}
    for memory_id, name, aliases in rows:
        found.setdefault(str(memory_id), []).extend([str(name), *(orjson.loads(aliases) if aliases else ())])
    return found


async def tag_sizes(graph: Graph, names: Sequence[str]) -> tuple[dict[str, int], int]:
    """How many memories have each of these `#tags`, without the sign, and how many memories there are."""
    rows = await graph.read(association_cypher.TAG_SIZES, names=list(names))
    return {str(row[0])[1:]: int(row[1]) for row in rows if row[0]}, max((int(row[2]) for row in rows), default=0)


async def rarest_label(graph: Graph, names: Sequence[str]) -> RarestLabel | None:
    """Of some `#tags` and `@buckets` the one that the fewest memories have now; None when there are no names."""
    if not names:
        return None
    rows = await graph.read(association_cypher.TAG_SIZES, names=list(names))
    sizes = {row[0]: int(row[1]) for row in rows if row[0]}
    return min((RarestLabel(name, sizes.get(name, 0)) for name in names), key=lambda label: label.members)


async def likeness(graph: Graph, pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """Cosine of the embeddings of each pair of memories; pairs without embeddings are left out."""
    rows = await graph.read(LIKENESS, pairs=[list(pair) for pair in pairs])
    return {(row[0], row[1]): float(row[2]) for row in rows if row[2] is not None}


async def count_nodes(graph: Graph) -> int:
    """Number of nodes, which the engine keeps: it costs nothing to ask. Raises GraphMissing as `Graph.read`."""
    [[count]] = await graph.read(COUNT_NODES)
    return int(count)
