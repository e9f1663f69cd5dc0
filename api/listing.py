"""Listing over REST: what a moment sees of a graph, a page at a time."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Awaitable, Callable
from typing import Annotated, Final

import orjson
from fastapi import Query
from pydantic import Field

from api.addresses import Asked, graph_of
from api.problems import invalid
from api.runtime import Runtime
from schemas.base import Name
from schemas.link_commands import RelationType
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.connection import Connection
from substrate.listing import Page, Place, Wanted

MOST: Final = 500


class Listed(Asked):
    """Which graph, as it is or was at a moment, and which page of it."""

    level: Level = Level.N1
    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    cursor: Annotated[str, Field(max_length=1000)] | None = Field(
        default=None, description="The `next` of the page before."
    )


class ListedMemories(Listed):
    """Memories, of one type if `node_type` names it."""

    node_type: Name | None = None


class ListedLinks(Listed):
    """Links, of one type if `relation_type` names it."""

    relation_type: RelationType | None = None


MemoriesAsked = Annotated[ListedMemories, Query()]
LinksAsked = Annotated[ListedLinks, Query()]

type Read = Callable[[Connection, str, Wanted, Place], Awaitable[Page]]


async def page_of(read: Read, asked: Listed, kind: str | None, given: tuple[Runtime, Instant]) -> Page:
    """The page that is asked for. Raises InvalidRequest, NotFound."""
    runtime, now = given
    start = Place() if asked.cursor is None else _place(asked.cursor)
    graph = await graph_of(asked.level, asked, runtime)
    return await read(runtime.deps.connection, graph, Wanted(asked.scope(now), kind, asked.limit), start)


def cursor_of(place: Place | None) -> str | None:
    """The place as a text that callers hand back."""
    return None if place is None else urlsafe_b64encode(orjson.dumps(list(place))).decode().rstrip("=")


def _place(cursor: str) -> Place:
    try:
        first, behind = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError) as error:
        raise invalid(["cursor: is not the `next` of a page"]) from error
    if type(first) is not int or not 0 <= first < 2**53 or type(behind) is not str or "\x00" in behind:
        raise invalid(["cursor: is not the `next` of a page"])
    return Place(first, behind)
