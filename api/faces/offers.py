"""`substrate offers`: what could be resolved or unblocked; take it up, or decline it."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import options, support
from api.cli.revise import show_consequences
from api.cli.stream_text import format_offer
from api.request_parsing.erasures import erasure_of
from orchestration.features.offers import flow as upkeep_offers
from orchestration.features.offers.rules import Whose
from orchestration.writing import copy_erasure
from schemas.commands import ANY_COMMAND
from schemas.errors import InvalidRequest
from schemas.settings import Settings
from schemas.upkeep.offers import OfferOutcome, OffersAnswer, OffersRequest

OPTIONS: Final = {"citizen_id": "--citizen", "level": "--level", "collective": "--collective", "limit": "--limit"}

app = typer.Typer(add_completion=False)


@app.command()
def offers(
    ctx: typer.Context,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    limit: Annotated[int, typer.Option(help="At most so many are listed.")] = 20,
    take: Annotated[
        str | None, typer.Option(metavar="ID", help="Take this offer up: its command is applied.")
    ] = None,
    decline: Annotated[
        str | None, typer.Option(metavar="ID", help="Decline this offer, so that it does not come back.")
    ] = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """List what could be resolved or unblocked and nobody took up."""
    fields = {"citizen_id": citizen, **options.graph(level, collective), "limit": limit}
    request = support.validate(OffersRequest, fields, OPTIONS)
    settings = support.read_settings(ctx)
    if take is not None and decline is not None:
        raise InvalidRequest("an offer is taken up or declined, not both", remedy="Name --take or --decline.")
    if take is None and decline is None:
        answer = support.in_store(settings, lambda deps, now: upkeep_offers.list_offers(request, deps, now))
        support.print_answer(answer, _show, as_json=as_json)
        return
    outcome = support.run(_answer(settings, request, take, decline))
    support.print_answer(outcome, _show_outcome, as_json=as_json)


async def _answer(
    settings: Settings, request: OffersRequest, taken: str | None, declined: str | None
) -> OfferOutcome:
    """Raises NotFound for an offer that is not open, and the error of a refused command."""
    whose = Whose(request.graph_key, request.citizen_id)
    async with support.open_store(settings) as runtime:
        now = await runtime.moment()
        if taken is None:
            offer = await upkeep_offers.decline(declined or "", whose, runtime.deps, now)
            return OfferOutcome(offer=offer, answer="decline")
        offer = await upkeep_offers.read_offer(taken, whose, runtime.deps, now)
        if offer.kind == "erase":
            wish = erasure_of(offer)
            signed, deps = wish.with_writer(support.writer_of(wish)), runtime.deps
            report = await copy_erasure.erase(signed, deps, now, deps.directory)
            return OfferOutcome(offer=offer, answer="take", erased=report)
        receipt = await upkeep_offers.take(ANY_COMMAND.validate_python(offer.command), runtime.deps, now)
    if receipt.status == "refused":
        raise receipt.refusal()
    return OfferOutcome(offer=offer, answer="take", receipt=receipt)


def _show(answer: OffersAnswer, console: Console) -> None:
    for offer in answer.offers:
        console.print(format_offer(offer), soft_wrap=True)
    if answer.further:
        console.print(Text(f"and {answer.further} more", "bright_black"))
    if not answer.offers:
        support.messages().print(Text("nothing is on offer", "bright_black"))


def _show_outcome(outcome: OfferOutcome, console: Console) -> None:
    done = "taken up" if outcome.answer == "take" else "declined"
    console.print(Text(f"{done}: ") + format_offer(outcome.offer))
    if outcome.receipt is not None:
        show_consequences(outcome.receipt, console)
