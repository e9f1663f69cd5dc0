"""Reads of single memories and of what a graph holds: one async function per named read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from schemas.temporal import END_OF_TIME, Instant
from substrate.cypher import association as association_cypher
from substrate.cypher import read as cypher
from substrate.cypher import schema as schema_cypher
from substrate.graphs.graph import Graph
from substrate.store.rows import Kept, LinkName

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
    rows = await graph.read(cypher.KNOWN_SINCE, **header)
    if not rows:
        return None
    version, valid_at, before = rows[0]
    first = before is None or valid_at <= before
    return Since(valid_at if first else before, carried=first, version=version)


async def memory(graph: Graph, memory_id: str) -> NodeRow | None:
    """The record that the identity carries: `NODE_COLUMNS`, `PROVENANCE`; None when there is none."""
    rows = await graph.read(cypher.MEMORY, id=memory_id)
    return rows[0] if rows else None


async def history(graph: Graph, memory_id: str) -> list[NodeRow]:
    """All records of the identity in the order in which they became known: `NODE_COLUMNS`, `PROVENANCE`."""
    return list(await graph.read(cypher.HISTORY, id=memory_id))


async def saying(graph: Graph, keys: Sequence[int], now: Instant) -> list[NodeRow]:
    """Memories that hold now and whose text has one of the keys, oldest first: `NODE_COLUMNS`, `PROVENANCE`."""
    header = {"keys": list(keys), "open": END_OF_TIME, "now": now}
    return list(await graph.read(cypher.SAYING, **header))


async def link_history(graph: Graph, link: LinkName) -> list[LinkRow]:
    """All records of the link in the order in which they became known.

    A row is the ids of its ends, `LINK_COLUMNS`, `PROVENANCE`.
    """
    if link.ends is None:
        values: dict[str, Any] = {"id": link.id, "handle": link.handle}
        rows = await graph.read(cypher.NAMED_LINK_HISTORY, **values)
    else:
        values = {"id": link.id, "source_id": link.ends[0], "target_id": link.ends[1]}
        rows = await graph.read(cypher.LINK_HISTORY, **values)
    return [row[:-2] for row in sorted(rows, key=lambda row: (row[-2], row[-1]))]


async def receipts(graph: Graph, ids: Sequence[str]) -> dict[str, Kept]:
    """What is kept of these commands, by their ids; those never applied are left out."""
    rows = await graph.read(cypher.RECEIPTS, ids=list(ids))
    return {str(row[0]): Kept(*row) for row in rows}


async def pending_until(graph: Graph) -> int:
    """When the last scheduled change takes effect; 0 without one. Until then the past side is needed too."""
    rows = await graph.read(cypher.PENDING)
    return int(rows[0][0]) if rows else 0


async def counts(graph: Graph) -> Counts:
    """How many memories, past versions, traces and links the graph holds."""
    rows = await graph.read(schema_cypher.COUNTS)
    return Counts(*(value or 0 for value in rows[0]))


async def existing(graph: Graph, ids: Sequence[str]) -> dict[str, int | None]:
    """Which of the ids are memories of the graph, each with the fingerprint of the record that it carries."""
    rows = await graph.read(cypher.EXISTING, ids=list(ids))
    return {str(row[0]): row[1] for row in rows}


async def names_of(graph: Graph, ids: Sequence[str]) -> dict[str, list[str]]:
    """Every name that these memories have, had or are also called, by their ids; first the one they carry."""
    rows = await graph.read(cypher.NAMES_OF, ids=list(ids))
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
    rows = await graph.read(cypher.LIKENESS, pairs=[list(pair) for pair in pairs])
    return {(row[0], row[1]): float(row[2]) for row in rows if row[2] is not None}
