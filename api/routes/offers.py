"""Offers of upkeep: list them, take one up, decline one."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path

from api.dependencies import Now
from api.request_parsing.erasures import erasure_of, sign_erasure
from api.security.permissions import CurrentCaller
from orchestration.dependencies import Deps
from orchestration.features.offers import feature as offers
from orchestration.features.offers.rules import Whose
from orchestration.writing.erasure import erase_naming_copies
from schemas.base import Identifier
from schemas.commands import ANY_COMMAND
from schemas.operation import Method, Operation, graph_may, group
from schemas.upkeep.offers import OfferOutcome, OfferReply


async def answer_offer(
    offer_id: Annotated[Identifier, Path()],
    reply: OfferReply,
    *,
    deps: Deps,
    now: Now,
    caller: CurrentCaller,
) -> OfferOutcome:
    """Take an offer up, which applies its command, or decline it, so that it does not come back."""
    whose = Whose(reply.graph_key, reply.citizen_id)
    if reply.answer == "decline":
        declined = await offers.decline(offer_id, whose, deps, now)
        return OfferOutcome(offer=declined, answer="decline")
    offer = await offers.read_offer(offer_id, whose, deps, now)
    if offer.kind == "erase":
        wish = sign_erasure(erasure_of(offer), caller)
        report = await erase_naming_copies(wish, deps, now, deps.directory)
        caller.commands.append(report.command_id)
        return OfferOutcome(offer=offer, answer="take", erased=report)
    command = caller.limit_source(ANY_COMMAND.validate_python(offer.command))
    signed = command.with_writer(caller.writer_of(reply.graph_key, reply.citizen_id))
    receipt = await offers.take(signed, deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    caller.commands.append(receipt.command_id)
    return OfferOutcome(offer=offer, answer="take", receipt=receipt)


OPERATIONS: Final = group(
    "upkeep",
    Operation("answer_offer", "POST /v1/upkeep/offers/{offer_id}", "Take an offer up, or decline it",
              graph_may("write"), answer_offer, call=Method(once=True)),
)  # fmt: skip
