"""Reads of beliefs that changed: closed records, and the records around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from schemas.temporal import BEGINNING_OF_TIME, Instant
from substrate.connection.pool import Row
from substrate.cypher import learning as cypher
from substrate.graphs.graph import Graph


class Place(NamedTuple):
    """Behind which closing to go on: when it was, and of which memory."""

    ended_at: Instant = BEGINNING_OF_TIME
    memory_id: str = ""


class Closing(NamedTuple):
    """A record that was closed: when, of which memory, and since when it was known."""

    ended_at: Instant
    memory_id: str
    known_at: Instant

    @property
    def place(self) -> Place:
        """Where it stands among all closings; those of one command on one memory stand together."""
        return Place(self.ended_at, self.memory_id)


async def closings(graph: Graph, start: Place, bounds: tuple[Instant, int]) -> list[Closing]:
    """The next closings before an instant, at most so many (`bounds`); those at one place are not parted."""
    known_to, limit = bounds
    values = {**start._asdict(), "known_to": known_to, "limit": limit}
    found = [Closing(*row) for row in await graph.read(cypher.CLOSINGS, **values)]
    if len(found) < limit or found[0].place == found[-1].place:
        return found
    return [one for one in found if one.place != found[-1].place]


async def around(graph: Graph, spans: Sequence[Mapping[str, Any]], known_to: Instant) -> list[Row]:
    """The records of memories by spans of `id`, `since`, `until`, and what came next: `NODE_COLUMNS`."""
    return await graph.read(cypher.AROUND, spans=list(spans), known_to=known_to)


async def held_before(graph: Graph, beliefs: Sequence[Mapping[str, Any]]) -> list[Row]:
    """Earlier records with the same belief, of beliefs by `place`, `id`, `name`, `description`, `begun`: rows of
    the place, since when and until when the record was known.
    """
    return await graph.read(cypher.HELD_BEFORE, beliefs=list(beliefs))
