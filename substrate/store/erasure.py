"""Removing memories for good, in shares that hold nobody up for long, and the marks that stay of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from hashlib import blake2b
from itertools import batched
from typing import Any, Final, NamedTuple

import orjson

from substrate.connection.errors import GraphMissing
from substrate.connection.pool import Connection, Row
from substrate.cypher.query import TRACE_LABELS, Query
from substrate.cypher.transfer import STATE_LABELS
from substrate.engine.append_log import delete_graph
from substrate.graphs.graph import Graph
from substrate.store.archive import drafts, held

MEMORIES_A_SHARE: Final = 20
RECORDS_A_SHARE: Final = 25
"""Each with two indexed vectors, which cost some milliseconds to take out."""
LINKS_A_SHARE: Final = 500
ROWS_A_PAGE: Final = 200
PAST_RECORDS_A_PAGE: Final = 10_000
MARKS: Final = "substrate:erasures"
"""A hash of the engine: digest of graph and command id → when. Nothing of what was erased, nor whose it was."""

_THOSE: Final = "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n "

PRESENT: Final = Query("erase_present", f"{_THOSE} RETURN n.id")

LINKS_OF: Final = Query(
    "erase_links_of",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id",
)
"""Ids of the next links, whose receipts go first."""

ERASE_LINKS: Final = Query(
    "erase_links",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]-(m) WHERE e.id IN $links WITH DISTINCT e "
    "WITH collect(e) AS gone WITH gone, size([e IN gone WHERE type(e) = 'LINK']) AS open "
    "FOREACH (e IN gone | DELETE e) RETURN open, size(gone) - open",
)
"""Remove links; how many were open, and how many past."""

ERASE_RECORDS: Final = Query(
    "erase_records",
    f"{_THOSE} MATCH (n)-[:HAD]->(p:PastVersion) WITH p LIMIT $rows "
    "OPTIONAL MATCH (p)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT p) AS records, collect(DISTINCT t) AS traces "
    "FOREACH (p IN records | DELETE p) FOREACH (t IN traces | DELETE t) RETURN size(records), size(traces)",
)
"""Remove past records with their traces; how many of each."""

ERASE_MEMORIES: Final = Query(
    "erase_memories",
    f"{_THOSE} WHERE outdegree(n, 'HAD') = 0 OPTIONAL MATCH (n)-[:HAS_TRACE|HAS_OTHER_TRACE]->(t) "
    "WITH collect(DISTINCT n) AS memories, collect(DISTINCT t) AS traces "
    "FOREACH (n IN memories | DELETE n) FOREACH (t IN traces | DELETE t) RETURN size(memories), size(traces)",
)
"""Remove memories that have no past record left, with their traces and what still hangs on them."""

ERASE_RECEIPTS: Final = Query(
    "erase_receipts",
    "MATCH (c:Receipt) WHERE c.id IN $ids OR c.command_id IN $commands "
    "WITH collect(c) AS gone FOREACH (c IN gone | DELETE c) RETURN size(gone)",
)

BARE_TAGS: Final = Query("erase_bare", "MATCH (g:Tag) WHERE indegree(g, 'TAGGED') = 0 RETURN g.name")
"""The tags that no memory has now."""

PAST_TAGS: Final = Query(
    "erase_past_tags",
    "MATCH (p:PastVersion) WHERE id(p) > $after WITH p LIMIT $rows RETURN max(id(p)), p.tags, p.buckets",
)
"""The tags and buckets that the next past records bear, each pair once, with the place of the last that does."""

ERASE_BARE_TAGS: Final = Query(
    "erase_bare_tags",
    "MATCH (g:Tag) WHERE g.name IN $names AND indegree(g, 'TAGGED') = 0 "
    "WITH collect(g) AS gone FOREACH (g IN gone | DELETE g) RETURN size(gone)",
)

OF_EPISODE: Final = Query(
    "erase_of_episode",
    "MATCH (n:ConsciousnessNode) WHERE n.episode_id = $episode WITH n LIMIT $rows RETURN n.id",
)

REST_OF_EPISODE: Final = Query(
    "erase_rest_of_episode",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id = $episode "
    "WITH n, collect(DISTINCT e.id) AS links "
    "RETURN id(n), n.id, size(links), n.command_id = $ingestion "
    "AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0",
)
"""The next memories: how many links of the episode each still has, and whether only the episode knew it."""

LINKS_OF_EPISODE: Final = Query(
    "erase_links_of_episode",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.episode_id = $episode "
    "WITH DISTINCT e LIMIT $rows RETURN DISTINCT e.id",
)


class Mark(NamedTuple):
    """What is kept of an erasure. `log_rewritten` is None while it is not finished."""

    at: int
    log_rewritten: bool | None = None


def mark_name(graph: str, command_id: str) -> str:
    """Under which name the mark of a command on the graph is kept."""
    return blake2b(f"{graph}\n{command_id}".encode(), digest_size=16).hexdigest()


async def mark(graph: Graph, command_id: str) -> Mark | None:
    """What is kept of a command on the graph; None when it was never carried out."""
    return await mark_of(graph.connection, mark_name(graph.name, command_id))


async def mark_of(connection: Connection, name: str) -> Mark | None:
    """The mark of this name."""
    kept = await connection.command("HGET", MARKS, name)
    return Mark(**orjson.loads(kept)) if kept else None


def mark_said(kept: Mark) -> str:
    """The mark as the engine keeps it."""
    return orjson.dumps(kept._asdict()).decode()


async def set_mark(graph: Graph, command_id: str, kept: Mark) -> None:
    """Keep that the command was begun, or finished."""
    await graph.connection.command("HSET", MARKS, mark_name(graph.name, command_id), mark_said(kept))


async def present(graph: Graph, ids: Sequence[str]) -> list[str]:
    """Which of the ids are memories of the graph."""
    return [row[0] for row in await graph.read(PRESENT, ids=list(ids))]


async def memories(graph: Graph, ids: Sequence[str]) -> Counter[str]:
    """Remove memories with all that hangs on them; how much of each kind. Safe to repeat."""
    removed: Counter[str] = Counter()
    for some in batched(ids, MEMORIES_A_SHARE):
        while share := await present(graph, some):
            removed += await _share(graph, share)
    return removed


async def _share(graph: Graph, ids: list[str]) -> Counter[str]:
    removed: Counter[str] = Counter()
    of_links = {"ids": ids, "rows": LINKS_A_SHARE}
    while links := [row[0] for row in await graph.read(LINKS_OF, **of_links)]:
        removed += await _links(graph, ids, links)
    of_records = {"ids": ids, "rows": RECORDS_A_SHARE}
    while (row := await _one(graph, ERASE_RECORDS, of_records))[0]:
        removed += Counter(records=row[0], traces=row[1])
    removed["receipts"] += await receipts(graph, ids, [])
    row = await _one(graph, ERASE_MEMORIES, {"ids": ids})
    return removed + Counter(memories=row[0], traces=row[1])


async def _links(graph: Graph, ids: list[str], links: list[str]) -> Counter[str]:
    """Remove links of memories, their receipts first: a repeated erasure would not find their ids again."""
    gone = await receipts(graph, links, [])
    row = await _one(graph, ERASE_LINKS, {"ids": ids, "links": links})
    return Counter(links=row[0], past_links=row[1], receipts=gone)


async def receipts(graph: Graph, ids: Sequence[str], commands: Sequence[str]) -> int:
    """Remove the receipts of commands on these memories or links, and of these commands."""
    values = {"ids": list(ids), "commands": list(commands)}
    return int((await _one(graph, ERASE_RECEIPTS, values))[0])


async def bare_tags(graph: Graph) -> set[str]:
    """Names of the tags that no memory has now; a past record may still bear them."""
    return {row[0] for row in await graph.read(BARE_TAGS)}


async def past_tags(graph: Graph) -> AsyncIterator[tuple[str | None, str | None]]:
    """The tags and the buckets that past records bear, as they are stored."""
    values = {"rows": PAST_RECORDS_A_PAGE, "after": -1}
    while page := await graph.read(PAST_TAGS, **values):
        values["after"] = max(row[0] for row in page)
        for _, tags_said, buckets_said in page:
            yield tags_said, buckets_said


async def tags(graph: Graph, names: Collection[str]) -> int:
    """Remove the tags of these names that no memory has; how many."""
    row = await _one(graph, ERASE_BARE_TAGS, {"names": sorted(names)})
    return int(row[0])


async def of_episode(graph: Graph, episode_id: str) -> list[str]:
    """Ids of the next memories of an episode; empty when none is left."""
    values = {"episode": episode_id, "rows": ROWS_A_PAGE}
    return [row[0] for row in await graph.read(OF_EPISODE, **values)]


async def rest_of_episode(graph: Graph, episode_id: str, ingestion: str) -> tuple[Counter[str], list[str]]:
    """Remove the links of an episode between other memories; give the ids of those that only it knew.

    `ingestion`: the id of the command that brought the episode in.
    """
    removed: Counter[str] = Counter()
    lone: list[str] = []
    values = {"episode": episode_id, "ingestion": ingestion, "rows": ROWS_A_PAGE}
    after = -1
    while page := await graph.read(REST_OF_EPISODE, **values, after=after):
        after = max(row[0] for row in page)
        lone += [row[1] for row in page if row[3] == "true"]
        linked = [row[1] for row in page if row[2]]
        header = {"ids": linked, "episode": episode_id, "rows": LINKS_A_SHARE}
        while links := [row[0] for row in await graph.read(LINKS_OF_EPISODE, **header)]:
            removed += await _links(graph, linked, links)
    return removed, lone


async def whole_graph(graph: Graph, delete: Callable[[], Awaitable[None]]) -> Counter[str]:
    """Remove a graph, by `delete`, and its unfinished imports; how much of each kind it held."""
    for draft in await drafts(graph):
        await delete_graph(graph.connection, draft)
    try:
        labels, types = await held(graph)
    except GraphMissing:
        return Counter()
    await delete()
    return Counter(
        memories=labels.get("ConsciousnessNode", 0),
        records=labels.get("PastVersion", 0),
        traces=sum(labels.get(label, 0) for label in TRACE_LABELS),
        links=types.get("LINK", 0),
        past_links=types.get("PAST_LINK", 0),
        tags=labels.get("Tag", 0),
        receipts=labels.get("Receipt", 0),
        states=sum(labels.get(label, 0) for label in STATE_LABELS),
    )


async def forget_queries(graph: Graph) -> None:
    """Remove what the engine itself keeps of past queries: its telemetry and its lists of slow ones."""
    await graph.connection.command("DEL", f"telemetry{{{graph.name}}}")
    await graph.connection.command("SLOWLOG", "RESET")
    try:
        await graph.connection.command("GRAPH.SLOWLOG", graph.name, "RESET")
    except GraphMissing:
        return


async def _one(graph: Graph, query: Query, values: Mapping[str, Any]) -> Row:
    [row] = await graph.write(query, **values)
    return row
