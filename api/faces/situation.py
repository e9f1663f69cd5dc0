"""`substrate situation`: what an agent of a cycle begins with."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from api.cli import options, support
from api.cli.program import option
from api.client import AsyncSubstrate
from api.mcp.answers import WithNotice
from api.mcp.arguments import Arguments, MaxTokensArgument
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, visible
from orchestration.features.situation.flow import read_situation
from orchestration.features.situation.values import MAX_SITUATION_TOKENS, MOST_STIMULI, Situation, SituationRequest
from schemas.base import AtMost, Name, ShortText


class SituationCommand(options.StoreCommand, name="situation"):
    """Show what an agent of a cycle begins with: state, stimuli, working memory, rules, what changed."""

    citizen_id: str = option("--citizen -c ID", "Whose situation.", ...)
    stimuli: list[str] | None = option("--stimulus TEXT", "What reached the citizen; may be repeated.")
    focus: str | None = option("--focus", "What it has in mind, instead of the kept focus.")
    since: str | None = option("--since", "Tell changes since this time, not the last cycle.")
    max_tokens: int = option("--max-tokens", "The most tokens of the text.", MAX_SITUATION_TOKENS)
    as_of_time: str | None = options.AS_OF
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        citizen = self.citizen_id
        self.show(self.answer(read_situation, citizen, self.request(SituationRequest), of=citizen), _show)


def _show(found: Situation, page: support.Sheet) -> None:
    if found.text:
        page.say("\n".join(map(visible, found.text.split("\n"))))
    if found.left_out:
        page.fold(f"{found.left_out} lines had no room in {found.tokens} tokens", "bright_black")
    for note in (*found.notes, *(f"not read in time: {part}" for part in found.degraded)):
        page.say(f"note: {note}", "bright_black")


class SituationArguments(Arguments):
    """What reached the citizen, and what it has in mind."""

    stimuli: Annotated[
        tuple[Name, ...], AtMost(MOST_STIMULI), Field(description="What reached the citizen, a text each.")
    ] = ()
    focus: Annotated[ShortText | None, Field(description="What it has in mind; default: the kept focus.")] = None
    max_tokens: MaxTokensArgument = MAX_SITUATION_TOKENS


class SituationValues(WithNotice):
    """Where a citizen stands: ids of the memories in its working memory, and the rules that are active."""

    citizen_id: str
    since: datetime | None = None
    contexts: tuple[str, ...]
    rules: tuple[str, ...]
    notes: tuple[str, ...]
    degraded: tuple[str, ...]


@tool("Begin a cycle", extra=True)
async def call_situation(client: AsyncSubstrate, given: SituationArguments) -> ToolAnswer[SituationValues]:
    """Read where a citizen stands: state, what to answer to, working memory, rules, what changed."""
    found = await client.situation(given.citizen_id, **fields_of(given, "citizen_id"))
    values = SituationValues(
        contexts=tuple(context.memory_id for context in found.contexts),
        rules=tuple(active.rule for active in found.rules),
        **found.model_dump(include={"citizen_id", "since", "notes", "degraded"}),
    )
    return ToolAnswer(fence(found.text), values)


TOOLS: Final = (call_situation,)
