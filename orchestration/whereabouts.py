"""What a graph knows of the names in a signal, and where its newest memories lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.deps import Deps
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.connection import Row, parameters
from substrate.cypher.resonance import ENOUGH, NEWEST, PLACE_THEN, RESOLVE
from substrate.text import name_key

NO_END: Final = 2**53


class Whereabouts(NamedTuple):
    """One graph: its rows of names, between which places its newest memories lie, whether its past is asked."""

    level: Level
    graph: str
    rows: Sequence[Row]
    newest: int
    until: int
    past: bool

    def ids(self, name: str) -> list[str]:
        """The memories that have this name or id."""
        key = name_key(name)
        return sorted(
            {
                row[2]
                for row in self.rows
                if row[0] in ("id", "name") and row[1] == (name if row[0] == "id" else key)
            }
        )


async def look_around(
    where: tuple[Level, str], names: Sequence[str], when: tuple[Mapping[str, int] | None, Instant], deps: Deps
) -> Whereabouts:
    """The whereabouts in one graph. `when`: the bounds of another moment, None for the present; now."""
    level, graph = where
    bounds, now = when
    keys = [key for name in names if (key := name_key(name))]
    rows = await deps.connection.read(graph, RESOLVE, parameters({"names": list(names), "keys": keys}))
    if bounds is not None:
        return Whereabouts(level, graph, rows, *await _place_then(graph, bounds, deps), past=True)
    pending = max((row[1] or 0 for row in rows if row[0] == "pending"), default=0)
    return Whereabouts(level, graph, rows, *_place_now(rows), past=now < pending)


def _place_now(rows: Sequence[Row]) -> tuple[int, int]:
    """From the last place with enough memories behind it to the end."""
    places: list[tuple[int, int]] = [(row[1], row[2]) for row in rows if row[0] == "newest"]
    first = max((place for place, held in places if held >= ENOUGH), default=min(place for place, _ in places))
    return first, NO_END


async def _place_then(graph: str, bounds: Mapping[str, int], deps: Deps) -> tuple[int, int]:
    """Around the place before which all was so by then.

    What was told late lies elsewhere, so the place is told by how many were so, not by which was the last.
    """
    [(size, asked, held)] = await deps.connection.read(graph, PLACE_THEN, parameters(dict(bounds)))
    if held == asked:
        return size - NEWEST, NO_END
    end = size * held // asked
    return end - NEWEST, end + NEWEST
