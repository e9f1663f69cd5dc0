"""The address of a memory: level and id in the path, citizen and moment in the query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from fastapi import Depends, Path, Query

from api.problems import invalid
from api.runtime import Runtime
from schemas.base import CitizenId, Identifier, Request
from schemas.errors import NotFound
from schemas.memory import Level
from schemas.temporal import Instant, Moment, Scope, to_instant
from substrate import reader
from substrate.bitemporal import visible
from substrate.graph_schema import graph_name
from substrate.rows import record

type Row = Sequence[Any]

MemoryId = Annotated[Identifier, Path(description="Percent-encode what is special in an address, `/` may stay.")]


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
        valid_at = now if self.as_of_time is None else to_instant(self.as_of_time)
        otherwise = now if self.as_of_time is None else valid_at
        return Scope.at(valid_at, otherwise if self.known_at is None else to_instant(self.known_at))


class Place(NamedTuple):
    """Where a memory is to be found."""

    level: Level
    memory_id: str


async def _place(level: Level, memory_id: MemoryId) -> Place:
    return Place(level, memory_id)


At = Annotated[Place, Depends(_place)]
AskedOf = Annotated[Asked, Query()]
AskedWhose = Annotated[Whose, Query()]


async def records_of(place: Place, whose: Whose, runtime: Runtime) -> list[Row]:
    """All records of the memory as rows, in the order in which they became known. Raises NotFound."""
    if place.level is Level.N1 and whose.citizen_id is None:
        raise invalid(["citizen_id: level N1 is personal: name its citizen_id"])
    graph = graph_name(place.level, whose.citizen_id)
    if not await runtime.deps.graphs.for_reading(graph):
        raise NotFound(f"nothing was remembered for {whose.citizen_id or place.level} yet")
    rows: list[Row] = list(await reader.history(runtime.deps.connection, graph, place.memory_id))
    if not rows:
        raise NotFound(f"there is no memory {place.memory_id} in {place.level}")
    return rows


async def record_seen(place: Place, asked: Asked, runtime: Runtime, now: Instant) -> Row:
    """The record of the memory that is visible at the moment asked about. Raises NotFound."""
    rows = await records_of(place, asked, runtime)
    scope = asked.scope(now)
    seen = [row for row in rows if visible(record(row), scope)]
    if not seen:
        raise NotFound(
            f"memory {place.memory_id} exists, but not at that moment",
            remedy="Its /history shows when each of its records holds.",
        )
    return seen[-1]
