"""Offers of upkeep: read from the graph when they are asked for; only what was declined is kept."""

from __future__ import annotations

from collections import Counter
from typing import Final

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.features.offers.open_offers import find_open
from orchestration.features.offers.queries import keep_declined, read_declined
from orchestration.features.offers.rules import FoundOffer, Whose, offer_erasure
from orchestration.question.reading import asked_to_forget
from orchestration.writing.copy_erasure import find_repeats
from schemas.commands import Command, WriteReceipt
from schemas.commands.erasure import MOST_ALSO
from schemas.errors import NotFound
from schemas.temporal import Instant
from schemas.upkeep.offers import Offer, OffersAnswer, OffersRequest
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.language.text import query_words, word_language
from substrate.store import erasure

MOST_REQUESTS: Final = 10
"""So many wishes to forget are followed, the newest."""
MOST_TOLD: Final = 20
"""What more memories tell of was not meant."""


async def _find(whose: Whose, deps: Deps, now: Instant) -> list[FoundOffer]:
    """What somebody asked to forget, then what could be done about work."""
    graph = deps.graph(graph_name(*whose))
    found: list[FoundOffer] = []
    if await deps.graphs.for_reading(graph.name):
        asked = await erasure.read_newest_texts(graph)
        wanted = {memory_id: what for memory_id, text in asked if (what := asked_to_forget(text))}
        declined = await read_declined(graph, list(wanted))
        for request_id, what in list(wanted.items())[:MOST_REQUESTS]:
            told = await _find_told(what, frozenset(wanted), graph)
            if told and (offer := offer_erasure(request_id, what, told, whose)).offer.id not in declined:
                found.append(offer)
    return [*found, *await find_open(whose, deps, now)]


async def _find_told(what: str, but: frozenset[str], graph: Graph) -> list[str]:
    """The memories that tell of it: those with the most of its words, and what repeats them."""
    words = query_words(what, word_language(what))
    counts: Counter[str] = Counter()
    for held in (await erasure.read_holders(graph, words)).values():
        counts.update(held - but)
    best = max(counts.values(), default=0)
    told = sorted(memory_id for memory_id, count in counts.items() if count == best)
    if 2 * best < len(words) or len(told) > MOST_TOLD:
        return []
    repeats = await find_repeats(told, graph) if told else []
    return [*told, *filter(lambda memory_id: memory_id not in but, repeats)][: 1 + MOST_ALSO]


async def list_offers(request: OffersRequest, deps: Deps, now: Instant) -> OffersAnswer:
    """What could be resolved or unblocked and nobody took up, each with its ready-made command."""
    found = await _find(Whose(request.graph_key, request.citizen_id), deps, now)
    offers = tuple(each.offer for each in found[: request.limit])
    return OffersAnswer(offers=offers, further=len(found) - len(offers))


async def read_offer(offer_id: str, whose: Whose, deps: Deps, now: Instant) -> Offer:
    """The open offer with this id. Raises NotFound when there is none."""
    for each in await _find(whose, deps, now):
        if each.offer.id == offer_id:
            return each.offer
    raise _gone(offer_id)


async def decline(offer_id: str, whose: Whose, deps: Deps, now: Instant) -> Offer:
    """Decline an offer, so that it does not come back. Raises NotFound when there is none."""
    for each in await _find(whose, deps, now):
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
