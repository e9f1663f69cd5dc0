"""What is near in the present: links of memories, strongest first, and memories that a search of vectors found.

Both are decided by what this process holds of the graph in columns (`GraphColumns`); only what is not held is
read. A question that finds the graph in another state than it began in has columns of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from schemas.temporal import AFTER_ALL, Instant
from substrate.connection.graph_columns import (
    OPEN,
    SHOWN,
    STATES,
    TELLS,
    TOLD,
    UNKNOWN,
    WALKED,
    GraphColumns,
    Wanted,
)
from substrate.connection.kept import RecordName
from substrate.connection.pool import Row
from substrate.connection.together import together
from substrate.cypher.fragments import HUB
from substrate.graphs.graph import GraphTarget
from substrate.likeness import port as likeness
from substrate.likeness.elements import Near
from substrate.store.column_reading import (
    AROUND,
    CROWD,
    KEYS,
    MEMORIES,
    STRONGEST,
    STRONGEST_OF_ALL,
    STRONGEST_WALKED,
    GraphMoved,
    hold,
    hold_keys,
    take,
)
from substrate.store.search import FAVOURED_NEARER, NOW

_LASTING: Final = Wanted(0, 0, -1.0, -1.0)
"""What a query chose already."""


class NearLink(NamedTuple):
    """A link of a memory, the memory at its other end, and the ids of its ends."""

    source: str
    target: str
    link: RecordName
    other: RecordName


class Neighbours:
    """Reads what is near in one graph, of what the parameters `values` of a search let pass.

    `known`: the memories whose links were read. Without `followed`, all links of the present count, whatever is at
    their other ends.
    """

    def __init__(self, target: GraphTarget, values: Mapping[str, Any], *, followed: bool = True) -> None:
        self._graph, self.now = target.graph, values["valid_from"]
        self.columns = target.columns or GraphColumns()
        self._state = self.columns.state
        self._values = {**values, "from": self.now, "until": AFTER_ALL}
        self._strongest = STRONGEST_WALKED if followed else STRONGEST_OF_ALL
        self.known: set[str] = set()
        self._asked: set[str] = set()
        self._wanted = Wanted(OPEN, SHOWN)
        if followed:  # as `findable` says; of its filters, nothing passes so far
            bits = OPEN | TELLS | (0 if values["generalised"] else TOLD) | (0 if values["asked"] else STATES)
            passing: set[str] | None = None if values["unfiltered"] and not values["emotions_needed"] else set()
            self._wanted = Wanted(bits, SHOWN | WALKED, values["min_energy"], values["min_confidence"], passing)
        self._found: dict[str, Sequence[int]] = {}

    async def read(self, ids: Iterable[str], wanted: int) -> None:
        """Read the links of these memories; of one that has a crowd of them at least `wanted` that hold now.

        Raises GraphMoved where the graph is no longer as it was when the question began.
        """
        names, columns = list(dict.fromkeys(ids)), self.columns
        self.known.update(names)
        lacking = [name for name in names if columns.degree(name) == UNKNOWN]
        if lacking:
            hold(columns, await self._graph.read(AROUND, ids=lacking), lacking)
        unknown = columns.unknown_ends(names)
        if unknown:
            take(columns, await self._graph.read(MEMORIES, ids=unknown))
            columns.hold_gone(unknown)
        if self._wanted.passing is not None:
            await self._read_passing({columns.other(number) for name in names for number in columns.links(name)})
        if wanted:
            crowds = [name for name in names if columns.degree(name) >= CROWD and name not in self._found]
            await together(*(self._read_crowd(name, wanted) for name in crowds))
        self._check()

    async def nearest(self, near: Sequence[Near]) -> list[Row]:
        """The memories with these vectors, nearest first, as the rows of `search.THIN`. Raises GraphMoved."""
        columns, values, favoured = self.columns, self._values, frozenset(self._values["favoured"])
        owners = dict.fromkeys(one.owner for one in near)
        lacking = [name for name in owners if columns.keys(name) is None]
        if lacking:
            hold_keys(columns, take(columns, await self._graph.read(KEYS, ids=lacking)), lacking)
            columns.hold_gone(lacking)
        await self._read_passing(owners)
        self._check()
        wanted = columns.wanted(owners, self.now, values["valid_to"], self._wanted)
        found: list[tuple[float, str, int]] = []
        for place, (name, key, distance) in enumerate(near):
            if name in wanted and key in (columns.keys(name) or ()):
                nearer = FAVOURED_NEARER if columns.speaker(name) in favoured else 0.0
                found.append((distance - nearer, name, place))
        found.sort()
        best = [near[place] for _, _, place in found[: values["limit"]]]
        return [(0, f"{one.distance:.15g}", *columns.record(one.owner)[1:]) for one in best]

    def _check(self) -> None:
        """Raises GraphMoved where the columns were carried on to another state: what that changed is not held."""
        if self.columns.state != self._state:
            raise GraphMoved

    async def _read_passing(self, names: Iterable[str]) -> None:
        """Find out which of these memories pass the filters of the question."""
        passing = self._wanted.passing
        unasked = [] if passing is None else [name for name in names if name not in self._asked]
        if passing is not None and unasked:
            self._asked.update(unasked)
            passing.update(row[0] for row in await self._graph.read(NOW.nearest, **self._values, ids=unasked))

    def holding(self, name: str) -> Sequence[int]:
        """The numbers of the links that hold now of a memory whose links were read, strongest first."""
        found = self._found.get(name)
        if found is None:
            numbers = self.columns.links(name)
            found = self._found[name] = self.columns.holding(numbers, self.now, self._wanted)
        return found

    def strongest(self, name: str, most: int) -> list[NearLink]:
        """At most so many of the links that hold now of a memory whose links were read, the strongest."""
        return [self.near_link(number, name) for number in self.holding(name)[:most]]

    def uncrowded(self, name: str, most: int) -> dict[str, None]:
        """Where second links begin: the ends of its `most` strongest links that lead to no hub; none for a hub.

        What is not known yet is taken for no hub.
        """
        degree = self.columns.degree
        others = map(self.columns.other, self.holding(name) if degree(name) < HUB else ())
        return dict.fromkeys(islice((other for other in others if degree(other) < HUB), most))

    def near_link(self, number: int, name: str) -> NearLink:
        """The link with this number, one end of which is the memory `name`."""
        record, source, target = self.columns.link(number, name)
        return NearLink(source, target, record, self.columns.record(self.columns.other(number)))

    async def _read_crowd(self, name: str, wanted: int) -> None:
        """Of many stronger links that hold only later none is read where too few of the others would be left."""
        columns, is_kept = self.columns, self._wanted.passing is None
        at, numbers = columns.crowds.get((name, self._wanted), (0, None)) if is_kept else (0, None)
        if numbers is None or at > self.now:
            numbers = await self._read_strongest(name, AFTER_ALL)
            if is_kept:
                columns.crowds[name, self._wanted] = self.now, numbers
        found = columns.holding(numbers, self.now, _LASTING)
        if len(found) < wanted and len(numbers) == STRONGEST:
            found = list(await self._read_strongest(name, self.now + 1))
        self._found[name] = found

    async def _read_strongest(self, name: str, until: Instant) -> range:
        values = {**self._values, "until": until, "ids": [name]}
        answer = take(self.columns, await self._graph.read(self._strongest, **values))
        return self.columns.add_links(answer.links.get(name, ()))


async def undisturbed[Found](
    target: GraphTarget,
    values: Mapping[str, Any],
    choose: Callable[[Neighbours], Awaitable[Found]],
    *,
    followed: bool = True,
) -> Found:
    """What is chosen; where the graph is written to meanwhile, from what is read for this question alone."""
    try:
        return await choose(Neighbours(target, values, followed=followed))
    except GraphMoved:
        return await choose(Neighbours(target._replace(columns=None), values, followed=followed))


async def find_nearest(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The memories nearest to what the parameter `near` searches, as the rows of `search.THIN`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    near = await likeness.nearest(target.graph.connection, target.graph.name, values["near"])
    return await undisturbed(target, values, lambda neighbours: neighbours.nearest(near))
