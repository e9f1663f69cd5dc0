"""Offers of upkeep: what could be resolved or unblocked and nobody took up, each with its ready-made command."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Frozen, JsonMap
from schemas.collectives import GraphRequest
from schemas.commands import ErasureReport, WriteReceipt
from schemas.memory import Collective, Level

OfferKind = Literal["resolve", "unblock", "close", "erase"]


class Offer(Frozen):
    """Something that could be done. `command` does it when it is sent as it is.

    `resolve`: a problem whose solution is known or done. `unblock`: what waits for nothing any more. `close`: a
    resolved problem that left links of work open. `erase`: what somebody asked to forget; `memory_id` is what
    asks, and the command names what goes for good when the offer is taken by its id. `id` stays the same as long
    as the offer is about the same.
    """

    id: str
    kind: OfferKind
    level: Level
    collective: Collective = None
    memory_id: str
    name: str
    reason: str
    command: JsonMap


class OffersRequest(GraphRequest):
    """Whose offers: of a citizen, or of a shared level. At most `limit` are listed."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20


class OffersAnswer(Frozen):
    """Open offers, the newest memory first. `further` counts those that are not listed."""

    offers: tuple[Offer, ...] = ()
    further: int = 0


class OfferReply(GraphRequest):
    """What becomes of an offer: it is taken up, or declined, and then it does not come back."""

    answer: Literal["take", "decline"]


class OfferOutcome(Frozen):
    """What became of an offer; `receipt` or `erased` is that of its command, if it was taken up."""

    offer: Offer
    answer: Literal["take", "decline"]
    receipt: WriteReceipt | None = None
    erased: ErasureReport | None = None
