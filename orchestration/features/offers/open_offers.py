"""Reads the open offers of a graph."""

from __future__ import annotations

from typing import Final

from orchestration.dependencies import Deps
from orchestration.features.offers.queries import read_declined, read_offered_work
from orchestration.features.offers.rules import FoundOffer, Whose, find_offers
from schemas.memory import ResolutionState
from schemas.temporal import Instant
from substrate.graphs.graph import GraphTarget
from substrate.graphs.names import graph_name

OPEN: Final = (ResolutionState.BLOCKED.value, ResolutionState.IN_PROGRESS.value)
DONE: Final = (ResolutionState.RESOLVED.value,)


async def find_open(whose: Whose, deps: Deps, now: Instant) -> list[FoundOffer]:
    """The offers that were not declined, the newest memory first: of open work, then of resolved work."""
    name = graph_name(*whose)
    if not await deps.graphs.for_reading(name):
        return []
    return await find_open_in(GraphTarget(whose.key, deps.graph(name), past=True), whose, now)


async def find_open_in(target: GraphTarget, whose: Whose, now: Instant) -> list[FoundOffer]:
    """The same of a graph that a question has opened."""
    links = [link for states in (OPEN, DONE) for link in await read_offered_work(target, states, now)]
    found = find_offers(links, whose)
    declined = await read_declined(target.graph, sorted({each.offer.memory_id for each in found}))
    return [each for each in found if each.offer.id not in declined]
