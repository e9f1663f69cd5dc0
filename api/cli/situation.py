"""`substrate situation`: what an agent of a cycle begins with."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import options, support
from orchestration.assembly.displayed_text import visible
from orchestration.features.situation.flow import read_situation
from orchestration.features.situation.values import MAX_SITUATION_TOKENS, Situation, SituationRequest

OPTIONS: Final = {
    **options.named("focus", "since", "max_tokens"),
    "stimuli": "--stimulus",
    "as_of_time": "--as-of",
}

app = typer.Typer(add_completion=False)


@app.command()
def situation(
    ctx: typer.Context,
    *,
    citizen: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose situation.")],
    stimulus: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="What reached the citizen; may be repeated.")
    ] = None,
    focus: Annotated[str | None, typer.Option(help="What it has in mind, instead of the kept focus.")] = None,
    since: Annotated[str | None, typer.Option(help="Tell changes since this time, not the last cycle.")] = None,
    max_tokens: Annotated[int, typer.Option(help="The most tokens of the text.")] = MAX_SITUATION_TOKENS,
    as_of: options.AsOf = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Show what an agent of a cycle begins with: state, stimuli, working memory, rules, what changed."""
    given = {"stimuli": stimulus, "focus": focus, "since": since, "max_tokens": max_tokens, "as_of_time": as_of}
    request = support.validate(SituationRequest, support.drop_unset(given), OPTIONS)
    found = support.in_store(
        support.read_settings(ctx), lambda deps, now: read_situation(citizen, request, deps, now), citizen
    )
    support.print_answer(found, _show, as_json=as_json)


def _show(found: Situation, console: Console) -> None:
    if found.text:
        console.print(Text("\n".join(visible(line) for line in found.text.split("\n"))), soft_wrap=True)
    if found.left_out:
        console.print(Text(f"{found.left_out} lines had no room in {found.tokens} tokens", "bright_black"))
    for note in (*found.notes, *(f"not read in time: {part}" for part in found.degraded)):
        console.print(Text(f"note: {note}", "bright_black"), soft_wrap=True)
