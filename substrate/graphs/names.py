"""Names of the graphs: N1 of each citizen, N2 of each collective, and N3. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.errors import Fault
from schemas.memory import GraphKey, Level, collective_of, graph_key, level_of

CITIZEN_PREFIX: Final = "citizen_"
COLLECTIVE_PREFIX: Final = "collective_"
DELETIONS: Final = "substrate:deletions"
"""The key that counts the graphs deleted since the log was last rewritten; absent when there were none."""
DEFAULT_COLLECTIVE: Final = "collective_n2"
"""N2 where no collective is named; none may have the id `n2`."""


def graph_name(key: GraphKey, citizen_id: str | None) -> str:
    """Return the name of a graph; for N1 it contains the citizen's id, so no two citizens share a graph. Raises
    Fault for N1 without a citizen."""
    if key == Level.N2:
        return DEFAULT_COLLECTIVE
    if (collective := collective_of(key)) is not None:
        return f"{COLLECTIVE_PREFIX}{collective}"
    if key == Level.N3:
        return "ecosystem_n3"
    if citizen_id is None:
        raise Fault("level N1 needs a citizen")
    return f"{CITIZEN_PREFIX}{citizen_id}"


class GraphOf(NamedTuple):
    """Which graph it is: its key, and on level N1 the citizen whose graph it is."""

    key: GraphKey
    citizen_id: str | None = None

    @property
    def level(self) -> Level:
        return level_of(self.key)

    @property
    def graph(self) -> str:
        """The name of the graph."""
        return graph_name(self.key, self.citizen_id)


def origin_of(name: str) -> GraphOf:
    """Which graph has this name, the inverse of `graph_name`; only N1 has a citizen."""
    if name.startswith(CITIZEN_PREFIX):
        return GraphOf(Level.N1, name.removeprefix(CITIZEN_PREFIX))
    if name == DEFAULT_COLLECTIVE:
        return GraphOf(Level.N2)
    if name.startswith(COLLECTIVE_PREFIX):
        return GraphOf(graph_key(Level.N2, name.removeprefix(COLLECTIVE_PREFIX)))
    return GraphOf(Level.N3)
