"""Memories and links over REST: the record of a moment, its history, and lists, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple, Self

from fastapi import Response
from pydantic import model_validator

from api.problems import invalid_request
from orchestration.dependencies import Deps
from orchestration.graph_queries.existing_graphs import View, read_filters
from orchestration.identifiers import link_name
from orchestration.mind.energy import Decay
from orchestration.writing.records import tag_names
from schemas.base import CitizenId, Name, RelationType, Request, ShortText
from schemas.collectives import OfCollective, check_collective
from schemas.commands import LinkId
from schemas.errors import NotFound
from schemas.intention import AsOf, Filters, Label
from schemas.memory import (
    UNREADABLE_REMEDY,
    ConsciousnessNode,
    ConsciousnessRelationship,
    GraphKey,
    InGraph,
    Level,
    Source,
    describe_unreadable,
    graph_key,
)
from schemas.operation import Says
from schemas.paging import Paged, decode_cursor, encode_cursor, first_page
from schemas.responses import LinkHistory, MemoryHistory
from schemas.temporal import ALL_KNOWN, Instant, KnownMoment, Scope, to_instant
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import listing, reader
from substrate.store.filters import filter_values
from substrate.store.rows import link_record, link_with_ends, memory_record, node
from substrate.store.runs import name_runs

type Row = Sequence[Any]

LinkIdInPath = Annotated[LinkId, Says("Its own id, or `source|TYPE|target`; percent-encode special characters.")]


class RecordAddress(NamedTuple):
    """A memory or a link: its level and its id."""

    level: Level
    id: str


class CitizenRequest(OfCollective):
    """Whose memory: the citizen, required for N1; in N2 a collective beside the default one."""

    citizen_id: CitizenId | None = None


class MomentRequest(AsOf, CitizenRequest):
    """Whose memory, and when: now, or at `as_of_time` as known at `known_at` (default: `as_of_time`)."""

    @property
    def names_moment(self) -> bool:
        """True when either time is given."""
        return self.as_of_time is not None or self.known_at is not None


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


class HistoryRequest(CitizenRequest, Paged):
    """A page of a history, as it was known at `known_at` (default: now)."""

    known_at: KnownMoment | None = None


def add_notes(response: Response, request: Request, shown: object = None) -> None:
    """Set `Substrate-Notes`: assumptions about the request, and fields of the record shown that were left out."""
    notes = request.notes
    if isinstance(shown, ConsciousnessNode | ConsciousnessRelationship) and shown.unreadable:
        notes = (*notes, f"{', '.join(shown.unreadable)} cannot be shown and was left out; {UNREADABLE_REMEDY}")
    if notes:
        response.headers["Substrate-Notes"] = "; ".join(notes)


class ShownPage(NamedTuple):
    """The rows of a page, the moment and the end of the known period that it shows, the cursor of the next page.

    `notes`: on the first page, values of the filters that nobody has.
    """

    rows: Sequence[Row]
    moment: Instant
    known_to: Instant
    next: str | None
    notes: tuple[str, ...] = ()


_HISTORY: Final = "Its /history shows when each of its records holds."
_BEFORE_ALL: Final = "Nothing of it was known then: name a later known_at, or none."


@dataclass(frozen=True)
class RecordKind[
    Shown: (ConsciousnessNode, ConsciousnessRelationship),
    History: (MemoryHistory, LinkHistory),
]:
    """How memories are read, or links. Cursors contain its `name`, so that a cursor of another list is refused."""

    noun: str
    name: str
    lists: Callable[[Graph, listing.ListQuery, listing.ListPosition], Awaitable[listing.ListPage]]
    finds: Callable[[Graph, str, Scope], Awaitable[reader.RecordLookup]]
    follows: Callable[[Graph, str, reader.HistoryQuery], Awaitable[Sequence[Row]]]
    position: Callable[[Row], reader.HistoryPosition]
    shown: Callable[[Row, GraphKey, Instant], Shown]
    record: Callable[[Row, GraphKey, Instant], Any]
    history: type[History]

    async def read_row(self, at: RecordAddress, request: MomentRequest, deps: Deps, now: Instant) -> Row:
        """The row of the record at the requested moment. Raises NotFound when there is none."""
        graph = await deps.existing_graph(graph_key(at.level, request.collective), request.citizen_id)
        seen = await self.finds(graph, at.id, request.scope(now))
        if seen.row is None:
            raise self._missing(at, exists=seen.exists, remedy=_HISTORY)
        return seen.row

    async def read(
        self, at: RecordAddress, request: MomentRequest, deps: Deps, now: Instant
    ) -> tuple[Shown, Decay]:
        """The record at the requested moment, as stored, and how it is shown then. Raises as `read_row`."""
        row, scope = await self.read_row(at, request, deps, now), request.scope(now)
        stored = self.shown(row, graph_key(at.level, request.collective), scope.known.end)
        return stored, Decay(deps.half_lives, scope.moment(now))

    async def read_page(self, request: ListRequest, deps: Deps, now: Instant) -> ShownPage:
        """The page. Raises InvalidRequest for a cursor of another list or moment, NotFound without a graph."""
        graph = await deps.existing_graph(request.graph_key, request.citizen_id)
        start, scope, asked = await _start(request, self.name, graph, now)
        wanted = listing.ListQuery(
            scope,
            request.kind,
            request.limit,
            filters=filter_values(request.filters),
            label=await _narrowest_label(request, graph, scope),
            source=request.source and request.source.value,
            key_id=request.key_id,
        )
        page = await self.lists(graph, wanted, start)
        after = None
        if page.after is not None:
            after = encode_cursor(self.name, *page.after, scope.valid.start, scope.known.start, asked)
        notes: tuple[str, ...] = ()
        if request.cursor is None:
            view = View(scope, {request.graph_key: GraphTarget(request.graph_key, graph, past=True)}, now)
            notes = (await read_filters(request.filters, view)).notes
        return ShownPage(page.rows, scope.valid.start, scope.known.end, after, notes)

    async def show_page(
        self, request: ListRequest, deps: Deps, now: Instant
    ) -> tuple[ShownPage, tuple[Shown, ...]]:
        """The page with its records as they are shown. Raises as `read_page`."""
        page = await self.read_page(request, deps, now)
        stored = [self.shown(row, request.graph_key, page.known_to) for row in page.rows]
        return page, Decay(deps.half_lives, page.moment).show(stored)

    async def read_history(self, at: RecordAddress, request: HistoryRequest, deps: Deps, now: Instant) -> History:
        """A page of the records. Raises InvalidRequest for a bad cursor, NotFound without a record.

        A cursor keeps the known moment of the first page.
        """
        key = graph_key(at.level, request.collective)
        graph = await deps.existing_graph(key, request.citizen_id)
        if request.cursor is not None:
            *place, known_to = decode_cursor(request.cursor, int, int, int)
            position = reader.HistoryPosition(*place)
        else:
            known_at = min(to_instant(request.known_at or ALL_KNOWN), await reader.read_clock(graph, now))
            known_to, position = known_at + 1, reader.HistoryPosition()
        rows = await self.follows(graph, at.id, reader.HistoryQuery(known_to, request.limit + 1, position))
        if not rows and request.cursor is None:
            exists = (await self.finds(graph, at.id, Scope.current(now))).exists
            raise self._missing(at, exists=exists, remedy=_BEFORE_ALL)
        rows, after = first_page(rows, request.limit, lambda row: (*self.position(row), known_to))
        shown = await name_runs(graph, [self.record(row, key, known_to) for row in rows])
        return self.history(id=at.id, records=shown, next=after, degraded=describe_unreadable(shown))

    def _missing(self, at: RecordAddress, *, exists: bool, remedy: str) -> NotFound:
        """The error for a record that does not exist at all, or not at the requested moment."""
        if not exists:
            return NotFound(f"there is no {self.noun} {at.id} in {at.level}")
        return NotFound(f"{self.noun} {at.id} exists, but not at that moment", remedy=remedy)


MEMORIES: Final = RecordKind(
    "memory",
    "memories",
    listing.list_memories,
    reader.read_memory,
    reader.history,
    reader.memory_position,
    node,
    memory_record,
    MemoryHistory,
)
LINKS: Final = RecordKind(
    "link",
    "links",
    listing.list_links,
    lambda graph, link_id, scope: reader.read_link(graph, link_name(link_id), scope),
    lambda graph, link_id, page: reader.link_history(graph, link_name(link_id), page),
    reader.link_position,
    link_with_ends,
    link_record,
    LinkHistory,
)


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
