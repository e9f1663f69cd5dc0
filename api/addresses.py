"""The address of a memory or a link: level and id in the path, citizen and moment in the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Query

from api.problems import invalid
from api.runtime import Runtime
from orchestration.records import link_name
from schemas.base import CitizenId, Identifier, Request
from schemas.errors import NotFound
from schemas.link_commands import LinkId
from schemas.memory import Level
from schemas.temporal import Instant, Moment, Scope, to_instant
from substrate import reader
from substrate.bitemporal import Record, visible
from substrate.graph_schema import graph_name
from substrate.rows import record, record_of_link

type Row = Sequence[Any]

MemoryId = Annotated[Identifier, Path(description="Percent-encode what is special in an address, `/` may stay.")]


LinkIdInPath = Annotated[
    LinkId, Path(description="Its own id, or `source|TYPE|target`; percent-encode what is special in an address.")
]


class Whose(Request):
    """Whose memory: the citizen, required for N1."""

    citizen_id: CitizenId | None = None


class Asked(Whose):
    """Whose memory, and when: without times as it is now, with `as_of_time` as it was and was known then.

    `known_at` moves the transaction axis apart.
    """

    as_of_time: Moment | None = None
    known_at: Moment | None = None

    def scope(self, now: Instant) -> Scope:
        """What the question may see."""
        as_of, known = (None if said is None else to_instant(said) for said in (self.as_of_time, self.known_at))
        return Scope.asked(as_of, known, now)


class Place(NamedTuple):
    """Where a memory is to be found."""

    level: Level
    memory_id: str


class LinkPlace(NamedTuple):
    """Where a link is to be found."""

    level: Level
    link_id: str


async def _place(level: Level, memory_id: MemoryId) -> Place:
    return Place(level, memory_id)


async def _link_place(level: Level, link_id: LinkIdInPath) -> LinkPlace:
    return LinkPlace(level, link_id)


At = Annotated[Place, Depends(_place)]
AtLink = Annotated[LinkPlace, Depends(_link_place)]
AskedOf = Annotated[Asked, Query()]
AskedWhose = Annotated[Whose, Query()]


async def graph_of(level: Level, whose: Whose, runtime: Runtime) -> str:
    """The name of an existing graph. Raises InvalidRequest, NotFound."""
    if level is Level.N1 and whose.citizen_id is None:
        raise invalid(["citizen_id: level N1 is personal: name its citizen_id"])
    graph = graph_name(level, whose.citizen_id)
    if not await runtime.deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {whose.citizen_id or level} yet")
    return graph


async def records_of(place: Place, whose: Whose, runtime: Runtime) -> list[Row]:
    """All records of the memory as rows, in the order in which they became known. Raises NotFound."""
    graph = await graph_of(place.level, whose, runtime)
    rows: list[Row] = list(await reader.history(runtime.deps.connection, graph, place.memory_id))
    if not rows:
        raise NotFound(f"there is no memory {place.memory_id} in {place.level}")
    return rows


async def records_of_link(place: LinkPlace, whose: Whose, runtime: Runtime) -> list[Row]:
    """All records of the link as rows, in the order in which they became known. Raises NotFound."""
    graph = await graph_of(place.level, whose, runtime)
    name = link_name(place.link_id)
    rows: list[Row] = list(await reader.link_history(runtime.deps.connection, graph, name))
    if not rows:
        raise NotFound(f"there is no link {place.link_id} in {place.level}")
    return rows


async def record_seen(place: Place, asked: Asked, runtime: Runtime, now: Instant) -> Row:
    """The record of the memory that is visible at the moment asked about. Raises NotFound."""
    rows = await records_of(place, asked, runtime)
    return _seen([(row, record(row)) for row in rows], asked.scope(now), f"memory {place.memory_id}")


async def link_seen(place: LinkPlace, asked: Asked, runtime: Runtime, now: Instant) -> Row:
    """The record of the link that is visible at the moment asked about. Raises NotFound."""
    rows = await records_of_link(place, asked, runtime)
    return _seen([(row, record_of_link(row[2:])) for row in rows], asked.scope(now), f"link {place.link_id}")


def _seen(records: Sequence[tuple[Row, Record]], scope: Scope, what: str) -> Row:
    seen = [row for row, one in records if visible(one, scope)]
    if not seen:
        raise NotFound(
            f"{what} exists, but not at that moment", remedy="Its /history shows when each of its records holds."
        )
    return seen[-1]
