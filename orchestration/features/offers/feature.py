"""Offers of upkeep: read from the graph when they are asked for; only what was declined is kept."""

from __future__ import annotations

from collections import Counter
from typing import Final, Protocol

from orchestration import insertion
from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.offers.queries import keep_declined, read_declined, read_offered_work
from orchestration.features.offers.rules import FoundOffer, find_offers, offer_erasure
from orchestration.graph_queries.existing_graphs import View
from orchestration.question.reading import asked_to_forget
from orchestration.writing.erasure import erase_naming_copies, find_repeats
from schemas.commands import ANY_COMMAND, MOST_ALSO, Command, EraseMemory
from schemas.errors import NotFound, StoreTimeout
from schemas.intention import StateBasedRetrieval
from schemas.memory import Level, ResolutionState
from schemas.operation import Method, Operation, graph_may, group
from schemas.stream import Offer
from schemas.temporal import Instant
from schemas.upkeep.offers import OfferAnswer, OfferOutcome, OffersAnswer, OffersRequest
from substrate.graphs.graph import Graph, GraphTarget
from substrate.graphs.names import GraphOf, graph_name
from substrate.language.text import query_words, word_language
from substrate.store import erasure

MOST_REQUESTS: Final = 10
"""This many wishes to forget are followed, the newest."""
MOST_TOLD: Final = 20
"""What more memories tell of was not meant."""


async def _find(whose: GraphOf, deps: Deps, now: Instant) -> list[FoundOffer]:
    """What somebody asked to forget, then what could be done about work."""
    found: list[FoundOffer] = []
    if (graph := await deps.graph_if_any(*whose)) is not None:
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
    found = await _find(GraphOf(request.graph_key, request.citizen_id), deps, now)
    offers = tuple(each.offer for each in found[: request.limit])
    return OffersAnswer(offers=offers, further=len(found) - len(offers))


async def _read(offer_id: str, whose: GraphOf, deps: Deps, now: Instant) -> FoundOffer:
    for each in await _find(whose, deps, now):
        if each.offer.id == offer_id:
            return each
    raise NotFound(
        f"there is no open offer {offer_id}",
        remedy="It was taken up or declined, or no longer holds: ask for the offers again.",
    )


class Sign(Protocol):
    """Says whose command it is. Raises NotFound or Forbidden for one that its sender may not send."""

    def __call__[C: Command](self, command: C) -> C: ...


async def answer_offer(
    offer_id: str, whose: GraphOf, deps: Deps, now: Instant, *, answer: OfferAnswer, sign: Sign
) -> OfferOutcome:
    """Take an offer up, which applies its command, or decline it, so that it does not come back.

    Raises NotFound when there is none, what `sign` raises, and the error of a refused command.
    """
    offer, other_id = await _read(offer_id, whose, deps, now)
    if answer == "decline":
        await keep_declined(deps.graph(graph_name(*whose)), offer_id, (offer.memory_id, other_id), now)
        return OfferOutcome(offer=offer, answer=answer)
    if offer.kind == "erase":
        fields = {name: value for name, value in offer.command.items() if name != "command"}
        wish = sign(EraseMemory.model_validate(fields))
        report = await erase_naming_copies(wish, deps, now, deps.directory)
        return OfferOutcome(offer=offer, answer=answer, erased=report)
    [receipt] = await insertion.apply([sign(ANY_COMMAND.validate_python(offer.command))], deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    return OfferOutcome(offer=offer, answer=answer, receipt=receipt)


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
        found = await find_open_in(target, GraphOf(Level.N1, state.citizen_id), view.now)
    except StoreTimeout:
        notes.append("the offers of upkeep were not read in time")
        return []
    return [each.offer for each in found[:OFFERS_SHOWN]]


async def find_open(whose: GraphOf, deps: Deps, now: Instant) -> list[FoundOffer]:
    """The offers that were not declined, the newest memory first: of open work, then of resolved work."""
    graph = await deps.graph_if_any(*whose)
    return [] if graph is None else await find_open_in(GraphTarget(whose.key, graph, past=True), whose, now)


async def find_open_in(target: GraphTarget, whose: GraphOf, now: Instant) -> list[FoundOffer]:
    """The same of a graph that a question has opened."""
    links = [link for states in (OPEN, DONE) for link in await read_offered_work(target, states, now)]
    found = find_offers(links, whose)
    declined = await read_declined(target.graph, sorted({each.offer.memory_id for each in found}))
    return [each for each in found if each.offer.id not in declined]


OPERATIONS: Final = group(
    "upkeep",
    Operation("list_offers", "GET /v1/upkeep/offers", "List what could be resolved or unblocked",
              graph_may("read"), list_offers, call=Method("offers", takes=OffersRequest)),
)  # fmt: skip
FEATURE: Final = Feature("offers", operations=OPERATIONS, sections={"offers": offers_of_waking})
