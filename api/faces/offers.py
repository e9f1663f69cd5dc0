"""`substrate offers`: what could be resolved or unblocked; take it up, or decline it."""

from __future__ import annotations

from rich.text import Text

from api.cli import options, support
from api.cli.program import option
from api.cli.stream_text import format_offer
from api.cli.writing import show_consequences
from api.request_parsing.erasures import erasure_of
from api.runtime.runtime import Runtime
from orchestration.features.offers import feature as flow
from orchestration.features.offers.rules import Whose
from orchestration.writing.erasure import erase_naming_copies
from schemas.commands import ANY_COMMAND
from schemas.errors import InvalidRequest
from schemas.temporal import Instant
from schemas.upkeep.offers import OfferOutcome, OffersAnswer, OffersRequest


class OffersCommand(options.OfGraph, name="offers"):
    """List what could be resolved or unblocked and nobody took up."""

    limit: int = option("--limit", "At most so many are listed.", 20)
    take: str | None = option("--take ID", "Take this offer up: its command is applied.")
    decline: str | None = option("--decline ID", "Decline this offer, so that it does not come back.")
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        request = self.request(OffersRequest)
        if self.take is not None and self.decline is not None:
            raise InvalidRequest("an offer is taken up or declined, not both", remedy="Name --take or --decline.")
        if self.take is None and self.decline is None:
            self.show(self.answer(flow.list_offers, request), _show)
            return
        outcome = self.answer(_answer, Whose(request.graph_key, request.citizen_id), self.take, self.decline)
        self.show(outcome, _show_outcome)


async def _answer(
    whose: Whose, taken: str | None, declined: str | None, *, runtime: Runtime, now: Instant
) -> OfferOutcome:
    """Raises NotFound for an offer that is not open, and the error of a refused command."""
    deps = runtime.deps
    if taken is None:
        offer = await flow.decline(declined or "", whose, deps, now)
        return OfferOutcome(offer=offer, answer="decline")
    offer = await flow.read_offer(taken, whose, deps, now)
    if offer.kind == "erase":
        wish = erasure_of(offer)
        signed = wish.with_writer(support.writer_of(wish))
        report = await erase_naming_copies(signed, deps, now, deps.directory)
        return OfferOutcome(offer=offer, answer="take", erased=report)
    receipt = await flow.take(ANY_COMMAND.validate_python(offer.command), deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    return OfferOutcome(offer=offer, answer="take", receipt=receipt)


def _show(answer: OffersAnswer, page: support.Sheet) -> None:
    for offer in answer.offers:
        page.say(format_offer(offer))
    if answer.further:
        page.fold(f"and {answer.further} more", "bright_black")
    if not answer.offers:
        support.remark("nothing is on offer")


def _show_outcome(outcome: OfferOutcome, page: support.Sheet) -> None:
    done = "taken up" if outcome.answer == "take" else "declined"
    page.fold(Text(f"{done}: ") + format_offer(outcome.offer))
    if outcome.receipt is not None:
        show_consequences(outcome.receipt, page)
