"""Where the vectors of each graph are, as this process read it last. Pure."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from schemas.base import without_nulls

MOST_KNOWN: Final = 10_000
"""Of this many graphs it is kept, those opened last; a graph is opened again each second while it is in use."""


class VectorPlace(NamedTuple):
    """Where the vectors of a graph are. `generation`: which of its two generations is in use. `indexed`: an index
    of the graph finds the nearest, not vector sets. `partial`: its sets lack vectors, and are not to be asked."""

    generation: int = 0
    indexed: bool = False
    partial: bool = False


_USUAL: Final = VectorPlace()


class GraphVectors:
    """The places of the vectors of graphs. The usual one, first generation in whole sets, takes no room."""

    def __init__(self, most: int = MOST_KNOWN) -> None:
        self._most = most
        self._places: dict[str, VectorPlace] = {}

    def of(self, graph: str) -> VectorPlace:
        """The place of a graph's vectors."""
        return self._places.get(graph, _USUAL)

    def use(
        self,
        graph: str,
        *,
        generation: int | None = None,
        indexed: bool | None = None,
        partial: bool | None = None,
    ) -> None:
        """Note what is given of a graph from now on; what is not given stays."""
        given: dict[str, Any] = {"generation": generation, "indexed": indexed, "partial": partial}
        place = self.of(graph)._replace(**without_nulls(given))
        self._places.pop(graph, None)
        if place != _USUAL:
            self._places[graph] = place
        while len(self._places) > self._most:
            del self._places[next(iter(self._places))]

    def forget(self, graph: str) -> None:
        """Take the graph for one that is new."""
        self._places.pop(graph, None)

    def __len__(self) -> int:
        return len(self._places)
