"""Lists and histories over REST, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, NamedTuple, Self

from fastapi import Query
from pydantic import model_validator

from api.problems import invalid_request
from api.request_parsing.addresses import (
    BEFORE_ALL,
    CitizenRequest,
    LinkAddress,
    MemoryAddress,
    MomentRequest,
    existing_graph,
    key_of,
    not_found,
)
from api.runtime.runtime import Runtime
from orchestration.graph_queries.existing_graphs import View, read_filters
from orchestration.identifiers import link_name
from orchestration.writing.records import tag_names
from schemas.base import Name, ShortText
from schemas.collectives import check_collective
from schemas.commands import RelationType
from schemas.intention import Filters, Label
from schemas.memory import InGraph, Level, Source, describe_unreadable
from schemas.paging import Paged, decode_cursor, encode_cursor
from schemas.responses import LinkHistory, MemoryHistory
from schemas.temporal import ALL_KNOWN, Instant, KnownMoment, Scope, to_instant
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import listing, reader
from substrate.store.filters import filter_values
from substrate.store.rows import link_record, memory_record
from substrate.store.runs import name_runs

type _Rows = Sequence[Sequence[Any]]


class ListRequest(InGraph, MomentRequest, Paged):
    """A page of a graph at a moment; optionally only records of one source, or written with one key."""

    level: Level = Level.N1
    source: Source | None = None
    key_id: ShortText | None = None

    @model_validator(mode="after")
    def _names_one_graph(self) -> Self:
        if self.collective is not None and "level" not in self.model_fields_set:
            self.__dict__["level"] = Level.N2
        check_collective(self.level, self.collective)
        return self

    @property
    def kind(self) -> str | None:
        """The node type or relation type to list; None for all."""
        return None

    @property
    def filters(self) -> Filters:
        """What to filter by, besides kind, source and key."""
        return Filters()


class MemoryListRequest(ListRequest, Filters):
    """A page of memories that pass `Filters`, each repeated for several values.

    `node_type`, `tag`, `bucket` and `source` take one value, which must hold too.
    """

    node_type: Name | None = None
    tag: Label | None = None
    bucket: Label | None = None

    @property
    def kind(self) -> str | None:
        return self.node_type

    @property
    def filters(self) -> Filters:
        several = {name: getattr(self, name) for name in Filters.model_fields}
        several["tags"] += () if self.tag is None else (self.tag,)
        several["buckets"] += () if self.bucket is None else (self.bucket,)
        return Filters.model_construct(**several)


class LinkListRequest(ListRequest):
    """A page of links; optionally of one type."""

    relation_type: RelationType | None = None

    @property
    def kind(self) -> str | None:
        return self.relation_type


MemoryListInQuery = Annotated[MemoryListRequest, Query()]
LinkListInQuery = Annotated[LinkListRequest, Query()]


class ListKind(NamedTuple):
    """A kind of list. Cursors contain its `name`, so that a cursor of another list is refused."""

    name: str
    read: Callable[[Graph, listing.ListQuery, listing.ListPosition], Awaitable[listing.ListPage]]


MEMORIES: Final = ListKind("memories", listing.list_memories)
LINKS: Final = ListKind("links", listing.list_links)


class ShownPage(NamedTuple):
    """The rows of a page, the moment and the end of the known period that it shows, the cursor of the next page.

    `notes`: on the first page, values of the filters that nobody has.
    """

    rows: _Rows
    moment: Instant
    known_to: Instant
    next: str | None
    notes: tuple[str, ...] = ()


async def read_page(kind: ListKind, request: ListRequest, runtime: Runtime, now: Instant) -> ShownPage:
    """Read the page. Raises InvalidRequest for a cursor of another list or moment, NotFound without a graph."""
    graph = runtime.deps.graph(await existing_graph(request.level, request, runtime))
    start, scope, asked = await _start(request, kind.name, graph, now)
    wanted = listing.ListQuery(
        scope,
        request.kind,
        request.limit,
        filters=filter_values(request.filters),
        label=await _narrowest_label(request, graph, scope),
        source=request.source and request.source.value,
        key_id=request.key_id,
    )
    page = await kind.read(graph, wanted, start)
    after = None
    if page.after is not None:
        after = encode_cursor(kind.name, *page.after, scope.valid.start, scope.known.start, asked)
    notes: tuple[str, ...] = ()
    if request.cursor is None:
        view = View(scope, {request.graph_key: GraphTarget(request.graph_key, graph, past=True)}, now)
        notes = (await read_filters(request.filters, view)).notes
    return ShownPage(page.rows, scope.valid.start, scope.known.end, after, notes)


async def _narrowest_label(request: ListRequest, graph: Graph, scope: Scope) -> str | None:
    """The rarest of the requested labels, if all that the page can show is among its present members.

    None for another moment than now, and when something was written after the page's moment or is planned: labels
    know only the present.
    """
    names = tag_names(request.filters.tags, request.filters.buckets)
    if not names or request.names_moment:
        return None
    changed = await reader.read_clock(graph, scope.known.start) != scope.known.start
    if changed or scope.valid.start < await reader.pending_until(graph):
        return None
    rarest = await reader.rarest_label(graph, names)
    return None if rarest is None else rarest.name


async def _start(
    request: ListRequest, name: str, graph: Graph, now: Instant
) -> tuple[listing.ListPosition, Scope, Instant]:
    """Where the page begins, the moment that it shows, and the known moment that the first page asked for.

    All pages show the moment of the first one, so that writes in between do not move items. What is asked of a
    time still ahead is known now. Raises InvalidRequest when the cursor is of another list or moment.
    """
    if request.cursor is None:
        first = request.scope(now)
        known_at = min(first.known.start, await reader.read_clock(graph, now))
        return listing.ListPosition(), Scope.at(first.valid.start, known_at), first.known.start
    cursor_name, memory, behind, valid, known_at, asked = decode_cursor(
        request.cursor, str, int, str, int, int, int
    )
    if cursor_name != name:
        fault = f"cursor: is of a list of {cursor_name}, not of {name}; begin again without a cursor"
        raise invalid_request([fault])
    scope = Scope.at(valid, known_at)
    if request.names_moment and request.scope(valid) not in (scope, Scope.at(valid, asked)):
        raise invalid_request(["cursor: is of another moment; ask for that one, or begin again without a cursor"])
    return listing.ListPosition(memory, behind), scope, asked


class HistoryRequest(CitizenRequest, Paged):
    """A page of a history, as it was known at `known_at` (default: now)."""

    known_at: KnownMoment | None = None


HistoryInQuery = Annotated[HistoryRequest, Query()]


async def read_memory_history(
    address: MemoryAddress, request: HistoryRequest, runtime: Runtime, now: Instant
) -> MemoryHistory:
    """A page of the records of a memory. Raises InvalidRequest for a bad cursor, NotFound without a record."""
    graph = runtime.deps.graph(await existing_graph(address.level, request, runtime))

    async def read(wanted: reader.HistoryQuery) -> _Rows:
        return await reader.read_history(graph, address.memory_id, wanted)

    wanted = await _wanted(request, graph, now)
    rows, after = await _history_page(read, wanted, reader.memory_position)
    if not rows and request.cursor is None:
        exists = await reader.memory(graph, address.memory_id) is not None
        raise not_found("memory", address, exists=exists, remedy=BEFORE_ALL)
    shown = await name_runs(graph, [memory_record(row, key_of(address, request), wanted.known_to) for row in rows])
    return MemoryHistory(id=address.memory_id, records=shown, next=after, degraded=describe_unreadable(shown))


async def read_link_history(
    address: LinkAddress, request: HistoryRequest, runtime: Runtime, now: Instant
) -> LinkHistory:
    """A page of the records of a link. Raises InvalidRequest for a bad cursor, NotFound without a record."""
    graph = runtime.deps.graph(await existing_graph(address.level, request, runtime))
    name = link_name(address.link_id)

    async def read(wanted: reader.HistoryQuery) -> _Rows:
        return await reader.read_link_history(graph, name, wanted)

    wanted = await _wanted(request, graph, now)
    rows, after = await _history_page(read, wanted, reader.link_position)
    if not rows and request.cursor is None:
        seen = await reader.read_link(graph, name, Scope.current(now))
        raise not_found("link", address, exists=seen.exists, remedy=BEFORE_ALL)
    shown = await name_runs(graph, [link_record(row, key_of(address, request), wanted.known_to) for row in rows])
    return LinkHistory(id=address.link_id, records=shown, next=after, degraded=describe_unreadable(shown))


async def _wanted(request: HistoryRequest, graph: Graph, now: Instant) -> reader.HistoryQuery:
    """The requested page. A cursor keeps the known moment of the first page."""
    if request.cursor is not None:
        *place, known_to = decode_cursor(request.cursor, int, int, int)
        return reader.HistoryQuery(known_to, request.limit, reader.HistoryPosition(*place))
    known_at = min(to_instant(request.known_at or ALL_KNOWN), await reader.read_clock(graph, now))
    return reader.HistoryQuery(known_at + 1, request.limit, reader.HistoryPosition())


async def _history_page(
    read: Callable[[reader.HistoryQuery], Awaitable[_Rows]],
    wanted: reader.HistoryQuery,
    place_of: Callable[[Sequence[Any]], reader.HistoryPosition],
) -> tuple[_Rows, str | None]:
    """The rows of a page, and the cursor of the next one."""
    rows = await read(wanted._replace(limit=wanted.limit + 1))
    if len(rows) <= wanted.limit:
        return rows, None
    shown = rows[: wanted.limit]
    return shown, encode_cursor(*place_of(shown[-1]), wanted.known_to)
