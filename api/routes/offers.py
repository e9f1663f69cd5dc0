"""Offers of upkeep: list them, take one up, decline one."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path

from api.dependencies import Now
from api.request_parsing.erasures import eraser_of
from api.security.permissions import CurrentCaller
from orchestration.dependencies import Deps
from orchestration.features.offers import feature as offers
from schemas.base import Identifier
from schemas.commands import Command, EraseMemory
from schemas.operation import Method, Operation, graph_may, group
from schemas.upkeep.offers import OfferOutcome, OfferReply
from substrate.graphs.names import GraphOf


async def answer_offer(
    offer_id: Annotated[Identifier, Path()],
    reply: OfferReply,
    *,
    deps: Deps,
    now: Now,
    caller: CurrentCaller,
) -> OfferOutcome:
    """Take an offer up, which applies its command, or decline it, so that it does not come back."""

    def sign[C: Command](command: C) -> C:
        if isinstance(command, EraseMemory):
            return command.with_writer(eraser_of(command, caller))
        return caller.limit_source(command).with_writer(caller.writer_of(reply.graph_key, reply.citizen_id))

    whose = GraphOf(reply.graph_key, reply.citizen_id)
    outcome = await offers.answer_offer(offer_id, whose, deps, now, answer=reply.answer, sign=sign)
    done = outcome.receipt or outcome.erased
    if done is not None:
        caller.commands.append(done.command_id)
    return outcome


OPERATIONS: Final = group(
    "upkeep",
    Operation("answer_offer", "POST /v1/upkeep/offers/{offer_id}", "Take an offer up, or decline it",
              graph_may("write"), answer_offer, call=Method(once=True)),
)  # fmt: skip
