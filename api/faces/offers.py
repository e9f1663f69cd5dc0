"""`substrate offers`: what could be resolved or unblocked; take it up, or decline it."""

from __future__ import annotations

from rich.text import Text

from api.cli import options, support
from api.cli.program import option
from api.cli.stream_text import format_offer
from api.cli.writing import show_consequences
from orchestration.features.offers import feature as flow
from schemas.commands import Command, EraseMemory
from schemas.errors import InvalidRequest
from schemas.upkeep.offers import OfferOutcome, OffersAnswer, OffersRequest
from substrate.graphs.names import GraphOf


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
        whose = GraphOf(request.graph_key, request.citizen_id)
        name, answer = (self.decline, "decline") if self.take is None else (self.take, "take")
        self.show(self.answer(flow.answer_offer, name, whose, answer=answer, sign=_sign), _show_outcome)


def _sign[C: Command](command: C) -> C:
    return command.with_writer(support.writer_of(command)) if isinstance(command, EraseMemory) else command


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
