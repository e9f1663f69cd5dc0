"""What is near in the present: links of memories, strongest first, and memories that a search of vectors found.

Both are decided by what this process holds of the graph in columns (`GraphColumns`), by slots and places; only
what is not held is read. A question that finds the graph in another state than it began in has columns of its own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

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
    LinkEnd,
    Wanted,
)
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


class Neighbours:
    """Reads what is near in one graph, of what the parameters `values` of a search let pass.

    `known`: the memories whose links were read. Without `followed`, all links of the present count, whatever is at
    their other ends.
    """

    def __init__(self, target: GraphTarget, values: Mapping[str, Any], *, followed: bool = True) -> None:
        self.graph, self.now = target.graph, values["valid_from"]
        self.columns = target.columns or GraphColumns()
        self._state = self.columns.state
        self._values = {**values, "from": self.now, "until": AFTER_ALL}
        self._strongest = STRONGEST_WALKED if followed else STRONGEST_OF_ALL
        self.known: set[int] = set()
        self._asked: set[int] = set()
        self._wanted = Wanted(OPEN, SHOWN)
        if followed:  # as `findable` says; of its filters, nothing passes so far
            bits = OPEN | TELLS | (0 if values["generalised"] else TOLD) | (0 if values["asked"] else STATES)
            passing: set[int] | None = None if values["unfiltered"] and not values["emotions_needed"] else set()
            self._wanted = Wanted(bits, SHOWN | WALKED, values["min_energy"], values["min_confidence"], passing)
        self._found: dict[int, Sequence[LinkEnd]] = {}

    async def read(self, slots: Iterable[int], wanted: int) -> None:
        """Read the links of these memories; of one that has a crowd of them at least `wanted` that hold now.

        Raises GraphMoved where the graph is no longer as it was when the question began.
        """
        slots, columns = list(dict.fromkeys(slots)), self.columns
        self.known.update(slots)
        lacking = [columns.ids[slot] for slot in slots if columns.degree(slot) == UNKNOWN]
        if lacking:
            hold(columns, await self.graph.read(AROUND, ids=lacking), lacking)
        unknown = columns.unknown_ends(slots)
        if unknown:
            take(columns, await self.graph.read(MEMORIES, ids=[columns.ids[slot] for slot in unknown]))
            columns.hold_gone(unknown)
        if self._wanted.passing is not None:
            others = {columns.other(place, slot) for slot in slots for place in columns.links(slot)}
            await self._read_passing(others)
        if wanted:
            crowds = [slot for slot in slots if columns.degree(slot) >= CROWD and slot not in self._found]
            await together(*(self._read_crowd(slot, wanted) for slot in crowds))
        self._check()

    async def nearest(self, near: Sequence[Near]) -> list[Row]:
        """The memories with these vectors, nearest first, as the rows of `search.THIN`. Raises GraphMoved."""
        columns, values, favoured = self.columns, self._values, frozenset(self._values["favoured"])
        owners = [columns.slot(one.owner) for one in near]
        distinct = dict.fromkeys(owners)
        lacking = [slot for slot in distinct if columns.keys(slot) is None]
        if lacking:
            names = [columns.ids[slot] for slot in lacking]
            hold_keys(columns, take(columns, await self.graph.read(KEYS, ids=names)), names)
            columns.hold_gone(lacking)
        await self._read_passing(distinct)
        self._check()
        wanted = columns.wanted(distinct, self.now, values["valid_to"], self._wanted)
        found: list[tuple[float, str, int]] = []
        for place, (slot, (name, key, distance)) in enumerate(zip(owners, near, strict=True)):
            if slot in wanted and key in (columns.keys(slot) or ()):
                nearer = FAVOURED_NEARER if columns.speaker(slot) in favoured else 0.0
                found.append((distance - nearer, name, place))
        found.sort()
        best = [place for _, _, place in found[: values["limit"]]]
        rows: list[Row] = []
        for place in best:
            _, *version = columns.version(owners[place])
            rows.append((0, f"{near[place].distance:.15g}", near[place].owner, *version))
        return rows

    def _check(self) -> None:
        """Raises GraphMoved where the columns were carried on to another state: what that changed is not held."""
        if self.columns.state != self._state:
            raise GraphMoved

    async def _read_passing(self, slots: Iterable[int]) -> None:
        """Find out which of these memories pass the filters of the question."""
        passing, columns = self._wanted.passing, self.columns
        unasked = [] if passing is None else [slot for slot in slots if slot not in self._asked]
        if passing is not None and unasked:
            self._asked.update(unasked)
            ids = [columns.ids[slot] for slot in unasked]
            passing.update(
                columns.slot(row[0]) for row in await self.graph.read(NOW.nearest, **self._values, ids=ids)
            )

    def holding(self, slot: int) -> Sequence[LinkEnd]:
        """The links that hold now of a memory whose links were read, strongest first."""
        found = self._found.get(slot)
        if found is None:
            places = self.columns.links(slot)
            found = self._found[slot] = self.columns.holding(slot, places, self.now, self._wanted)
        return found

    def uncrowded(self, slot: int, most: int) -> dict[int, None]:
        """Where second links begin: the ends of its `most` strongest links that lead to no hub; none for a hub.

        What is not known yet is taken for no hub.
        """
        degree = self.columns.degree
        ends = self.holding(slot) if degree(slot) < HUB else ()
        return dict.fromkeys(islice((other for _, other in ends if degree(other) < HUB), most))

    async def _read_crowd(self, slot: int, wanted: int) -> None:
        """Of many stronger links that hold only later none is read where too few of the others would be left."""
        columns, is_kept = self.columns, self._wanted.passing is None
        at, places = columns.crowds.get((slot, self._wanted), (0, None)) if is_kept else (0, None)
        if places is None or at > self.now:
            places = await self._read_strongest(slot, AFTER_ALL)
            if is_kept:
                columns.crowds[slot, self._wanted] = self.now, places
        found = columns.holding(slot, places, self.now, _LASTING)
        if len(found) < wanted and len(places) == STRONGEST:
            later = await self._read_strongest(slot, self.now + 1)
            found = columns.holding(slot, later, self.now, _LASTING)
        self._found[slot] = found

    async def _read_strongest(self, slot: int, until: Instant) -> Sequence[int]:
        name = self.columns.ids[slot]
        values = {**self._values, "until": until, "ids": [name]}
        answer = take(self.columns, await self.graph.read(self._strongest, **values))
        return self.columns.add_links(slot, answer.links.get(name, ()))


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
