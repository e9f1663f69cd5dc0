"""Names of the graphs: N1 of each citizen, N2 of each collective, and N3. Pure."""

from __future__ import annotations

from typing import Final

from schemas.errors import Fault
from schemas.memory import GraphKey, Level, collective_of, graph_key

CITIZEN_PREFIX: Final = "citizen_"
COLLECTIVE_PREFIX: Final = "collective_"
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


def origin_of(name: str) -> tuple[GraphKey, str | None]:
    """Return key and citizen of a graph from its name, the inverse of `graph_name`; only N1 has a citizen."""
    if name.startswith(CITIZEN_PREFIX):
        return Level.N1, name.removeprefix(CITIZEN_PREFIX)
    if name == DEFAULT_COLLECTIVE:
        return Level.N2, None
    if name.startswith(COLLECTIVE_PREFIX):
        return graph_key(Level.N2, name.removeprefix(COLLECTIVE_PREFIX)), None
    return Level.N3, None
