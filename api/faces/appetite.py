"""`substrate appetite`: what a citizen has to wake for, and with `--intend` the stream that follows from it."""

from __future__ import annotations

from functools import partial
from typing import Final

from rich.text import Text

from api.cli import formatting, options, stream_text, support
from api.cli.program import option
from api.client import AsyncSubstrate
from orchestration.features.appetite.feature import intend
from schemas.mind.appetite import IntendRequest
from schemas.responses import Intended

BAR: Final = 20
"""Characters of a full bar."""


class AppetiteCommand(options.StoreCommand, name="appetite"):
    """Show what a citizen has to wake for: readings from 0 to 1, each with its reason."""

    citizen_id: str = options.CITIZEN
    intend: bool = option("--intend", "Ask what follows from it, and show the stream.", False)
    query_levels: list[str] | None = options.ANY_LEVELS
    collectives: list[str] | None = options.COLLECTIVES
    time_zone: str = option(
        "--time-zone NAME", "The zone in which a planned day begins, such as Europe/Berlin.", "UTC"
    )
    apply_feedback: bool = option(
        "--feedback", "With --intend: let the stream change the citizen's own energy.", False
    )
    max_tokens: int | None = options.MAX_TOKENS
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        citizen, request = self.citizen_id, self.request(IntendRequest, run=self.intend)
        if not self.as_json:
            request = request.model_copy(update={"max_tokens": None})  # what is printed is what is bounded
        answer = self.answer(intend, citizen, request, of=citizen)
        self.show(answer, partial(_show, most=self.max_tokens))


def _show(answer: Intended, page: support.Sheet, *, most: int | None) -> None:
    for reading in answer.appetite.readings:
        bar = "█" * round(BAR * reading.amount)
        line = Text(f"{reading.name:<19}{reading.amount:.2f} ")
        line.append(f"{bar:<{BAR}} ", "cyan").append(formatting.to_line(reading.reason))
        page.say(line)
    contexts = ", ".join(map(formatting.to_line, answer.appetite.active_contexts)) or "none"
    feelings = ", ".join(answer.appetite.dominant_emotions) or "none"
    page.say(f"active contexts: {contexts}", "bright_black")
    pressure = f"{answer.appetite.reality_pressure:.2f} ({answer.appetite.pressure_from})"
    page.fold(f"dominant emotions: {feelings}; reality pressure: {pressure}", "bright_black")
    for note in answer.appetite.notes:
        page.say(formatting.to_line(note), "yellow")
    decision = answer.decision
    page.say(Text(f"→ {decision.kind}: ", "bold").append(formatting.to_line(decision.why), "not bold"))
    if decision.intention is not None:
        page.say(f"  {formatting.to_line(decision.intention.query_text)}")
    if answer.stream is not None:
        page.print()
        question = decision.intention.query_text if decision.intention is not None else str(decision.reading)
        scope = "as intended by its appetite"
        stream_text.show_within(most, answer.stream, page, question=formatting.to_line(question), scope=scope)


DECIDES: Final = (AsyncSubstrate.intend,)
"""By which a model wakes a citizen with the mode `auto`."""
