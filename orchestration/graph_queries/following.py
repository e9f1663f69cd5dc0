"""Follows links from what the searches of the present found, and reads what the records say.

All searches of a graph are followed together: what two of them found is followed once, and what this process has
read before is not read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from schemas.memory import GENERALISATION
from substrate.connection.pool import Row
from substrate.connection.record_cache import Record, RecordName
from substrate.graphs.graph import GraphTarget
from substrate.store.filters import EVERY_MEMORY
from substrate.store.found_records import read_both
from substrate.store.neighbours import EVERY, NearLink, Neighbourhood, Neighbours
from substrate.store.rows import NODE_PLACE
from substrate.store.search import SCORE, THIN_NAME, FoundRow

AHEAD = 6
"""So many memories between are looked at together for a second link: the strongest may be hubs."""


class Found(NamedTuple):
    """What one search found: its parameters, and its rows, as those of `search.THIN`."""

    values: Mapping[str, Any]
    rows: Sequence[Row]

    def ids(self, limit: str) -> list[str]:
        """The memories from which links are followed, by the name of the parameter that limits them."""
        return [row[THIN_NAME] for row in self.rows[: self.values[limit]]]


class Step(NamedTuple):
    """A link that was followed, so many links away from a start."""

    hop: int
    near: NearLink


async def follow(target: GraphTarget, searches: Sequence[Found]) -> list[list[Row]]:
    """The rows of each search with those around them, in the columns of `substrate.store.search`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    groups: dict[str, list[int]] = {}
    for place, search in enumerate(searches):
        groups.setdefault(repr([search.values[name] for name in EVERY_MEMORY]), []).append(place)
    steps: list[list[Step]] = [[] for _ in searches]
    for places in groups.values():
        values = searches[places[0]].values
        now = values["valid_from"]
        neighbours = Neighbours(target.graph, target.reads, values, now)
        for place, taken in zip(places, await _walk(neighbours, [searches[each] for each in places]), strict=True):
            steps[place] = taken
    starts = {RecordName("memory", *row[THIN_NAME:]) for search in searches for row in search.rows}
    near = [step.near for taken in steps for step in taken]
    ends = {each.link: (each.source, each.target) for each in near}
    memories, links = await read_both(target.graph, [*starts, *(each.other for each in near)], ends)
    return [
        [*_start_rows(search, memories), *_step_rows(taken, memories, links)]
        for search, taken in zip(searches, steps, strict=True)
    ]


async def follow_beside(target: GraphTarget, searches: Sequence[Found]) -> list[list[Row]]:
    """The rows of each search of a waking with the strongest links of its first answers; raises as `follow`.

    Links are chosen before it is asked whether the memory at the other end may be shown beside the answer.
    """
    values = searches[0].values
    neighbours = Neighbours(target.graph, target.reads, values, values["valid_from"], texts=EVERY)
    ids = [name for search in searches for name in search.ids("expanded")]
    around = await neighbours.read(ids, values["first_hop"]) if ids else {}
    steps = [list(_steps_beside(search, around, neighbours.now)) for search in searches]
    starts = {RecordName("memory", *row[THIN_NAME:]) for search in searches for row in search.rows}
    near = [step.near for taken in steps for step in taken]
    ends = {each.link: (each.source, each.target) for each in near}
    memories, links = await read_both(target.graph, [*starts, *(each.other for each in near)], ends)
    shown = {name: memory for name, memory in memories.items() if _is_shown_beside(memory, values)}
    return [
        [*_start_rows(search, memories), *_step_rows(taken, shown, links)]
        for search, taken in zip(searches, steps, strict=True)
    ]


def _steps_beside(search: Found, around: Mapping[str, Neighbourhood], now: int) -> Iterator[Step]:
    for name in dict.fromkeys(search.ids("expanded")):
        yield from (Step(1, near) for near in around[name].holding(now)[: search.values["first_hop"]])


def _is_shown_beside(memory: Record, values: Mapping[str, Any]) -> bool:
    row, states = memory.row, values["beside_states"]
    return (
        row[NODE_PLACE["node_type"]] != GENERALISATION
        and row[NODE_PLACE["valid_at"]] >= values["beside_since"]
        and (not states or row[NODE_PLACE["resolution_state"]] in states)
    )


def _start_rows(search: Found, memories: Mapping[RecordName, Record]) -> Iterator[FoundRow]:
    for row in search.rows:
        memory = memories.get(RecordName("memory", *row[THIN_NAME:]))
        if memory is not None:
            yield FoundRow((0, row[SCORE], None, None), None, memory)


def _step_rows(
    steps: Iterable[Step], memories: Mapping[RecordName, Record], links: Mapping[RecordName, Record]
) -> Iterator[FoundRow]:
    for hop, near in steps:
        link, memory = links.get(near.link), memories.get(near.other)
        if link is not None and memory is not None:
            yield FoundRow((hop, None, near.source, near.target), link, memory)


async def _walk(neighbours: Neighbours, searches: Sequence[Found]) -> list[list[Step]]:
    """The steps of each search: one link from its first starts, two from the very first."""
    first = max(search.values["first_hop"] for search in searches)
    ids = [name for search in searches for limit in ("expanded", "far") for name in search.ids(limit)]
    if not ids:
        return [[] for _ in searches]
    around = await neighbours.read(ids, first)
    between = _Between(neighbours, around)
    for search in searches:
        between.begin_at(search)
    await between.choose()
    return [[*_first_steps(search, around, neighbours.now), *between.steps(search)] for search in searches]


def _first_steps(search: Found, around: Mapping[str, Neighbourhood], now: int) -> Iterator[Step]:
    """The strongest links of each start. A start that was found twice counts each link twice, up to the limit."""
    for name, times in Counter(search.ids("expanded")).items():
        links = [near for near in around[name].holding(now) for _ in range(times)]
        yield from (Step(1, near) for near in dict.fromkeys(links[: search.values["first_hop"]]))


class _Between:
    """The memories between the first starts and what is two links away: no hub, the most strongly linked."""

    def __init__(self, neighbours: Neighbours, around: Mapping[str, Neighbourhood]) -> None:
        self._neighbours, self._around = neighbours, around
        self._now = neighbours.now
        self._wanted: dict[tuple[str, int], int] = {}

    def begin_at(self, search: Found) -> None:
        """Look for what is two links away from the first starts of a search."""
        for name, times in Counter(search.ids("far")).items():
            if not self._around[name].is_hub:
                most = search.values["second_starts"]
                self._wanted[name, times] = max(most, self._wanted.get((name, times), 0))

    async def choose(self) -> None:
        """Read the neighbourhoods of memories between until it is known which are chosen."""
        while unknown := list(dict.fromkeys(each for wanted in self._wanted for each in self._unknown(*wanted))):
            await self._neighbours.read(unknown, 0)

    def _unknown(self, name: str, times: int) -> list[str]:
        """The next memories between of which it must be known whether they are hubs."""
        most, found = self._wanted[name, times], 0
        unknown: list[str] = []
        for near in self._around[name].holding(self._now):
            other = self._around.get(near.other.id)
            if other is None:
                unknown.append(near.other.id)
            elif not other.is_hub and not unknown:
                found += times
            if found >= most or len(unknown) >= AHEAD:
                break
        return unknown

    def _chosen(self, name: str, times: int, most: int) -> list[str]:
        """The ids of the memories between, each once: those of the strongest `most` links."""
        links = (near for near in self._around[name].holding(self._now) for _ in range(times))
        uncrowded = (near.other.id for near in links if not self._around[near.other.id].is_hub)
        return list(dict.fromkeys(islice(uncrowded, most)))

    def steps(self, search: Found) -> Iterator[Step]:
        """The second links of a search."""
        for name, times in Counter(search.ids("far")).items():
            if self._around[name].is_hub:
                continue
            for other in self._chosen(name, times, search.values["second_starts"]):
                links = self._around[other].holding(self._now)
                onward = [near for near in links if near.other.id != name]
                yield from (Step(2, near) for near in onward[: search.values["second_hop"]])
