"""Vectors in Redis vector sets (Redis 8), beside the graph in the same server.

A vector is written before its record. What is left of a crash between them is a vector without a record, which no
search returns and the sweep removes. The graph keeps every vector too, so a set that is lost is filled again.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from schemas.errors import Fault
from substrate.connection.lines import Command
from substrate.connection.pool import Connection
from substrate.likeness.elements import (
    AFTER_SEPARATOR,
    GENERATIONS,
    SEPARATOR,
    WHOLE,
    Near,
    Role,
    Search,
    Vector,
    open_mark,
    pack,
    read_found,
    set_name,
)

NEEDED: Final = ("VADD", "VRANGE")
"""The commands of the server without which an index of the graph is used. Redis has both since 8.4."""
NEIGHBOURS, EXPLORED_WRITING = 16, 100
"""Of a new vector: links to others, and how many are compared to find them. 64 costs .15 ms less, and of 100,000
vectors one in thirty of the nearest is missed."""
EXACT_WITHIN: Final = 3000
"""Where there are so few vectors all are compared: that takes no longer than a search, and misses none."""
EXPLORED_AT_LEAST, EXPLORED_AT_MOST = 200, 2000
"""This many vectors are compared at least, however few are wanted. 100 costs .1 ms less, and of 100,000 vectors
one in a hundred of the nearest is missed."""
HELD_FOR_EACH_EXPLORED: Final = 400
"""One more is compared for so many that there are: of 300,000 vectors 200 miss one in twelve of the nearest, 750
one in fifty."""
OPEN: Final = ".open > 0"
_MARK_BITS: Final = 40
_UNMARK: Final = (
    "if redis.call('VGETATTR', KEYS[1], ARGV[1]) == ARGV[2] "
    "then return redis.call('VSETATTR', KEYS[1], ARGV[1], '') end return 0"
)
"""Takes a mark away if it still is the one that was read."""
_REMOVE: Final = (
    "if (redis.call('VGETATTR', KEYS[1], ARGV[1]) or '') == ARGV[2] "
    "then return redis.call('VREM', KEYS[1], ARGV[1]) end return 0"
)
"""Removes a vector if it still has the mark that was read."""


class SetState(NamedTuple):
    """What a vector set tells of itself. `held`: how many vectors it has."""

    is_whole: bool
    held: int
    dimension: int


class VectorSets(NamedTuple):
    """The vector sets of a graph; `generation` is that of the vectors in use."""

    connection: Connection
    graph: str
    generation: int

    def key(self, role: Role, *, other: bool = False) -> str:
        """The set of a role; with `other` that of the generation that is not in use."""
        return set_name(self.graph, role, 1 - self.generation if other else self.generation)

    async def nearest(self, search: Search) -> list[Near]:
        """The nearest vectors, nearest first; none where the set is missing or cannot be used. `NOTHREAD`: a
        search takes less time than to start a thread."""
        count = search.k + 1  # `WHOLE` may be among them
        try:
            explored = max(EXPLORED_AT_LEAST, count, min(EXPLORED_AT_MOST, search.held // HELD_FOR_EACH_EXPLORED))
            how = ("TRUTH",) if 0 < search.held <= EXACT_WITHIN else ("EF", explored)
            only = ("FILTER", OPEN) if search.open_only and (search.crowded or not search.held) else ()
            words = ("VSIM", self.key(search.role), "FP32", pack(search.embedding), "WITHSCORES", "COUNT", count)
            return read_found(await self.connection.search_vectors(*words, *how, *only, "NOTHREAD"))[: search.k]
        except Fault:  # another kind of key, or vectors of another dimension
            return []

    async def add(self, vectors: Iterable[Vector], role: Role, *, other: bool = False) -> None:
        """Keep vectors; one that is kept already gets only its mark. Raises as `Connection.write` does."""
        key = self.key(role, other=other)
        await self.connection.change_vectors(*chain.from_iterable(additions(key, vector) for vector in vectors))

    async def marks(self, key: str, names: Sequence[str]) -> dict[str, str]:
        """By name, the marks of those vectors of a set that are marked as of the present."""
        if not names:
            return {}
        found = await self.connection.change_vectors(*(("VGETATTR", key, name) for name in names))
        return {name: str(mark) for name, mark in zip(names, found, strict=True) if mark}

    async def unmark(self, marks: Mapping[str, str]) -> int:
        """Note that vectors are no longer of the present, if they still have these marks; returns how many had."""
        key = self.key(Role.MEMORIES)
        changes = (("EVAL", _UNMARK, 1, key, name, mark) for name, mark in marks.items())
        return sum(map(int, await self.connection.change_vectors(*changes)))

    async def are_whole(self) -> bool:
        """True when each set has had every vector of its role, and none was lost since."""
        told = await self.connection.read_together("VISMEMBER", self.inquiries())
        return all(state.is_whole for state in read_states(told))

    def inquiries(self) -> list[Command]:
        """The commands that ask the set of each role for its state; `read_states` reads their replies."""
        keys = list(map(self.key, Role))
        return [words for key in keys for words in (("VISMEMBER", key, WHOLE), ("VCARD", key), ("VDIM", key))]

    async def note_whole(self, dimension: int, *, other: bool = False) -> None:
        """Note that the set of each role has every vector of it."""
        for role in Role:
            await self.add([Vector("", "", (1.0, *[0.0] * (dimension - 1)), is_open=False)], role, other=other)

    async def remove(self, owners: Sequence[str]) -> int:
        """Remove every vector of these owners, of each role and generation; returns how many."""
        removed = 0
        for role in Role:
            for generation in GENERATIONS:
                key = set_name(self.graph, role, generation)
                names = [name for owner in owners for name in await self.names_of(key, owner)]
                removed += sum(
                    map(int, await self.connection.change_vectors(*(("VREM", key, name) for name in names)))
                )
        return removed

    async def names_of(self, key: str, owner: str) -> list[str]:
        """The names of the vectors of an owner in a set; none where there is no such set."""
        return await self.page(key, f"[{owner}{SEPARATOR}", f"({owner}{AFTER_SEPARATOR}")

    async def page(self, key: str, start: str, *end: str | int) -> list[str]:
        """The names of a set in their order, from `start` to an `end` as `VRANGE` has them, and at most this many;
        none for an unusable set."""
        try:
            return list(await self.connection.search_vectors("VRANGE", key, start, *end))
        except Fault:
            return []

    async def remove_marked(self, key: str, marks: Mapping[str, str]) -> int:
        """Remove vectors that still have these marks, "" for none; returns how many had."""
        changes = (("EVAL", _REMOVE, 1, key, name, mark) for name, mark in marks.items())
        return sum(map(int, await self.connection.change_vectors(*changes)))

    async def missing(self, key: str, names: Sequence[str]) -> list[str]:
        """Those of the names that the set does not have."""
        found = await self.connection.change_vectors(*(("VISMEMBER", key, name) for name in names))
        return [name for name, there in zip(names, found, strict=True) if not int(there)]


def read_states(replies: Sequence[Any]) -> list[SetState]:
    """The states of the sets, in the order of their roles. Raises an error that is not about a key."""
    for reply in replies:
        if isinstance(reply, Exception) and not isinstance(reply, Fault):
            raise reply
    if any(isinstance(reply, Fault) for reply in replies):  # a set is missing, or a key is of another kind
        return [SetState(is_whole=False, held=0, dimension=0) for _ in Role]
    whole, sizes, dimensions = (map(int, replies[place::3]) for place in range(3))
    return [
        SetState(bool(is_whole), size - is_whole, dimension)  # `WHOLE` is one of its elements
        for is_whole, size, dimension in zip(whole, sizes, dimensions, strict=True)
    ]


def additions(key: str, vector: Vector) -> tuple[Command, ...]:
    """The commands that keep a vector, and mark it if it is of the present; they never take a mark away. `VADD`
    marks a new vector at once. The mark that it gives to one that is there already is not written to the log, and
    so gone with the engine: it is set once more."""
    mark = open_mark(secrets.randbits(_MARK_BITS) + 1) if vector.is_open else ""
    marking = (("VSETATTR", key, vector.name, mark),) if mark else ()
    if not len(vector.embedding):
        return marking
    how = ("NOQUANT", "EF", EXPLORED_WRITING, "M", NEIGHBOURS, *(("SETATTR", mark) if mark else ()))
    return ("VADD", key, "FP32", pack(vector.embedding), vector.name, *how), *marking


async def are_supported(connection: Connection) -> bool:
    """True when the server has vector sets with all that they need here."""
    known = await connection.command("COMMAND", "INFO", *NEEDED)
    return len(known) == len(NEEDED) and all(known.values() if isinstance(known, dict) else known)
