"""Follows links from what the searches of the present found, and reads what the records say.

All searches of a graph are followed together: what two of them found is followed once, and what this process has
read before is not read again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from schemas.memory import GENERALISATION
from substrate.columns.reading import GraphMoved
from substrate.connection.kept import Record, RecordName
from substrate.connection.pool import Row
from substrate.graphs.graph import GraphTarget
from substrate.store.filters import EVERY_MEMORY
from substrate.store.found_records import read_both
from substrate.store.neighbours import NearLink, Neighbours
from substrate.store.rows import NODE_PLACE
from substrate.store.search import SCORE, THIN_NAME, FoundRow

AHEAD = 6
"""This many memories between are looked at together for a second link: the strongest may be hubs."""


class Found(NamedTuple):
    """What one search found: its parameters, and its rows, as those of `search.THIN`."""

    values: Mapping[str, Any]
    rows: Sequence[Row]

    def ids(self, limit: str) -> list[str]:
        """The memories from which links are followed, by the name of the parameter that limits them."""
        return [row[THIN_NAME] for row in self.rows[: self.values[limit]]]

    def names(self) -> list[RecordName]:
        """The names of what it found."""
        return [RecordName("memory", *row[THIN_NAME:]) for row in self.rows]


class Steps(NamedTuple):
    """The links that were followed from what a search found: one away from it, and two."""

    first: Sequence[NearLink] = ()
    second: Sequence[NearLink] = ()


async def follow(target: GraphTarget, searches: Sequence[Found]) -> list[list[Row]]:
    """The rows of each search with those around them, in the columns of `substrate.store.search`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    groups: dict[str, list[int]] = {}
    for place, search in enumerate(searches):
        groups.setdefault(repr([search.values[name] for name in EVERY_MEMORY]), []).append(place)
    steps = [Steps() for _ in searches]
    for places in groups.values():
        taken = await _walk(target, [searches[place] for place in places])
        for place, step in zip(places, taken, strict=True):
            steps[place] = step
    return await _rows(target, searches, steps)


async def _rows(
    target: GraphTarget,
    searches: Sequence[Found],
    steps: Sequence[Steps],
    *,
    is_shown: Callable[[Record], bool] | None = None,
) -> list[list[Row]]:
    """The rows of each search, then those of its steps. `is_shown`: only some memories."""
    names = [search.names() for search in searches]
    near = list(chain.from_iterable(chain.from_iterable(steps)))
    wanted = chain(*names, (each.other for each in near))
    ends = {each.link: (each.source, each.target) for each in near}
    memories, links = await read_both(target.graph, wanted, ends)
    shown = memories
    if is_shown is not None:
        shown = {name: memory for name, memory in memories.items() if is_shown(memory)}
    found: list[list[Row]] = []
    for search, own, taken in zip(searches, names, steps, strict=True):
        each_start = zip(search.rows, own, strict=True)
        starts = (
            FoundRow((0, row[SCORE], None, None), None, memories[n]) for row, n in each_start if n in memories
        )
        after = (*_step_rows(1, taken.first, shown, links), *_step_rows(2, taken.second, shown, links))
        found.append([*starts, *after])
    return found


async def follow_beside(target: GraphTarget, searches: Sequence[Found]) -> list[list[Row]]:
    """The rows of each search of a waking with the strongest links of its first answers; raises as `follow`.

    Links are chosen before it is asked whether the memory at the other end may be shown beside the answer.
    """
    values = searches[0].values
    ids = [name for search in searches for name in search.ids("expanded")]
    most = values["first_hop"]

    async def choose(neighbours: Neighbours) -> list[Steps]:
        if ids:
            await neighbours.read(ids, most)
        return [
            Steps(
                [
                    neighbours.near_link(number, name)
                    for name in dict.fromkeys(search.ids("expanded"))
                    for number in neighbours.holding(name)[:most]
                ]
            )
            for search in searches
        ]

    steps = await _undisturbed(target, values, choose, followed=False)

    def is_shown(memory: Record) -> bool:
        row, states = memory.row, values["beside_states"]
        return (
            row[NODE_PLACE["node_type"]] != GENERALISATION
            and row[NODE_PLACE["valid_at"]] >= values["beside_since"]
            and (not states or row[NODE_PLACE["resolution_state"]] in states)
        )

    return await _rows(target, searches, steps, is_shown=is_shown)


def _step_rows(
    hop: int,
    steps: Iterable[NearLink],
    memories: Mapping[RecordName, Record],
    links: Mapping[RecordName, Record],
) -> Iterator[FoundRow]:
    for near in steps:
        link, memory = links.get(near.link), memories.get(near.other)
        if link is not None and memory is not None:
            yield FoundRow((hop, None, near.source, near.target), link, memory)


async def _undisturbed(
    target: GraphTarget,
    values: Mapping[str, Any],
    choose: Callable[[Neighbours], Awaitable[list[Steps]]],
    *,
    followed: bool = True,
) -> list[Steps]:
    """What is chosen; where the graph is written to meanwhile, from what is read for this question alone."""
    try:
        return await choose(Neighbours(target, values, followed=followed))
    except GraphMoved:
        return await choose(Neighbours(target._replace(columns=None), values, followed=followed))


async def _walk(target: GraphTarget, searches: Sequence[Found]) -> list[Steps]:
    """The steps of each search: one link from its first starts, two from the very first."""
    first = max(search.values["first_hop"] for search in searches)
    ids: list[str] = []
    for search in searches:
        ids += [*search.ids("expanded"), *search.ids("far")]
    if not ids:
        return [Steps() for _ in searches]

    async def choose(neighbours: Neighbours) -> list[Steps]:
        await neighbours.read(ids, first)
        between = _Between(neighbours)
        for search in searches:
            between.begin_at(search)
        await between.choose()
        return [Steps(_first_steps(search, neighbours), between.steps(search)) for search in searches]

    return await _undisturbed(target, searches[0].values, choose)


def _first_steps(search: Found, neighbours: Neighbours) -> list[NearLink]:
    """The strongest links of each start. A start that was found twice counts each link twice, up to the limit."""
    most = search.values["first_hop"]
    steps: list[NearLink] = []
    for name, times in Counter(search.ids("expanded")).items():
        taken = [neighbours.near_link(number, name) for number in neighbours.holding(name)[: -(-most // times)]]
        steps += {near.link: near for near in taken}.values()
    return steps


class _Between:
    """The memories between the first starts and what is two links away: no hub, the most strongly linked."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        self._known: set[str] = set()
        self._wanted: dict[tuple[str, int], int] = {}

    def begin_at(self, search: Found) -> None:
        """Look for what is two links away from the first starts of a search."""
        for name, times in Counter(search.ids("far")).items():
            if not self._neighbours.is_hub(name):
                most = search.values["second_starts"]
                self._wanted[name, times] = max(most, self._wanted.get((name, times), 0))

    async def choose(self) -> None:
        """Read the links of memories between until it is known which are chosen."""
        while unknown := dict.fromkeys(each for wanted in self._wanted for each in self._unknown(*wanted)):
            await self._neighbours.read(unknown, 0)
            self._known.update(unknown)

    def _unknown(self, name: str, times: int) -> list[str]:
        """The next memories between of which it must be known whether they are hubs."""
        most, found = self._wanted[name, times], 0
        unknown: list[str] = []
        for number in self._neighbours.holding(name):
            other = self._neighbours.columns.other(number)
            if other not in self._known:
                unknown.append(other)
            elif not self._neighbours.is_hub(other) and not unknown:
                found += times
            if found >= most or len(unknown) >= AHEAD:
                break
        return unknown

    def steps(self, search: Found) -> list[NearLink]:
        """The second links of a search, from the ends of the strongest first links; none leads back."""
        most, onward = search.values["second_starts"], search.values["second_hop"]
        columns, holding = self._neighbours.columns, self._neighbours.holding
        steps: list[NearLink] = []
        for name, times in Counter(search.ids("far")).items():
            if self._neighbours.is_hub(name):
                continue
            others = (columns.other(number) for number in holding(name) for _ in range(times))
            between = islice((other for other in others if not self._neighbours.is_hub(other)), most)
            for other in dict.fromkeys(between):
                back = (number for number in holding(other) if columns.other(number) != name)
                steps += [self._neighbours.near_link(number, other) for number in islice(back, onward)]
        return steps
