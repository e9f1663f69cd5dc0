"""Finds what came from a distrusted source and what follows from it, and keeps the quarantines of a graph.

A quarantine is one `Quarantine` node. The ids of its commands are its id and a number below `used`, so the
receipts tell what it did. Its data is JSON. `held` of a feedback is the id of the quarantine that put it aside.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import batched
from typing import Any, Final, NamedTuple

import orjson

from orchestration.features.withholding.rules import Row
from schemas.memory import ResolutionState, Source
from schemas.temporal import END_OF_TIME, Instant, to_instant
from substrate.cypher.fragments import CLOCK, TELL_FEED, tells
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.applied import event_of
from substrate.store.derived import change_count

LABEL: Final = "Quarantine"
ENDED: Final = ("hidden", "released", "retracted")
"""What the feed is told."""
MEMORIES_A_PAGE: Final = 200
IDS_AT_ONCE: Final = 50

_FITS: Final = (
    "($source = '' OR {0}.source = $source OR {0}.closed_source = $source) "
    "AND ($key = '' OR {0}.key_id = $key OR {0}.closed_key = $key) "
    "AND ($episode = '' OR {0}.episode_id = $episode) "
    "AND ({0}.created_at >= $since OR {0}.expired_at >= $since) AND {0}.created_at < $until"
)
"""A wide net over the records; `quarantine_rules` decides by the changes that they tell."""

SUSPECTS: Final = Query(
    "quarantine_suspects",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WITH n, collect(p) AS past "
    f"RETURN id(n), n.id, any(x IN past + [n] WHERE {_FITS.format('x')}) ORDER BY id(n)",
)
LINK_SUSPECTS: Final = Query(
    "quarantine_link_suspects",
    "MATCH (n:ConsciousnessNode) WHERE id(n) >= $first AND id(n) <= $last WITH n "
    f"MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE {_FITS.format('e')} RETURN DISTINCT e.id",
)
_THOSE: Final = "MATCH (n:ConsciousnessNode) WHERE n.id IN $ids WITH n "
LINKS_AT: Final = Query("quarantine_links_at", f"{_THOSE} MATCH (n)-[e:LINK]-(m) RETURN DISTINCT e.id")
BARE_NAMES: Final = Query(
    "quarantine_bare_names",
    f"{_THOSE} MATCH (n)-[e:LINK]-(m) WHERE NOT {tells('m')} OR (m.node_type IN $kinds "
    "AND coalesce(m.description, '') = '' AND NOT m.source IN $own) "
    "WITH m, count(e) AS ways RETURN m.id, ways, indegree(m, 'LINK') + outdegree(m, 'LINK')",
)
"""Memories that are only a name: how many of their links lead to some memories, and how many they have."""
GENERAL: Final = Query(
    "quarantine_general", f"{_THOSE} MATCH (m)-[e:LINK]->(n) WHERE e.relation_type = 'GENERALISES' RETURN m.id"
)
RESOLVED: Final = Query(
    "quarantine_resolved",
    f"{_THOSE} MATCH (m)-[e:LINK|PAST_LINK]->(n) WHERE e.relation_type = 'RESOLVED_BY' "
    "AND e.unset IS NOT NULL RETURN m.id, min(e.created_at)",
)
"""What was inferred to be resolved by some memories, and when."""
MENTIONED: Final = Query(
    "quarantine_mentioned",
    f"{_THOSE} MATCH (n)-[e:LINK|PAST_LINK]->(m) WHERE e.relation_type = 'MENTIONS' "
    "AND m.version > 1 RETURN DISTINCT m.id, e.created_at",
)
READ_ALL: Final = Query("quarantines", f"MATCH (q:{LABEL}) RETURN q.id, q.created_at, q.used, q.data")
WRITE: Final = Query(
    "write_quarantine",
    f"MATCH (m:SubstrateMeta {{key: 'stamp'}}) {TELL_FEED} WITH m LIMIT 1 "
    f"MERGE (q:{LABEL} {{id: $id}}) ON CREATE SET q.created_at = $at "
    "SET q.used = $used, q.data = $data RETURN q.id",
)
HOLD_FEEDBACK: Final = Query(
    "hold_feedback",
    f"{CLOCK} MATCH (f:Feedback) WHERE f.held IS NULL AND any(x IN f.used + f.wrong WHERE x IN $ids) "
    "WITH m, at, collect(f) AS those WHERE size(those) > 0 "
    "FOREACH (f IN those | SET f.held = $quarantine) SET m.clock = at, m.feedback_at = at RETURN size(those)",
)
RELEASE_FEEDBACK: Final = Query(
    "release_feedback",
    f"{CLOCK} MATCH (f:Feedback) WHERE f.held = $quarantine WITH m, at, collect(f) AS those "
    "WHERE size(those) > 0 FOREACH (f IN those | SET f.held = null) "
    "SET m.clock = at, m.feedback_at = at RETURN size(those)",
)
DROP_FEEDBACK: Final = Query(
    "drop_held_feedback",
    "MATCH (f:Feedback) WHERE f.held = $quarantine WITH collect(f) AS those "
    "FOREACH (f IN those | DELETE f) RETURN size(those)",
)


class StoredQuarantine(NamedTuple):
    """A quarantine as it is stored: when it was made, how many command ids it used, and its data."""

    id: str
    created_at: Instant
    used: int
    data: Mapping[str, Any]


class BareName(NamedTuple):
    """A memory that is only a name: its links to the memories asked about, and all its links."""

    id: str
    ways: int
    links: int


class SuspectPage(NamedTuple):
    """The ids of the memories and links of a page that may be meant."""

    memories: Sequence[str]
    links: Sequence[str]


async def read_suspects(graph: Graph, net: Mapping[str, Any], *, links: bool) -> AsyncIterator[SuspectPage]:
    """What may be meant, page by page through the graph. `net`: source, key, episode ('': any), since, until.

    Raises as `Graph.read`.
    """
    after = -1
    while page := await graph.read(SUSPECTS, **net, after=after, rows=MEMORIES_A_PAGE):
        first, after = page[0][0], page[-1][0]
        ids = [row[1] for row in page if row[2] in (True, "true")]
        found = await graph.read(LINK_SUSPECTS, **net, first=first, last=after) if links else []
        yield SuspectPage(ids, [row[0] for row in found])


async def _read_of(graph: Graph, query: Query, ids: Iterable[str], **values: Any) -> list[Sequence[Any]]:
    rows: list[Sequence[Any]] = []
    for group in batched(ids, IDS_AT_ONCE):
        rows += await graph.read(query, ids=list(group), **values)
    return rows


async def read_links_at(graph: Graph, ids: Iterable[str]) -> list[str]:
    """The ids of the links that begin or end at some memories."""
    return list(dict.fromkeys(row[0] for row in await _read_of(graph, LINKS_AT, ids)))


async def read_bare_names(
    graph: Graph, ids: Iterable[str], kinds: Sequence[str], own: Sequence[str]
) -> list[BareName]:
    """The memories that are only a name, among those linked with some memories; one row for each group of ids.

    `kinds`: types of memories that name something, which count unless one of the sources `own` wrote them.
    """
    rows = await _read_of(graph, BARE_NAMES, ids, kinds=list(kinds), own=list(own))
    return [BareName(row[0], int(row[1]), int(row[2])) for row in rows]


async def read_general(graph: Graph, ids: Iterable[str]) -> list[str]:
    """The ids of the memories that generalise some memories."""
    return [row[0] for row in await _read_of(graph, GENERAL, ids)]


async def read_resolved(graph: Graph, ids: Iterable[str]) -> list[tuple[str, Instant]]:
    """The ids of what was inferred to be resolved by some memories, and when that was."""
    return [(row[0], int(row[1])) for row in await _read_of(graph, RESOLVED, ids)]


async def read_mentioned(graph: Graph, ids: Iterable[str]) -> dict[str, list[Instant]]:
    """When some memories were linked with the names that they mention, by the id of the name."""
    found: dict[str, list[Instant]] = {}
    for name, at in await _read_of(graph, MENTIONED, ids):
        found.setdefault(name, []).append(int(at))
    return found


async def read_quarantines(graph: Graph) -> list[StoredQuarantine]:
    """All quarantines of the graph, the newest first."""
    rows = await graph.read(READ_ALL)
    found = [StoredQuarantine(row[0], int(row[1]), int(row[2]), orjson.loads(row[3])) for row in rows]
    return sorted(found, key=lambda each: (each.created_at, each.id), reverse=True)


async def write_quarantine(graph: Graph, kept: StoredQuarantine) -> None:
    """Store a quarantine, or what has changed of it."""
    data = orjson.dumps(kept.data).decode()
    status, ended_at = kept.data.get("status"), kept.data.get("ended_at")
    at = kept.created_at if ended_at is None else to_instant(datetime.fromisoformat(ended_at))
    news = event_of("quarantine", at, id=kept.id, type=status) if status in ENDED else []
    await graph.write(WRITE, id=kept.id, at=kept.created_at, used=kept.used, data=data, told=news)


async def hold_feedback(graph: Graph, quarantine: str, ids: Iterable[str], now: Instant) -> int:
    """Put aside the feedback that names one of these memories; returns how many."""
    held = 0
    for group in batched(ids, IDS_AT_ONCE):
        held += await change_count(graph, HOLD_FEEDBACK, quarantine=quarantine, ids=list(group), at=now)
    return held


async def release_feedback(graph: Graph, quarantine: str, now: Instant) -> int:
    """Let the feedback that the quarantine put aside teach again; returns how many."""
    return await change_count(graph, RELEASE_FEEDBACK, quarantine=quarantine, at=now)


async def drop_feedback(graph: Graph, quarantine: str) -> int:
    """Remove the feedback that the quarantine put aside; returns how many."""
    return await change_count(graph, DROP_FEEDBACK, quarantine=quarantine)


POLICY: Final = "RetentionPolicy"
ROWS_A_PAGE: Final = 200

POLICIES: Final = Query("policies", f"MATCH (p:{POLICY}) RETURN p.id, p.data ORDER BY p.id")
SET_POLICY: Final = Query(
    "set_policy", f"MERGE (p:{POLICY} {{id: $id}}) SET p.data = $data, p.created_at = $at RETURN p.id"
)
REMOVE_POLICY: Final = Query(
    "remove_policy",
    f"MATCH (p:{POLICY} {{id: $id}}) WITH collect(p) AS gone FOREACH (p IN gone | DELETE p) RETURN size(gone)",
)
KEPT_PAGE: Final = Query(
    "kept_page",
    "MATCH (n:ConsciousnessNode) WHERE id(n) > $after WITH n LIMIT $rows "
    "RETURN id(n), n.expired_at = $open, n.id, n.name, n.source, n.node_type, n.tags, n.resolution_state, "
    "n.created_at, n.valid_at ORDER BY id(n)",
)


class KeptPage(NamedTuple):
    """The memories of a page that hold, and the internal id after which there may be more; None at the end."""

    rows: tuple[Row, ...]
    seen: int
    next: int | None


async def read_policies(graph: Graph) -> dict[str, Mapping[str, Any]]:
    """The policies of the graph, by name. Raises as `Graph.read`."""
    return {row[0]: orjson.loads(row[1]) for row in await graph.read(POLICIES)}


async def set_policy(graph: Graph, name: str, data: Mapping[str, Any], now: Instant) -> None:
    """Store a policy, in place of one with the same name."""
    await graph.write(SET_POLICY, id=name, data=orjson.dumps(data).decode(), at=now)


async def remove_policy(graph: Graph, name: str) -> bool:
    """Remove a policy; False when there is none with this name."""
    return await change_count(graph, REMOVE_POLICY, id=name) > 0


async def read_kept(graph: Graph, after: int, limit: int = ROWS_A_PAGE) -> KeptPage:
    """The next memories after an internal id, as far as a record of them is believed. Raises as `Graph.read`."""
    page = await graph.read(KEPT_PAGE, after=after, rows=limit, open=END_OF_TIME)
    held: list[Row] = []
    for _, is_open, memory_id, name, source, node_type, tags, state, written, happened in page:
        if is_open in (True, "true"):
            tagged = tuple(orjson.loads(tags or "[]"))
            by = Source(source or Source.CITIZEN)  # one from before sources were stored
            work = None if state is None else ResolutionState(state)
            held.append(Row(memory_id, name, by, node_type, tagged, work, int(written), int(happened)))
    return KeptPage(tuple(held), len(page), page[-1][0] if len(page) == limit else None)
