"""Names of the graphs: N1 of each citizen, N2 and N3. Pure."""

from __future__ import annotations

from typing import Final

from schemas.errors import Fault
from schemas.memory import Level

CITIZEN_PREFIX: Final = "citizen_"


def graph_name(level: Level, citizen_id: str | None) -> str:
    """Return the name of a level's graph; for N1 it contains the citizen's id, so no two citizens share a graph.

    Raises Fault for N1 without a citizen.
    """
    if level is Level.N2:
        return "collective_n2"
    if level is Level.N3:
        return "ecosystem_n3"
    if citizen_id is None:
        raise Fault("level N1 needs a citizen")
    return f"{CITIZEN_PREFIX}{citizen_id}"


def origin_of(name: str) -> tuple[Level, str | None]:
    """Return level and citizen of a graph from its name, the inverse of `graph_name`; only N1 has a citizen."""
    if name.startswith(CITIZEN_PREFIX):
        return Level.N1, name.removeprefix(CITIZEN_PREFIX)
    return (Level.N2 if name == graph_name(Level.N2, None) else Level.N3), None
