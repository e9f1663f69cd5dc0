"""Offers of upkeep: read from the graph when they are asked for; only what was declined is kept."""

from __future__ import annotations

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.waking.offer_rules import Whose
from orchestration.waking.open_offers import find_open
from schemas.commands import Command, WriteReceipt
from schemas.errors import NotFound
from schemas.temporal import Instant
from schemas.upkeep.offers import Offer, OffersAnswer, OffersRequest
from substrate.graphs.names import graph_name
from substrate.store.offers import keep_declined


async def list_offers(request: OffersRequest, deps: Deps, now: Instant) -> OffersAnswer:
    """The open offers of a graph, the newest memory first; none for a graph that does not exist."""
    found = await find_open(Whose(request.graph_key, request.citizen_id), deps, now)
    offers = tuple(each.offer for each in found[: request.limit])
    return OffersAnswer(offers=offers, further=len(found) - len(offers))


async def read_offer(offer_id: str, whose: Whose, deps: Deps, now: Instant) -> Offer:
    """The open offer with this id. Raises NotFound when there is none."""
    for each in await find_open(whose, deps, now):
        if each.offer.id == offer_id:
            return each.offer
    raise _gone(offer_id)


async def decline(offer_id: str, whose: Whose, deps: Deps, now: Instant) -> Offer:
    """Decline an offer, so that it does not come back. Raises NotFound when there is none."""
    for each in await find_open(whose, deps, now):
        if each.offer.id == offer_id:
            ends = (each.offer.memory_id, each.other_id)
            await keep_declined(deps.graph(graph_name(*whose)), offer_id, ends, now)
            return each.offer
    raise _gone(offer_id)


async def take(command: Command, deps: Deps, now: Instant) -> WriteReceipt:
    """Apply the command of an offer."""
    [receipt] = await insertion.apply([command], deps, now)
    return receipt


def _gone(offer_id: str) -> NotFound:
    return NotFound(
        f"there is no open offer {offer_id}",
        remedy="It was taken up or declined, or no longer holds: ask for the offers again.",
    )
