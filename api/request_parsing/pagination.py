"""Listing over REST: what a moment sees of a graph, a page at a time."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Annotated, Any, NamedTuple, Protocol

from fastapi import Query

from api.problems import invalid
from api.request_parsing.addresses import Asked, graph_of
from api.runtime.runtime import Runtime
from orchestration.writing.records import tag_names
from schemas.base import Name, ShortText
from schemas.commands import RelationType
from schemas.filters import Filters, Label
from schemas.memory import Level, Source
from schemas.paging import Paged, cursor_of, parts_of
from schemas.temporal import Instant, Scope
from substrate.cypher.filters import filter_values
from substrate.graphs.graph import Graph
from substrate.store import reader, records
from substrate.store.listing import Page, Place, Wanted


class Listed(Asked, Paged):
    """Which graph, as it is or was at a moment, and which page of it; of one source, or written with one key."""

    level: Level = Level.N1
    source: Source | None = None
    key_id: ShortText | None = None


class ListedMemories(Listed):
    """Memories, of one type if `node_type` names it, with the `tag` and the `bucket` that are named."""

    node_type: Name | None = None
    tag: Label | None = None
    bucket: Label | None = None

    def filters(self) -> Filters:
        """The labels that are asked for."""
        return Filters(tags=_one(self.tag), buckets=_one(self.bucket))


def _one(label: str | None) -> tuple[str, ...]:
    return () if label is None else (label,)


class ListedLinks(Listed):
    """Links, of one type if `relation_type` names it."""

    relation_type: RelationType | None = None


MemoriesAsked = Annotated[ListedMemories, Query()]
LinksAsked = Annotated[ListedLinks, Query()]


class Read(Protocol):
    """Reads a page of what it is named after, which a cursor keeps."""

    __name__: str

    def __call__(self, graph: Graph, wanted: Wanted, start: Place, /) -> Awaitable[Page]:
        """The rows from a place on, and where the next page begins."""


class Listing(NamedTuple):
    """The rows of a page, where the known side of its moment ends, and the cursor of the page behind."""

    rows: Sequence[Sequence[Any]]
    known_to: Instant
    next: str | None


async def page_of(read: Read, asked: Listed, kind: str | None, given: tuple[Runtime, Instant]) -> Listing:
    """The page that is asked for. Raises InvalidRequest, NotFound."""
    runtime, now = given
    graph = runtime.deps.graph(await graph_of(asked.level, asked, runtime))
    if asked.cursor is None:
        start, scope = Place(), await _fixed(asked, graph, now)
    else:
        start, scope = _continued(asked, asked.cursor, read.__name__)
    wanted = Wanted(scope, kind, asked.limit, source=asked.source and asked.source.value, key_id=asked.key_id)
    if isinstance(asked, ListedMemories):
        filters = asked.filters()
        label = await _label_of(asked, filters, graph, scope)
        wanted = wanted._replace(filters=filter_values(filters), label=label)
    page = await read(graph, wanted, start)
    if page.after is None:
        return Listing(page.rows, scope.known.end, None)
    after = cursor_of(read.__name__, *page.after, scope.valid.start, scope.known.start)
    return Listing(page.rows, scope.known.end, after)


async def _label_of(asked: Listed, filters: Filters, graph: Graph, scope: Scope) -> str | None:
    """The label whose members of today are all that the page can be of.

    None where another moment is asked for, or where something was written since that of the page, or is planned.
    """
    names = tag_names(filters.tags, filters.buckets)
    if not names or asked.as_of_time is not None or asked.known_at is not None:
        return None
    moved = await records.clock(graph, scope.known.start) != scope.known.start
    if moved or scope.valid.start < await reader.pending_until(graph):
        return None
    narrow = await reader.rarest_label(graph, names)
    return None if narrow is None else narrow.label


async def _fixed(asked: Listed, graph: Graph, now: Instant) -> Scope:
    """The moment of the first page, which all others keep: of the present, what is known by then."""
    if asked.as_of_time is None and asked.known_at is None:
        return Scope.at(now, await records.clock(graph, now))
    return asked.scope(now)


def _continued(asked: Listed, cursor: str, what: str) -> tuple[Place, Scope]:
    """The place and the moment of a cursor. Raises InvalidRequest when the request names another moment, or lists
    something else.
    """
    of, first, behind, valid, known = parts_of(cursor, str, int, str, int, int)
    if of != what:
        raise invalid([f"cursor: is of a list of {of}, not of {what}; begin again without a cursor"])
    kept = Scope.at(valid, known)
    named = asked.as_of_time is not None or asked.known_at is not None
    if named and asked.scope(valid) != kept:
        raise invalid(["cursor: is of another moment; ask for that one, or begin again without a cursor"])
    return Place(first, behind), kept
