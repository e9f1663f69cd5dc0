"""Histories over REST: all that was known of a memory or a link, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import Query

from api.request_parsing.addresses import LinkPlace, Place, Whose, graph_of, nowhere
from api.runtime.runtime import Runtime
from orchestration.writing.records import link_name
from schemas.paging import Paged, cursor_of, parts_of
from schemas.responses import LinkHistory, MemoryHistory
from schemas.temporal import Instant, Moment, Scope, to_instant
from schemas.unreadable import left_out
from substrate.graphs.graph import Graph
from substrate.store import reader, records
from substrate.store.records import Wanted
from substrate.store.rows import LINK_PLACE, NODE_PLACE, link_record, memory_record


class OfHistory(Whose, Paged):
    """Whose history, which page of it, and as it was told at `known_at`; without one all that is known."""

    known_at: Moment | None = None


HistoryAsked = Annotated[OfHistory, Query()]

type _Rows = Sequence[Sequence[Any]]
type _Read = Callable[[Wanted], Awaitable[_Rows]]


async def memory_history(place: Place, asked: OfHistory, runtime: Runtime, now: Instant) -> MemoryHistory:
    """A page of the records of a memory. Raises InvalidRequest, NotFound."""
    graph, connection = await graph_of(place.level, asked, runtime), runtime.deps.connection

    async def read(wanted: Wanted) -> _Rows:
        return await records.history(Graph(connection, graph), place.memory_id, wanted)

    wanted = await _wanted(asked, graph, runtime, now)
    rows, after = await _page(read, wanted, NODE_PLACE["created_at"], NODE_PLACE["valid_at"])
    if not rows and asked.cursor is None:
        exists = await reader.memory(Graph(connection, graph), place.memory_id) is not None
        raise nowhere("memory", place, exists=exists)
    told = tuple(memory_record(row, place.level, wanted.known_to) for row in rows)
    return MemoryHistory(id=place.memory_id, records=told, next=after, degraded=left_out(told))


async def link_history(place: LinkPlace, asked: OfHistory, runtime: Runtime, now: Instant) -> LinkHistory:
    """A page of the records of a link. Raises InvalidRequest, NotFound."""
    graph, connection = await graph_of(place.level, asked, runtime), runtime.deps.connection
    name = link_name(place.link_id)

    async def read(wanted: Wanted) -> _Rows:
        return await records.link_history(Graph(connection, graph), name, wanted)

    wanted = await _wanted(asked, graph, runtime, now)
    rows, after = await _page(read, wanted, 2 + LINK_PLACE["created_at"], 2 + LINK_PLACE["valid_at"])
    if not rows and asked.cursor is None:
        seen = await records.link_seen(Graph(connection, graph), name, Scope.current(now))
        raise nowhere("link", place, exists=seen.exists)
    told = tuple(link_record(row, place.level, wanted.known_to) for row in rows)
    return LinkHistory(id=place.link_id, records=told, next=after, degraded=left_out(told))


async def _wanted(asked: OfHistory, graph: str, runtime: Runtime, now: Instant) -> Wanted:
    """The page that is asked for. Its cursor keeps what was known when the first one was read."""
    if asked.cursor is not None:
        *place, known_to = parts_of(asked.cursor, int, int, int)
        return Wanted(known_to, asked.limit, records.Place(*place))
    if asked.known_at is not None:
        return Wanted(to_instant(asked.known_at) + 1, asked.limit, records.Place())
    known_at = await records.clock(runtime.deps.graph(graph), now)
    return Wanted(known_at + 1, asked.limit, records.Place())


async def _page(read: _Read, wanted: Wanted, known_at: int, held_at: int) -> tuple[_Rows, str | None]:
    """The rows of a page, and the cursor of the next. `known_at`, `held_at`: where a row says its place."""
    rows = await read(wanted._replace(limit=wanted.limit + 1))
    if len(rows) <= wanted.limit:
        return rows, None
    shown = rows[: wanted.limit]
    return shown, cursor_of(shown[-1][known_at], shown[-1][held_at], wanted.known_to)
