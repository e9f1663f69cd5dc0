"""`substrate context`: write an episode in one call, or list what agents noted with those that were written."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from pydantic import Field
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, support
from api.client import AsyncSubstrate
from api.mcp.arguments import (
    Arguments,
    CitizenArgument,
)
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.contexts.flow import read_agent_log, write_context
from orchestration.features.contexts.values import (
    MOST_EDGES,
    MOST_NODES,
    AgentLog,
    AgentLogQuery,
    ContextReceipt,
    WriteContext,
)
from schemas.base import (
    AtMost,
    Frozen,
    Identifier,
    LongText,
    Name,
    ShortText,
    Unit,
)
from schemas.base import (
    Text as TextField,
)
from schemas.commands import Writer
from schemas.paging import MOST

app = typer.Typer(add_completion=False)


class _Context(bind.Options):
    description: Annotated[
        str | None,
        typer.Argument(metavar="[TEXT]", help="What happened; without it, the notes of agents are listed."),
    ] = None
    citizen_id: options.Citizen
    id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="An id of your own; without TEXT, of which context.")
    ] = None
    action: Annotated[str | None, typer.Option(help="What was done, in a few words.")] = None
    nodes: Annotated[
        list[str] | None, typer.Option("--node", metavar="NAME", help="Whom or what it is about; repeat.")
    ] = None
    edges: Annotated[
        list[str] | None, typer.Option("--edge", metavar="TRIPLE", help="'Egor|CRITICIZED|the plan'; repeat.")
    ] = None
    emotion: Annotated[str | None, typer.Option(metavar="NAME", help="One feeling: frustration …")] = None
    intensity: Annotated[float | None, typer.Option(help="How strong it is, 0 to 1.")] = None
    result: Annotated[str | None, typer.Option(help="positive, negative, complex, or your own word.")] = None
    rule: options.Rule = None
    goal: options.Goal = None
    certainty: Annotated[float | None, typer.Option(help="How sure it is that it was so, 0 to 1.")] = None
    outcome_of: Annotated[
        str | None, typer.Option(metavar="ID", help="The kept prediction of which this is the outcome.")
    ] = None
    tags: options.Tag = None
    valid_at: options.ValidAt = None
    restate: Annotated[bool, typer.Option("--restate", help="Write it although it is there already.")] = False
    as_json: options.AnswerAsJson = False


@bind.command(app, _Context)
def context(given: _Context) -> None:
    """Write an episode with its names, edges, feeling, result and rule, as a whole or not at all."""
    settings, citizen = support.read_settings(given.ctx), given.citizen_id
    if given.description is None:
        asked = AgentLogQuery(context_id=given.id, limit=MOST)
        log = support.in_store(settings, lambda deps, _: read_agent_log(citizen, asked, deps), citizen)
        support.print_answer(log, _show_log, as_json=given.as_json)
        return
    request = given.request(WriteContext)
    receipt = support.in_store(settings, lambda deps, now: write_context(request, deps, now, Writer()))
    support.print_answer(receipt, _show, as_json=given.as_json)


def _show(receipt: ContextReceipt, console: Console) -> None:
    again = "  (written before)" if receipt.duplicate else ""
    console.print(Text(f"{receipt.context_id}{again}"), soft_wrap=True)
    for node in receipt.nodes:
        made = "made" if node.made else "found"
        console.print(Text(f"  {formatting.to_line(node.name)}: {made} as {node.node_id}"), soft_wrap=True)
    for edge in receipt.edges:
        triple = formatting.to_line(f"{edge.source} {edge.relation_type} {edge.target}")
        filled = f"  (filled: {', '.join(edge.filled)})" if edge.filled else ""
        console.print(Text(f"  {triple}{filled}"), soft_wrap=True)
    told = [
        f"{name} {value}" for name, value in (("result", receipt.result), ("emotion", receipt.emotion)) if value
    ]
    if told:
        console.print(Text(f"  {formatting.to_line(', '.join(told))}"), soft_wrap=True)
    if receipt.answered is not None:
        console.print(Text(f"  outcome of {receipt.answered}"), soft_wrap=True)
    for warning in receipt.warnings:
        support.messages().print(Text(f"note: {formatting.to_line(warning)}", "bright_black"), soft_wrap=True)


def _show_log(log: AgentLog, console: Console) -> None:
    for note in log.notes:
        tokens = "" if note.tokens is None else f"  {note.tokens} tokens"
        decision = "" if note.decision is None else f" -> {note.decision}"
        line = formatting.to_line(f"{note.agent}: {note.said}{decision}")
        console.print(Text(f"{note.context_id}  {line}{tokens}"), soft_wrap=True)
    if not log.notes:
        support.messages().print(Text("no agent noted anything", "bright_black"))


class ContextArguments(Arguments):
    citizen_id: CitizenArgument
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

    @classmethod
    def of(cls, receipt: ContextReceipt) -> ContextValues:
        return cls(id=receipt.context_id, warnings=receipt.warnings)


@tool("Write what happened", read_only=False, extra=True)
async def call_write_context(client: AsyncSubstrate, given: ContextArguments) -> ToolAnswer[ContextValues]:
    """Write an episode with names, edges, feeling and result; it is stored as a whole."""
    receipt = await client.write_context(**fields_of(given))
    said = "written before as" if receipt.duplicate else "written as"
    text = "\n".join((f"{said} {receipt.context_id}", *map(one_line, receipt.warnings)))
    return ToolAnswer(fence(text), ContextValues.of(receipt))


TOOLS: Final = (call_write_context,)
