"""`substrate situation`: what an agent of a cycle begins with."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

import typer
from pydantic import Field
from rich.console import Console
from rich.text import Text

from api.cli import bind, options, support
from api.client import AsyncSubstrate
from api.mcp.answers import Noticed
from api.mcp.arguments import (
    Arguments,
    CitizenArgument,
    MaxTokensArgument,
)
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, visible
from orchestration.features.situation.flow import read_situation
from orchestration.features.situation.values import MAX_SITUATION_TOKENS, MOST_STIMULI, Situation, SituationRequest
from schemas.base import (
    AtMost,
    Name,
    ShortText,
)

app = typer.Typer(add_completion=False)


class _Situation(bind.Options):
    citizen_id: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose situation.")]
    stimuli: Annotated[
        list[str] | None,
        typer.Option("--stimulus", metavar="TEXT", help="What reached the citizen; may be repeated."),
    ] = None
    focus: Annotated[str | None, typer.Option(help="What it has in mind, instead of the kept focus.")] = None
    since: Annotated[str | None, typer.Option(help="Tell changes since this time, not the last cycle.")] = None
    max_tokens: Annotated[int, typer.Option(help="The most tokens of the text.")] = MAX_SITUATION_TOKENS
    as_of_time: options.AsOf = None
    as_json: options.AnswerAsJson = False


@bind.command(app, _Situation)
def situation(given: _Situation) -> None:
    """Show what an agent of a cycle begins with: state, stimuli, working memory, rules, what changed."""
    citizen, request = given.citizen_id, given.request(SituationRequest)
    found = support.in_store(
        support.read_settings(given.ctx), lambda deps, now: read_situation(citizen, request, deps, now), citizen
    )
    support.print_answer(found, _show, as_json=given.as_json)


def _show(found: Situation, console: Console) -> None:
    if found.text:
        console.print(Text("\n".join(map(visible, found.text.split("\n")))), soft_wrap=True)
    if found.left_out:
        console.print(Text(f"{found.left_out} lines had no room in {found.tokens} tokens", "bright_black"))
    for note in (*found.notes, *(f"not read in time: {part}" for part in found.degraded)):
        console.print(Text(f"note: {note}", "bright_black"), soft_wrap=True)


class SituationArguments(Arguments):
    """What reached the citizen, and what it has in mind."""

    citizen_id: CitizenArgument
    stimuli: Annotated[
        tuple[Name, ...], AtMost(MOST_STIMULI), Field(description="What reached the citizen, a text each.")
    ] = ()
    focus: Annotated[ShortText | None, Field(description="What it has in mind; default: the kept focus.")] = None
    max_tokens: MaxTokensArgument = MAX_SITUATION_TOKENS


class SituationValues(Noticed):
    """Where a citizen stands: ids of the memories in its working memory, and the rules that are active."""

    citizen_id: str
    since: datetime | None = None
    contexts: tuple[str, ...]
    rules: tuple[str, ...]
    notes: tuple[str, ...]
    degraded: tuple[str, ...]

    @classmethod
    def of(cls, found: Situation) -> SituationValues:
        return cls(
            citizen_id=found.citizen_id,
            since=found.since,
            contexts=tuple(context.memory_id for context in found.contexts),
            rules=tuple(active.rule for active in found.rules),
            notes=found.notes,
            degraded=found.degraded,
        )


@tool("Begin a cycle", extra=True)
async def call_situation(client: AsyncSubstrate, given: SituationArguments) -> ToolAnswer[SituationValues]:
    """Read where a citizen stands: state, what to answer to, working memory, rules, what changed."""
    found = await client.situation(given.citizen_id, **fields_of(given, "citizen_id"))
    return ToolAnswer(fence(found.text), SituationValues.of(found))


TOOLS: Final = (call_situation,)
