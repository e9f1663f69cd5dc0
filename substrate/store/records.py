"""Reads of one memory or one link: its record at a moment, and its history page by page.

At most one record of an identity is visible at a moment, because no two of them overlap on both time axes. So the
past is searched only when the record that the identity carries is not the visible one.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from schemas.temporal import BEGINNING_OF_TIME, Instant, Scope
from substrate.cypher.fragments import (
    NODE_COLUMNS,
    PROVENANCE,
    columns_of,
    found_columns,
    link_columns,
    node_columns,
    records_of,
    visible,
)
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import LINK_PLACE, NODE_PLACE, LinkName
from substrate.store.search import findable


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
"""The visible record of a memory; a row of nulls when the memory exists but has no record at that moment."""

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
"""Number of records found, then the ids of both ends and the visible record; nulls when none is."""

NAMED_LINK_SEEN: Final = Query(
    "named_link_seen",
    "OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->() WHERE e.id = $id WITH collect(e) AS held "
    f"WITH [e IN held WHERE {visible('e')}] AS now, size(held) AS known "
    "UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle "
    f"OPTIONAL MATCH ()-[p:PAST_LINK {{handle: handle}}]->() WHERE p.id = $id {_OF_LINK}",
)
"""The same for a link that has a handle."""


def _is_after(name: str) -> str:
    """Predicate: the record became known before `$known_to` and comes after the previous page."""
    return (
        f"{name}.created_at < $known_to AND ({name}.created_at > $known_at "
        f"OR ({name}.created_at = $known_at AND {name}.valid_at > $held_at))"
    )


def _first(name: str, carried: str) -> str:
    return f"WITH {carried} ORDER BY {name}.created_at, {name}.valid_at LIMIT $limit "


HISTORY_PAGE: Final = Query(
    "history_page",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_is_after('p')} WITH i, collect(p) AS past "
    f"UNWIND past + CASE WHEN {_is_after('i')} THEN [i] ELSE [] END AS n {_first('n', 'n')} RETURN {_node('n')}",
)
"""The next records of a memory, by transaction time, then valid time."""

_LINK_PAGE: Final = (
    f"WHERE e.id = $id AND {_is_after('e')} {_first('e', 'a, e, b')} "
    f"RETURN a.id, b.id, {_link('e')}, e.created_at AS known, e.valid_at AS held "
)

LINK_HISTORY_PAGE: Final = Query(
    "link_history_page",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    f"WITH a, b LIMIT 1 MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK_PAGE}",
)
"""The next records of a link that is found through its ends; the last two columns are its position."""

NAMED_LINK_HISTORY_PAGE: Final = Query(
    "named_link_history_page",
    f"MATCH (a)-[e:LINK {{handle: $handle}}]->(b) {_LINK_PAGE} "
    f"UNION ALL MATCH (a)-[e:PAST_LINK {{handle: $handle}}]->(b) {_LINK_PAGE}",
)
"""The same for a link that has a handle; up to `$limit` open and `$limit` past records."""

CLOCK: Final = Query("clock", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN m.clock LIMIT 1")


type Row = Sequence[Any]


class HistoryPosition(NamedTuple):
    """Where a page of a history begins: after the record with this transaction time and valid time."""

    known_at: Instant = BEGINNING_OF_TIME
    held_at: Instant = BEGINNING_OF_TIME


class HistoryQuery(NamedTuple):
    """A page of a history: at most `limit` records after `start`, of those known before `known_to`."""

    known_to: Instant
    limit: int
    start: HistoryPosition


class RecordLookup(NamedTuple):
    """The record of a memory or link at a moment. `row` is None when it `exists` but has no record then."""

    exists: bool
    row: Row | None


async def read_memory(graph: Graph, memory_id: str, scope: Scope) -> RecordLookup:
    """Read the visible record of a memory; `scope` is one moment. The row: `NODE_COLUMNS`, `PROVENANCE`."""
    rows = await graph.read(MEMORY_SEEN, id=memory_id, **scope.bounds())
    if not rows:
        return RecordLookup(exists=False, row=None)
    return RecordLookup(exists=True, row=None if rows[0][0] is None else rows[0])


async def read_link(graph: Graph, link: LinkName, scope: Scope) -> RecordLookup:
    """Read the visible record of a link; `scope` is one moment.

    The row: the ids of both ends, `LINK_COLUMNS`, `PROVENANCE`.
    """
    query = NAMED_LINK_SEEN if link.ends is None else LINK_SEEN
    rows = await graph.read(query, **_link_values(link), **scope.bounds())
    if not rows or not rows[0][0]:
        return RecordLookup(exists=False, row=None)
    return RecordLookup(exists=True, row=None if rows[0][1] is None else rows[0][1:])


async def read_history(graph: Graph, memory_id: str, page: HistoryQuery) -> list[Row]:
    """Read a page of a memory's records by transaction time. A row: `NODE_COLUMNS`, `PROVENANCE`."""
    return list(await graph.read(HISTORY_PAGE, id=memory_id, **_page_values(page)))


async def read_link_history(graph: Graph, link: LinkName, page: HistoryQuery) -> list[Row]:
    """Read a page of a link's records by transaction time.

    A row: the ids of both ends, `LINK_COLUMNS`, `PROVENANCE`.
    """
    query = NAMED_LINK_HISTORY_PAGE if link.ends is None else LINK_HISTORY_PAGE
    rows = await graph.read(query, **_link_values(link), **_page_values(page))
    return [row[:-2] for row in sorted(rows, key=itemgetter(-2, -1))[: page.limit]]


def memory_position(row: Row) -> HistoryPosition:
    """The position after this record in the history of its memory."""
    return HistoryPosition(row[NODE_PLACE["created_at"]], row[NODE_PLACE["valid_at"]])


def link_position(row: Row) -> HistoryPosition:
    """The position after this record in the history of its link; the row begins with the ids of its ends."""
    return HistoryPosition(row[2 + LINK_PLACE["created_at"]], row[2 + LINK_PLACE["valid_at"]])


def _link_values(link: LinkName) -> dict[str, Any]:
    if link.ends is None:
        return {"id": link.id, "handle": link.handle}
    return {"id": link.id, "source_id": link.ends[0], "target_id": link.ends[1]}


def _page_values(page: HistoryQuery) -> dict[str, Any]:
    return {"known_to": page.known_to, "limit": page.limit, **page.start._asdict()}


async def read_clock(graph: Graph, now: Instant) -> Instant:
    """Return the last transaction time of the graph; `now` for a graph that was never written to."""
    rows = await graph.read(CLOCK)
    return int(rows[0][0]) if rows and rows[0][0] is not None else now


RECORDS_OF: Final = Query(
    "records_of",
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i "
    f"{records_of('i', 'm')} WHERE {findable('m')} "
    "WITH i, m, (m.created_at IN $touching OR m.expired_at IN $touching) AS near "
    "ORDER BY near DESC, m.created_at DESC, m.version DESC "
    "WITH i, collect(m) AS records WITH records[..$most_of_one] AS kept, size(records) AS held "
    "UNWIND range(0, size(kept) - 1) AS place WITH place, kept[place] AS m, held "
    f"ORDER BY place, m.id LIMIT $most_of_all RETURN held, {found_columns('m')}",
)
"""The records of some memories in the scope, at most `$most_of_one` of each: those known from or until one of the
instants `$touching`, then the newest."""


class VersionRow(NamedTuple):
    """One record of a memory by `NODE_COLUMNS`, and how many `records` the memory has in the scope."""

    memory_id: str
    records: int
    columns: Sequence[Any]


def read_records(rows: Sequence[Sequence[Any]]) -> list[VersionRow]:
    """The rows of `RECORDS_OF` as named values."""
    return [VersionRow(row[1 + NODE_COLUMNS.index("id")], int(row[0]), row[1:]) for row in rows]
