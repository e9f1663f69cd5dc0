"""What a question sees: its scope, and in each graph whether the past side is needed. All ways of asking are
handed this one value, so that none of them looks at the present alone where that is not enough.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orchestration.dependencies import Deps
from schemas.errors import Fault, StoreTimeout
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Instant, Scope
from substrate.graphs.names import graph_name
from substrate.store import reader

NO_EMBEDDER = "no embedder is configured: memories are found by words, names and links"


class Where(NamedTuple):
    """A graph, and whether its past side is asked too."""

    level: Level
    graph: str
    past: bool


class View(NamedTuple):
    """The scope of a question, the graphs that it sees, and the moment at which it is asked."""

    scope: Scope
    graphs: Mapping[Level, Where]
    now: Instant

    @property
    def moment(self) -> Instant:
        """From when ages are counted: the moment asked about, and now for a range."""
        return self.scope.valid.start if self.scope.valid.end - self.scope.valid.start == 1 else self.now

    @property
    def names(self) -> dict[Level, str]:
        """The graphs by their names alone."""
        return {level: where.graph for level, where in self.graphs.items()}


async def look(of: tuple[str, Sequence[Level]], scope: Scope, deps: Deps, now: Instant) -> View:
    """How a question of a citizen at some levels, `of`, sees those of their graphs that exist.

    The past side is needed for any other scope than the present; for the present, too, as long as a record there
    is still true: one that a scheduled change ends. Raises StoreMisfit, Unavailable.
    """
    names = await _existing(*of, deps)

    async def seen(level: Level, graph: str) -> Where:
        return Where(level, graph, past=not scope.is_present or now < await _pending_until(graph, deps))

    found = await asyncio.gather(*(seen(level, graph) for level, graph in names.items()))
    return View(scope, {where.level: where for where in found}, now)


async def _pending_until(graph: str, deps: Deps) -> Instant:
    """For ever where that was not to be had: the past side is only slower."""
    try:
        return await reader.pending_until(deps.graph(graph))
    except (StoreTimeout, Fault):
        return END_OF_TIME


async def _existing(citizen_id: str, levels: Sequence[Level], deps: Deps) -> dict[Level, str]:
    names = {level: graph_name(level, citizen_id) for level in levels}
    unsure = [name for name in names.values() if not deps.graphs.is_open(name)]
    there = dict(zip(unsure, await asyncio.gather(*map(deps.graphs.for_reading, unsure)), strict=True))
    return {level: name for level, name in names.items() if there.get(name, True)}
