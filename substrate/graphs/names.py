"""Names of the graphs: N1 of each citizen, N2 and N3. Pure."""

from __future__ import annotations

from typing import Final

from schemas.errors import Fault
from schemas.memory import Level

CITIZEN_PREFIX: Final = "citizen_"


def graph_name(level: Level, citizen_id: str | None) -> str:
    """The graph of a level. Two citizens never share one: the id follows the prefix unchanged."""
    if level is Level.N2:
        return "collective_n2"
    if level is Level.N3:
        return "ecosystem_n3"
    if citizen_id is None:
        raise Fault("level N1 was asked for without a citizen")
    return f"{CITIZEN_PREFIX}{citizen_id}"


def origin_of(name: str) -> tuple[Level, str | None]:
    """Level and citizen of a graph by its name."""
    if name.startswith(CITIZEN_PREFIX):
        return Level.N1, name.removeprefix(CITIZEN_PREFIX)
    return (Level.N2 if name == graph_name(Level.N2, None) else Level.N3), None
