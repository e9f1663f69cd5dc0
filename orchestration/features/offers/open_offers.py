"""Reads the open offers of a graph."""

from __future__ import annotations

from typing import Final

from orchestration.dependencies import Deps
from orchestration.features.offers.queries import read_declined, read_offered_work
from orchestration.features.offers.rules import FoundOffer, Whose, find_offers
from orchestration.graph_queries.existing_graphs import View
from schemas.errors import StoreTimeout
from schemas.intention import StateBasedRetrieval
from schemas.memory import Level, ResolutionState
from schemas.temporal import Instant
from schemas.upkeep.offers import Offer
from substrate.graphs.graph import GraphTarget
from substrate.graphs.names import graph_name

OPEN: Final = (ResolutionState.BLOCKED.value, ResolutionState.IN_PROGRESS.value)
DONE: Final = (ResolutionState.RESOLVED.value,)


OFFERS_SHOWN: Final = 3
"""A waking names at most 3 open offers: about forty tokens each."""


async def offers_of_waking(state: StateBasedRetrieval, view: View, notes: list[str]) -> list[Offer]:
    """The newest open offers of the citizen's own graph; none in a waking of another time, or read too late."""
    target = view.targets.get(Level.N1)
    if state.as_of_time is not None or state.known_at is not None or target is None:
        return []
    try:
        found = await find_open_in(target, Whose(Level.N1, state.citizen_id), view.now)
    except StoreTimeout:
        notes.append("the offers of upkeep were not read in time")
        return []
    return [each.offer for each in found[:OFFERS_SHOWN]]


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
