"""`substrate context`: write an episode in one call, or list what agents noted with those that were written."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.client import AsyncSubstrate
from api.mcp.arguments import Arguments
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.contexts.feature import read_agent_log, write_context
from orchestration.features.contexts.values import (
    MOST_EDGES,
    MOST_NODES,
    AgentLog,
    AgentLogQuery,
    ContextReceipt,
    WriteContext,
)
from schemas.base import AtMost, Frozen, Identifier, LongText, Name, ShortText, Unit
from schemas.base import Text as TextField
from schemas.commands import Writer
from schemas.paging import MOST


class ContextCommand(options.StoreCommand, name="context"):
    """Write an episode with its names, edges, feeling, result and rule, as a whole or not at all."""

    description: str | None = argument("text", "What happened; without it, the notes of agents are listed.", None)
    citizen_id: str = options.CITIZEN
    id: str | None = option("--id ID", "An id of your own; without TEXT, of which context.")
    action: str | None = option("--action", "What was done, in a few words.")
    nodes: list[str] | None = option("--node NAME", "Whom or what it is about; repeat.")
    edges: list[str] | None = option("--edge TRIPLE", "'Egor|CRITICIZED|the plan'; repeat.")
    emotion: str | None = option("--emotion NAME", "One feeling: frustration …")
    intensity: float | None = option("--intensity", "How strong it is, 0 to 1.")
    result: str | None = option("--result", "positive, negative, complex, or your own word.")
    rule: str | None = options.RULE
    goal: str | None = options.GOAL
    certainty: float | None = option("--certainty", "How sure it is that it was so, 0 to 1.")
    outcome_of: str | None = option("--outcome-of ID", "The kept prediction of which this is the outcome.")
    tags: list[str] | None = options.TAG
    valid_at: str | None = options.VALID_AT
    restate: bool = option("--restate", "Write it although it is there already.", False)
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        citizen = self.citizen_id
        if self.description is None:
            asked = AgentLogQuery(context_id=self.id, limit=MOST)
            self.show(self.answer(read_agent_log, citizen, asked, of=citizen), _show_log)
            return
        self.show(self.answer(write_context, self.request(WriteContext), writer=Writer()), _show)


def _show(receipt: ContextReceipt, page: support.Sheet) -> None:
    again = "  (written before)" if receipt.duplicate else ""
    page.say(f"{receipt.context_id}{again}")
    for node in receipt.nodes:
        made = "made" if node.made else "found"
        page.say(f"  {formatting.to_line(node.name)}: {made} as {node.node_id}")
    for edge in receipt.edges:
        triple = formatting.to_line(f"{edge.source} {edge.relation_type} {edge.target}")
        filled = f"  (filled: {', '.join(edge.filled)})" if edge.filled else ""
        page.say(f"  {triple}{filled}")
    told = [f"result {receipt.result}"] if receipt.result else []
    told += [f"emotion {receipt.emotion}"] if receipt.emotion else []
    if told:
        page.say(f"  {formatting.to_line(', '.join(told))}")
    if receipt.answered is not None:
        page.say(f"  outcome of {receipt.answered}")
    for warning in receipt.warnings:
        support.messages().say(f"note: {formatting.to_line(warning)}", "bright_black")


def _show_log(log: AgentLog, page: support.Sheet) -> None:
    for note in log.notes:
        tokens = "" if note.tokens is None else f"  {note.tokens} tokens"
        decision = "" if note.decision is None else f" -> {note.decision}"
        line = formatting.to_line(f"{note.agent}: {note.said}{decision}")
        page.say(f"{note.context_id}  {line}{tokens}")
    if not log.notes:
        support.remark("no agent noted anything")


class ContextArguments(Arguments):
    description: Annotated[LongText, Field(min_length=1, description="What happened.")]
    action: Annotated[ShortText | None, Field(description="What you did, in short.")] = None
    nodes: Annotated[tuple[Name, ...], AtMost(MOST_NODES), Field(description="Names of what it is about.")] = ()
    edges: Annotated[
        tuple[ShortText, ...], AtMost(MOST_EDGES), Field(description="Each `source|TYPE|target`.")
    ] = ()
    emotion: Annotated[TextField | None, Field(description="One feeling.")] = None
    result: Annotated[ShortText | None, Field(description="positive, negative, complex.")] = None
    rule: Annotated[ShortText | None, Field(description="What to do next time.")] = None
    certainty: Annotated[Unit | None, Field(description="How sure, 0 to 1.")] = None
    outcome_of: Annotated[Identifier | None, Field(description="The prediction it answers.")] = None


class ContextValues(Frozen):
    id: str
    warnings: tuple[str, ...] = ()


@tool("Write what happened", read_only=False, extra=True)
async def call_write_context(client: AsyncSubstrate, given: ContextArguments) -> ToolAnswer[ContextValues]:
    """Write an episode with names, edges, feeling and result; it is stored as a whole."""
    receipt = await client.write_context(**fields_of(given))
    said = "written before as" if receipt.duplicate else "written as"
    text = "\n".join((f"{said} {receipt.context_id}", *map(one_line, receipt.warnings)))
    return ToolAnswer(fence(text), ContextValues(id=receipt.context_id, warnings=receipt.warnings))


TOOLS: Final = (call_write_context,)
