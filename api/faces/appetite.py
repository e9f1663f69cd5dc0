"""`substrate appetite`: what a citizen has to wake for, and with `--intend` the stream that follows from it."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, stream_text, support
from api.client import AsyncSubstrate
from orchestration.features.appetite.feature import intend
from schemas.mind.appetite import IntendRequest
from schemas.responses import Intended

BAR: Final = 20
"""Characters of a full bar."""

app = typer.Typer(add_completion=False)


class _Appetite(bind.Options):
    citizen_id: options.Citizen
    run: Annotated[bool, typer.Option("--intend", help="Ask what follows from it, and show the stream.")] = False
    query_levels: options.AnyLevels = None
    collectives: options.Collectives = None
    time_zone: Annotated[
        str, typer.Option(metavar="NAME", help="The zone in which a planned day begins, such as Europe/Berlin.")
    ] = "UTC"
    apply_feedback: Annotated[
        bool, typer.Option("--feedback", help="With --intend: let the stream change the citizen's own energy.")
    ] = False
    max_tokens: options.MaxTokens = None
    as_json: options.AnswerAsJson = False


@bind.command(app, _Appetite)
def appetite(given: _Appetite) -> None:
    """Show what a citizen has to wake for: readings from 0 to 1, each with its reason."""
    citizen, request = given.citizen_id, given.request(IntendRequest, run=given.run)
    if not given.as_json:
        request = request.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
    answer = support.in_store(
        support.read_settings(given.ctx), lambda deps, now: intend(citizen, request, deps, now), citizen
    )
    support.print_answer(answer, partial(_show, most=given.max_tokens), as_json=given.as_json)


def _show(answer: Intended, console: Console, *, most: int | None) -> None:
    for reading in answer.appetite.readings:
        bar = "█" * round(BAR * reading.amount)
        line = Text(f"{reading.name:<19}{reading.amount:.2f} ")
        line.append(f"{bar:<{BAR}} ", "cyan").append(formatting.to_line(reading.reason))
        console.print(line, soft_wrap=True)
    contexts = ", ".join(map(formatting.to_line, answer.appetite.active_contexts)) or "none"
    feelings = ", ".join(answer.appetite.dominant_emotions) or "none"
    console.print(Text(f"active contexts: {contexts}", "bright_black"), soft_wrap=True)
    pressure = f"{answer.appetite.reality_pressure:.2f} ({answer.appetite.pressure_from})"
    console.print(Text(f"dominant emotions: {feelings}; reality pressure: {pressure}", "bright_black"))
    for note in answer.appetite.notes:
        console.print(Text(formatting.to_line(note), "yellow"), soft_wrap=True)
    decision = answer.decision
    console.print(
        Text(f"→ {decision.kind}: ", "bold").append(formatting.to_line(decision.why), "not bold"), soft_wrap=True
    )
    if decision.intention is not None:
        console.print(Text(f"  {formatting.to_line(decision.intention.query_text)}"), soft_wrap=True)
    if answer.stream is not None:
        console.print()
        question = decision.intention.query_text if decision.intention is not None else str(decision.reading)
        scope = "as intended by its appetite"
        stream_text.show_within(most, answer.stream, console, question=formatting.to_line(question), scope=scope)


DECIDES: Final = (AsyncSubstrate.intend,)
"""By which a model wakes a citizen with the mode `auto`."""
