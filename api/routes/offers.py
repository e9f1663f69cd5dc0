"""Offers of upkeep: list them, take one up, decline one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.dependencies import Now, OpenRuntime
from api.request_parsing.erasures import erase_from_store, erasure_of, sign_erasure
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import LISTING, CurrentCaller, requires
from api.security.upkeep_permissions import OFFER
from orchestration.features.offers import flow as offers
from orchestration.features.offers.rules import Whose
from schemas.base import Identifier
from schemas.commands import ANY_COMMAND
from schemas.upkeep.offers import OfferOutcome, OfferReply, OffersAnswer, OffersRequest

router = APIRouter(prefix="/v1/upkeep/offers", tags=["upkeep"], route_class=StrictRoute)


@router.get("", operation_id="list_offers")
@requires(LISTING)
async def list_offers(query: Annotated[OffersRequest, Query()], runtime: OpenRuntime, now: Now) -> OffersAnswer:
    """What could be resolved or unblocked and nobody took up, each with its ready-made command."""
    return await offers.list_offers(query, runtime.deps, now)


@router.post("/{offer_id}", operation_id="answer_offer")
@requires(OFFER)
async def answer_offer(
    offer_id: Annotated[Identifier, Path()],
    reply: OfferReply,
    runtime: OpenRuntime,
    now: Now,
    caller: CurrentCaller,
) -> OfferOutcome:
    """Take an offer up, which applies its command, or decline it, so that it does not come back."""
    whose = Whose(reply.graph_key, reply.citizen_id)
    if reply.answer == "decline":
        declined = await offers.decline(offer_id, whose, runtime.deps, now)
        return OfferOutcome(offer=declined, answer="decline")
    offer = await offers.read_offer(offer_id, whose, runtime.deps, now)
    if offer.kind == "erase":
        wish = sign_erasure(erasure_of(offer), caller)
        report = await erase_from_store(wish, runtime, now)
        caller.commands.append(report.command_id)
        return OfferOutcome(offer=offer, answer="take", erased=report)
    command = caller.limit_source(ANY_COMMAND.validate_python(offer.command))
    signed = command.with_writer(caller.writer_of(reply.graph_key, reply.citizen_id))
    receipt = await offers.take(signed, runtime.deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    caller.commands.append(receipt.command_id)
    return OfferOutcome(offer=offer, answer="take", receipt=receipt)
