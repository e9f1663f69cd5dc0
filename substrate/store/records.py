"""Reads of one memory or one link: as a moment sees it, and its history a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from schemas.temporal import BEGINNING_OF_TIME, Instant, Scope
from substrate.cypher.fragments import PROVENANCE, columns_of, link_columns, node_columns, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import LINK_PLACE, NODE_PLACE, LinkName


def _node(name: str) -> str:
    return f"{node_columns(name)}, {columns_of(name, PROVENANCE)}"


def _link(name: str) -> str:
    return f"{link_columns(name)}, {columns_of(name, PROVENANCE)}"


MEMORY_SEEN: Final = Query(
    "memory_seen",
    f"MATCH (i:ConsciousnessNode {{id: $id}}) WITH i, {visible('i')} AS carried "
    "UNWIND [CASE WHEN carried THEN null ELSE i END] AS j "
    f"OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
    "WITH i, carried, p ORDER BY p.created_at DESC, p.valid_at DESC LIMIT 1 "
    f"WITH CASE WHEN carried THEN i ELSE p END AS n RETURN {_node('n')}",
)
"""The record of a memory that a scope of one moment sees; a row of nulls for one that is not there then."""

_OF_LINK: Final = (
    f"WITH now, known, count(p) AS gone, collect(CASE WHEN {visible('p')} THEN p ELSE null END) AS past "
    "WITH known + gone AS known, now + past AS seen "
    "WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e "
    f"RETURN known, startNode(e).id, endNode(e).id, {_link('e')}"
)

LINK_SEEN: Final = Query(
    "link_seen",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    "WITH a, b LIMIT 1 OPTIONAL MATCH (a)-[e:LINK]->(b) WHERE e.id = $id WITH a, b, collect(e) AS held "
    f"WITH a, b, [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE a END] AS s "
    f"OPTIONAL MATCH (s)-[p:PAST_LINK]->(b) WHERE p.id = $id {_OF_LINK}",
)
"""How many records of a link were looked at, and the one that a scope of one moment sees, led by its ends."""

NAMED_LINK_SEEN: Final = Query(
    "named_link_seen",
    "OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->() WHERE e.id = $id WITH collect(e) AS held "
    f"WITH [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle "
    f"OPTIONAL MATCH ()-[p:PAST_LINK {{handle: handle}}]->() WHERE p.id = $id {_OF_LINK}",
)
"""The same of a link with an id of its own."""


def _behind(name: str) -> str:
    """Known before `$known_to`, and behind the place where the page before ended."""
    return (
        f"{name}.created_at < $known_to AND ({name}.created_at > $known_at "
        f"OR ({name}.created_at = $known_at AND {name}.valid_at > $held_at))"
    )


def _first(name: str, carried: str) -> str:
    return f"WITH {carried} ORDER BY {name}.created_at, {name}.valid_at LIMIT $limit "


HISTORY_PAGE: Final = Query(
    "history_page",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_behind('p')} WITH i, collect(p) AS past "
    f"UNWIND past + CASE WHEN {_behind('i')} THEN [i] ELSE [] END AS n {_first('n', 'n')} RETURN {_node('n')}",
)
"""The next records of a memory, in the order in which they became known."""

_LINK_PAGE: Final = (
    f"WHERE e.id = $id AND {_behind('e')} {_first('e', 'a, e, b')} "
    f"RETURN a.id, b.id, {_link('e')}, e.created_at AS known, e.valid_at AS held "
)

LINK_HISTORY_PAGE: Final = Query(
    "link_history_page",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    f"WITH a, b LIMIT 1 MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK_PAGE}",
)
"""The next records of a link that is found through its ends; last its place."""

NAMED_LINK_HISTORY_PAGE: Final = Query(
    "named_link_history_page",
    f"MATCH (a)-[e:LINK {{handle: $handle}}]->(b) {_LINK_PAGE} "
    f"UNION ALL MATCH (a)-[e:PAST_LINK {{handle: $handle}}]->(b) {_LINK_PAGE}",
)
"""The same of a link with an id of its own, of either side as many."""

CLOCK: Final = Query("clock", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN m.clock LIMIT 1")
"""The last transaction time of a graph."""


type Row = Sequence[Any]


class Place(NamedTuple):
    """Where a page of a history begins: behind the record that became known, and holds, from here on."""

    known_at: Instant = BEGINNING_OF_TIME
    held_at: Instant = BEGINNING_OF_TIME


class Wanted(NamedTuple):
    """A page of a history: at most so many records behind a place, of those known before `known_to`."""

    known_to: Instant
    limit: int
    start: Place


class Seen(NamedTuple):
    """Whether there is such a memory or link at all, and its record of the moment, None when it has none then."""

    exists: bool
    row: Row | None


async def memory_seen(graph: Graph, memory_id: str, scope: Scope) -> Seen:
    """The record that a scope of one moment sees: `NODE_COLUMNS`, `PROVENANCE`."""
    rows = await graph.read(MEMORY_SEEN, id=memory_id, **scope.bounds())
    if not rows:
        return Seen(exists=False, row=None)
    return Seen(exists=True, row=None if rows[0][0] is None else rows[0])


async def link_seen(graph: Graph, link: LinkName, scope: Scope) -> Seen:
    """The link record that a scope of one moment sees: the ids of its ends, `LINK_COLUMNS`, `PROVENANCE`."""
    query, values = _of(link, LINK_SEEN, NAMED_LINK_SEEN)
    rows = await graph.read(query, **values, **scope.bounds())
    if not rows or not rows[0][0]:
        return Seen(exists=False, row=None)
    return Seen(exists=True, row=None if rows[0][1] is None else rows[0][1:])


async def history(graph: Graph, memory_id: str, wanted: Wanted) -> list[Row]:
    """Records of a memory in the order in which they became known: `NODE_COLUMNS`, `PROVENANCE`."""
    header = {"id": memory_id, **_page(wanted)}
    return list(await graph.read(HISTORY_PAGE, **header))


async def link_history(graph: Graph, link: LinkName, wanted: Wanted) -> list[Row]:
    """Records of a link in that order: the ids of its ends, `LINK_COLUMNS`, `PROVENANCE`."""
    query, values = _of(link, LINK_HISTORY_PAGE, NAMED_LINK_HISTORY_PAGE)
    rows = await graph.read(query, **values, **_page(wanted))
    return [row[:-2] for row in sorted(rows, key=itemgetter(-2, -1))[: wanted.limit]]


def memory_place(row: Row) -> Place:
    """Where the history of a memory goes on behind this record."""
    return Place(row[NODE_PLACE["created_at"]], row[NODE_PLACE["valid_at"]])


def link_place(row: Row) -> Place:
    """Where the history of a link goes on behind this record; the ids of its ends come first in the row."""
    return Place(row[2 + LINK_PLACE["created_at"]], row[2 + LINK_PLACE["valid_at"]])


def _of(link: LinkName, by_ends: Query, by_handle: Query) -> tuple[Query, dict[str, Any]]:
    if link.ends is None:
        return by_handle, {"id": link.id, "handle": link.handle}
    return by_ends, {"id": link.id, "source_id": link.ends[0], "target_id": link.ends[1]}


def _page(wanted: Wanted) -> dict[str, Any]:
    return {"known_to": wanted.known_to, "limit": wanted.limit, **wanted.start._asdict()}


async def clock(graph: Graph, now: Instant) -> Instant:
    """The last transaction time of the graph; `now` for one that was never written to."""
    rows = await graph.read(CLOCK)
    return int(rows[0][0]) if rows and rows[0][0] is not None else now
