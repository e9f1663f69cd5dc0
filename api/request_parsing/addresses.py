"""The address of a memory or a link: level and id in the path, citizen and moment in the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Query, Response

from api.problems import invalid
from api.runtime.runtime import Runtime
from orchestration.writing.records import link_name
from schemas.base import CitizenId, Identifier, Request
from schemas.commands import LinkId
from schemas.errors import NotFound
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.temporal import Instant, Moment, Scope, to_instant
from schemas.unreadable import REMEDY
from substrate.graphs.names import graph_name
from substrate.store import records

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


def noted(
    response: Response, asked: Request, shown: ConsciousnessNode | ConsciousnessRelationship | None = None
) -> None:
    """Say in the answer what was assumed while reading the request, and what of the one shown was left out."""
    notes = asked.notes
    if shown is not None and shown.unreadable:
        notes = (*notes, f"{', '.join(shown.unreadable)} cannot be shown and was left out; {REMEDY}")
    if notes:
        response.headers["Substrate-Notes"] = "; ".join(notes)


async def graph_of(level: Level, whose: Whose, runtime: Runtime) -> str:
    """The name of an existing graph. Raises InvalidRequest, NotFound."""
    if level is Level.N1 and whose.citizen_id is None:
        raise invalid(["citizen_id: level N1 is personal: name its citizen_id"])
    graph = graph_name(level, whose.citizen_id)
    if not await runtime.deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {whose.citizen_id or level} yet")
    return graph


async def record_seen(place: Place, asked: Asked, runtime: Runtime, now: Instant) -> Row:
    """The record of the memory that is visible at the moment asked about. Raises NotFound."""
    graph = await graph_of(place.level, asked, runtime)
    seen = await records.memory_seen(runtime.deps.graph(graph), place.memory_id, asked.scope(now))
    if seen.row is None:
        raise nowhere("memory", place, exists=seen.exists)
    return seen.row


async def link_seen(place: LinkPlace, asked: Asked, runtime: Runtime, now: Instant) -> Row:
    """The record of the link that is visible at the moment asked about. Raises NotFound."""
    graph = await graph_of(place.level, asked, runtime)
    seen = await records.link_seen(runtime.deps.graph(graph), link_name(place.link_id), asked.scope(now))
    if seen.row is None:
        raise nowhere("link", place, exists=seen.exists)
    return seen.row


def nowhere(what: str, place: Place | LinkPlace, *, exists: bool) -> NotFound:
    """The error for a memory or link that is not there, at that moment or at all."""
    level, name = place
    if not exists:
        return NotFound(f"there is no {what} {name} in {level}")
    return NotFound(
        f"{what} {name} exists, but not at that moment",
        remedy="Its /history shows when each of its records holds.",
    )
