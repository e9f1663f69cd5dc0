"""Reads for a mirror: what decides the place of each memory, page by page, and whole records of some memories.

All reads of a mirror see one scope, so that it shows one moment however long they take.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import END_OF_TIME, Instant, Scope
from substrate.connection.pool import Row
from substrate.cypher.fragments import columns_of, node_columns, records_of, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.listing import NEXT_RANGE
from substrate.store.reader import pending_until

MEMORIES_A_READ: Final = 500
LINKS_A_READ: Final = 2000
CHANGES_A_READ: Final = 5000
LABEL_READ: Final = 200
"""Characters of a text that are read for its label."""
KEY_COLUMNS: Final = (
    "id", "version", "created_at", "valid_at", "invalid_at", "node_type", "name", "speaker", "tags", "buckets",
    "source", "episode_id", "unset",
)  # fmt: skip

_IN_RANGE: Final = "MATCH (i:ConsciousnessNode) WHERE id(i) >= $first AND id(i) <= $last WITH i "

MIRROR_KEYS: Final = Query(
    "mirror_keys",
    f"{_IN_RANGE} WITH i, {visible('i')} AS carried UNWIND [CASE WHEN carried THEN null ELSE i END] AS j "
    f"OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
    "WITH CASE WHEN carried THEN i ELSE p END AS m WITH m WHERE m IS NOT NULL "
    f"RETURN {columns_of('m', KEY_COLUMNS)}, left(toStringOrNull(m.description), {LABEL_READ}), "
    "size(m.description), CASE WHEN m.extra CONTAINS '\"path\"' THEN m.extra ELSE null END",
)
"""What decides the place and the label of the visible memories of a range.

The past is searched only where the record that the identity carries is not the visible one.
"""

MIRROR_LINKS: Final = Query(
    "mirror_links",
    f"{_IN_RANGE} MATCH (i)-[e:LINK|PAST_LINK]->(j) WHERE {visible('e')} "
    "WITH i, e, j SKIP $skip LIMIT $rows RETURN i.id, j.id, e.relation_type",
)
"""The visible links that begin at the memories of a range."""

MIRROR_MADE_TAGS: Final = Query(
    "mirror_made_tags",
    f"{_IN_RANGE} MATCH (i)-[:MADE_TAG]->(g:Tag) RETURN i.id, coalesce(g.shown, g.name) ORDER BY i.id, g.name",
)
"""The made tags of the memories of a range, as a reader sees them."""

MIRROR_RECORDS: Final = Query(
    "mirror_records",
    f"UNWIND $ids AS id MATCH (i:ConsciousnessNode {{id: id}}) WITH i {records_of('i', 'm')} "
    f"RETURN {node_columns('m')}",
)
"""The whole visible records of some memories."""

NEXT_CHANGE: Final = Query(
    "mirror_next_change",
    f"{_IN_RANGE} WITH i WHERE i.expired_at = $open "
    "UNWIND [i.valid_at, i.invalid_at] AS at WITH at WHERE at > $now AND at < $open RETURN min(at)",
)
"""When the first record that a memory of a range carries begins or ceases to hold, of itself."""

NEXT_PAST_CHANGE: Final = Query(
    "mirror_next_past_change",
    f"{_IN_RANGE} MATCH (i)-[:HAD]->(p:PastVersion) WHERE p.expired_at = $open "
    "UNWIND [p.valid_at, p.invalid_at] AS at WITH at WHERE at > $now AND at < $open RETURN min(at)",
)
"""The same for the other open records of the memories; needed only while a scheduled change is ahead."""


class KeyRow(NamedTuple):
    """The columns of `MIRROR_KEYS`; then beginning and length of the text, `extra` if it may name a file."""

    id: str
    version: int
    created_at: Instant
    valid_at: Instant
    invalid_at: Instant
    node_type: str
    name: str
    speaker: str | None
    tags: str | None
    buckets: str | None
    source: str | None
    episode_id: str | None
    unset: str | None
    text: str | None
    length: int | None
    extra: str | None


type Rest = Callable[[], Awaitable[None]]


async def _ranges(graph: Graph, size: int = MEMORIES_A_READ) -> AsyncIterator[dict[str, Any]]:
    first = 0
    while True:
        [[last, count]] = await graph.read(NEXT_RANGE, first=first, rows=size)
        if not count:
            return
        yield {"first": first, "last": last}
        first = last + 1


async def read_keys(graph: Graph, scope: Scope, rest: Rest) -> AsyncIterator[KeyRow]:
    """The keys of all visible memories; `rest` is awaited between two reads."""
    async for ids in _ranges(graph):
        for row in await graph.read(MIRROR_KEYS, **scope.bounds(), **ids):
            yield KeyRow(*row)
        await rest()


async def read_link_ends(graph: Graph, scope: Scope, rest: Rest) -> AsyncIterator[Row]:
    """The ids of both ends and the type of all visible links; `rest` is awaited between two reads."""
    async for ids in _ranges(graph):
        skip = 0
        while True:
            rows = await graph.read(MIRROR_LINKS, **scope.bounds(), **ids, skip=skip, rows=LINKS_A_READ)
            for row in rows:
                yield row
            await rest()
            if len(rows) < LINKS_A_READ:
                break
            skip += LINKS_A_READ


async def read_made_tags(graph: Graph, rest: Rest) -> dict[str, list[str]]:
    """The made tags of all memories by their ids; `rest` is awaited between two reads."""
    made: dict[str, list[str]] = {}
    async for ids in _ranges(graph):
        for memory_id, shown in await graph.read(MIRROR_MADE_TAGS, **ids):
            made.setdefault(memory_id, []).append(str(shown).removeprefix("#"))
        await rest()
    return made


async def next_change(graph: Graph, now: Instant, rest: Rest) -> Instant:
    """When a memory next begins or ceases to hold without any command; `END_OF_TIME` for never."""
    is_scheduled = now < await pending_until(graph)
    found = END_OF_TIME
    async for ids in _ranges(graph, CHANGES_A_READ):
        for query in (NEXT_CHANGE, NEXT_PAST_CHANGE) if is_scheduled else (NEXT_CHANGE,):
            for [at] in await graph.read(query, now=now, open=END_OF_TIME, **ids):
                found = found if at is None else min(found, at)
            await rest()
    return found


async def read_records(graph: Graph, ids: Sequence[str], scope: Scope) -> list[Row]:
    """The visible records of these memories, in the order of `NODE_COLUMNS`; those without one are left out."""
    return list(await graph.read(MIRROR_RECORDS, ids=list(ids), **scope.bounds()))
