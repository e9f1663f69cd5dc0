"""What a graph knows of the names in a signal, and where its newest memories lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemas.temporal import Scope
from substrate.connection.pool import Row
from substrate.cypher.resonance import ENOUGH, NEWEST, PLACE_THEN, RESOLVE
from substrate.graphs.graph import Graph, GraphTarget
from substrate.text import name_key

NO_END: Final = 2**53


class Whereabouts(NamedTuple):
    """One graph: its rows of names, and between which places its newest memories lie."""

    target: GraphTarget
    rows: Sequence[Row]
    newest: int
    until: int

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


async def look_around(target: GraphTarget, names: Sequence[str], scope: Scope) -> Whereabouts:
    """The whereabouts in one graph."""
    keys = [key for name in names if (key := name_key(name))]
    rows = await target.graph.read(RESOLVE, names=list(names), keys=keys)
    places = _place_now(rows) if scope.is_present else await _place_then(target.graph, scope.bounds())
    return Whereabouts(target, rows, *places)


def _place_now(rows: Sequence[Row]) -> tuple[int, int]:
    """From the last place with enough memories behind it to the end."""
    places: list[tuple[int, int]] = [(row[1], row[2]) for row in rows if row[0] == "newest"]
    first = max((place for place, held in places if held >= ENOUGH), default=min(place for place, _ in places))
    return first, NO_END


async def _place_then(graph: Graph, bounds: Mapping[str, int]) -> tuple[int, int]:
    """Around the place before which all was so by then.

    What was told late lies elsewhere, so the place is told by how many were so, not by which was the last.
    """
    [(size, asked, held)] = await graph.read(PLACE_THEN, **bounds)
    if held == asked:
        return size - NEWEST, NO_END
    end = size * held // asked
    return end - NEWEST, end + NEWEST
