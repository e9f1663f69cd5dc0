"""Offers of upkeep: what could be resolved or unblocked and nobody took up, each with its ready-made command."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Frozen
from schemas.collectives import GraphRequest
from schemas.commands import ErasureReport, WriteReceipt
from schemas.stream import Offer

OfferAnswer = Literal["take", "decline"]


class OffersRequest(GraphRequest):
    """Whose offers: of a citizen, or of a shared level. At most `limit` are listed."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20


class OffersAnswer(Frozen):
    """Open offers, the newest memory first. `further` counts those that are not listed."""

    offers: tuple[Offer, ...] = ()
    further: int = 0


class OfferReply(GraphRequest):
    """What becomes of an offer: it is taken up, or declined, and then it does not come back."""

    answer: OfferAnswer


class OfferOutcome(Frozen):
    """What became of an offer; `receipt` or `erased` is that of its command, if it was taken up."""

    offer: Offer
    answer: OfferAnswer
    receipt: WriteReceipt | None = None
    erased: ErasureReport | None = None
