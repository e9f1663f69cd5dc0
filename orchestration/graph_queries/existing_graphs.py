"""Which graphs a question asks: those of its levels that exist, each with whether its past side is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from orchestration.dependencies import Deps
from schemas.errors import Fault, StoreTimeout
from schemas.memory import Level
from schemas.temporal import Instant, Scope
from substrate.graphs.graph import Graph, GraphTarget
from substrate.graphs.names import graph_name
from substrate.store import reader

NO_EMBEDDER = "no embedder is configured: memories are found by words, names and links"


class View(NamedTuple):
    """The scope of a question, the graphs it asks, and when it is asked; the same value for all ways of asking.

    `notes`: on a citizen of whom nothing is stored.
    """

    scope: Scope
    targets: Mapping[Level, GraphTarget]
    now: Instant
    notes: tuple[str, ...] = ()


async def open_view(citizen_id: str, levels: Sequence[Level], scope: Scope, deps: Deps, *, now: Instant) -> View:
    """The graphs of a citizen at some levels; a graph that does not exist is left out.

    Raises StoreMisfit, Unavailable.
    """
    graphs = await _existing(citizen_id, levels, deps)
    past = await asyncio.gather(*(needs_past(graph, scope, now) for graph in graphs.values()))
    targets = {
        level: GraphTarget(level, graph, needed)
        for (level, graph), needed in zip(graphs.items(), past, strict=True)
    }
    unknown = Level.N1 in levels and Level.N1 not in targets
    note = f"citizen {citizen_id} is not known here: nothing was remembered for it yet"
    return View(scope, targets, now, (note,) if unknown else ())


async def needs_past(graph: Graph, scope: Scope, now: Instant) -> bool:
    """Whether the past side of a graph is needed.

    It is for every scope but the present, and for the present until the last scheduled change of the graph: what
    held before now stands there too, though it is known now. True when the graph does not say: the past side is
    only slower.
    """
    if not scope.is_present or scope.valid.start < now:
        return True
    try:
        return now < await reader.pending_until(graph)
    except (StoreTimeout, Fault):
        return True


async def _existing(citizen_id: str, levels: Sequence[Level], deps: Deps) -> dict[Level, Graph]:
    names = {level: graph_name(level, citizen_id) for level in levels}
    unsure = [name for name in names.values() if not deps.graphs.is_open(name)]
    exists = dict(zip(unsure, await asyncio.gather(*map(deps.graphs.for_reading, unsure)), strict=True))
    return {level: deps.graph(name) for level, name in names.items() if exists.get(name, True)}
