"""Reads of one memory or one link: as a moment sees it, and its history a page at a time."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from schemas.temporal import BEGINNING_OF_TIME, Instant, Scope
from substrate.cypher import records as cypher
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import LINK_PLACE, NODE_PLACE, LinkName

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
    rows = await graph.read(cypher.MEMORY_SEEN, id=memory_id, **scope.bounds())
    if not rows:
        return Seen(exists=False, row=None)
    return Seen(exists=True, row=None if rows[0][0] is None else rows[0])


async def link_seen(graph: Graph, link: LinkName, scope: Scope) -> Seen:
    """The link record that a scope of one moment sees: the ids of its ends, `LINK_COLUMNS`, `PROVENANCE`."""
    query, values = _of(link, cypher.LINK_SEEN, cypher.NAMED_LINK_SEEN)
    rows = await graph.read(query, **values, **scope.bounds())
    if not rows or not rows[0][0]:
        return Seen(exists=False, row=None)
    return Seen(exists=True, row=None if rows[0][1] is None else rows[0][1:])


async def history(graph: Graph, memory_id: str, wanted: Wanted) -> list[Row]:
    """Records of a memory in the order in which they became known: `NODE_COLUMNS`, `PROVENANCE`."""
    header = {"id": memory_id, **_page(wanted)}
    return list(await graph.read(cypher.HISTORY_PAGE, **header))


async def link_history(graph: Graph, link: LinkName, wanted: Wanted) -> list[Row]:
    """Records of a link in that order: the ids of its ends, `LINK_COLUMNS`, `PROVENANCE`."""
    query, values = _of(link, cypher.LINK_HISTORY_PAGE, cypher.NAMED_LINK_HISTORY_PAGE)
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
    rows = await graph.read(cypher.CLOCK)
    return int(rows[0][0]) if rows and rows[0][0] is not None else now
