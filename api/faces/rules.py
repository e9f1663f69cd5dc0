"""`substrate rules`: list a citizen's rules with their record, and check an action against them."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from pydantic import Field
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, support
from api.client import AsyncSubstrate
from api.mcp.answers import Noticed
from api.mcp.arguments import (
    Arguments,
    CitizenArgument,
)
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.rules import flow as rule_checks
from orchestration.features.rules.values import RulesAnswer, RulesCheck, RulesPage, RulesVerdict
from schemas.base import (
    AtMost,
    Frozen,
    Name,
)
from schemas.base import (
    Text as TextField,
)
from substrate.language.text import count_of

STYLES: Final = {"block": "bold red", "warn": "yellow", "allow": "green", "unchecked": "magenta"}

app = typer.Typer(add_completion=False)


class _Rules(bind.Options):
    citizen_id: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose rules.")]
    collectives: options.Collectives = None
    as_of_time: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="The rules of this moment.")
    ] = None
    known_at: Annotated[str | None, typer.Option(metavar="TIME", help="As known at this moment.")] = None
    as_json: options.AnswerAsJson = False

    def fields(self) -> dict[str, Any]:
        """With the times as they were written: the request reads them itself."""
        times = {"as_of_time": self.as_of_time, "known_at": self.known_at}
        return {name: times.get(name, value) for name, value in vars(self).items() if value is not None}


class _List(_Rules):
    limit: Annotated[int, typer.Option(help="Rules, 1 to 500.")] = 50
    cursor: Annotated[str | None, typer.Option(help="The `next` of the page before.")] = None


class _Check(_Rules):
    action: Annotated[str, typer.Argument(help="What is about to be done.")]
    nodes: Annotated[list[str] | None, typer.Option("--node", metavar="NAME", help="What it is about.")] = None
    emotion: Annotated[str | None, typer.Option(help="What is felt.")] = None
    result: Annotated[str | None, typer.Option(help="What is expected to come of it.")] = None


@bind.command(app, _List, "list")
def listed(given: _List) -> None:
    """Show the rules that hold, the newest first, each with its record."""
    citizen, page = given.citizen_id, given.request(RulesPage)
    answer = support.in_store(
        support.read_settings(given.ctx), lambda deps, now: rule_checks.list_rules(citizen, page, deps, now)
    )
    support.print_answer(answer, _show_rules, as_json=given.as_json)


@bind.command(app, _Check)
def check(given: _Check) -> None:
    """Check an action against the rules. What is checked now is recorded."""
    request = given.request(RulesCheck)
    verdict = support.in_store(
        support.read_settings(given.ctx), lambda deps, now: rule_checks.check_rules(request, deps, now)
    )
    support.print_answer(verdict, _show_verdict, as_json=given.as_json)


def _show_rules(answer: RulesAnswer, console: Console) -> None:
    for rule in answer.rules:
        console.print(Text(f"{rule.severity:<5} {formatting.to_line(rule.rule)}"), soft_wrap=True)
        record, lowered = rule.record, f"; {rule.lowered}" if rule.lowered else ""
        counts = f"held {record.held}, failed {record.failed}, checked {record.checked}"
        counts += f", blocked {record.blocked}, overridden {record.overridden}"
        origin = f"{rule.kind}; {count_of(len(rule.memories), 'memory')}{lowered}"
        console.print(Text(f"      {counts}; {origin}", "bright_black"), soft_wrap=True)
        for other in rule.contradicts:
            console.print(Text(f"      contradicts: {formatting.to_line(other)}", "yellow"), soft_wrap=True)
        if rule.dissonance is not None:
            console.print(Text(f"      keeps being wrong: {rule.dissonance.corrected_belief}", "yellow"))
    if answer.next is not None:
        console.print(Text(f"more: --cursor {answer.next}", "bright_black"), soft_wrap=True)
    for note in answer.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", "dim"))
    if not answer.rules:
        support.messages().print(Text("there are no rules", "bright_black"))


def _show_verdict(verdict: RulesVerdict, console: Console) -> None:
    head = (verdict.verdict, STYLES[verdict.verdict])
    console.print(Text.assemble(head, f": {formatting.to_line(verdict.why)}"), soft_wrap=True)
    for rule in verdict.rules:
        console.print(
            Text(f"{rule.outcome:<8} {rule.severity:<5} {formatting.to_line(rule.rule)}"), soft_wrap=True
        )
        console.print(Text(f"         {formatting.to_line(rule.why)}", "bright_black"), soft_wrap=True)
        for other in rule.contradicts:
            console.print(Text(f"         contradicts: {formatting.to_line(other)}", "yellow"), soft_wrap=True)
    for unjudged in verdict.unjudged:
        line = f"unjudged {formatting.to_line(unjudged.rule)}: {unjudged.why}"
        console.print(Text(formatting.shorten(line, 200), "magenta"), soft_wrap=True)
    for note in verdict.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", "dim"))


class CheckRulesArguments(Arguments):
    citizen_id: CitizenArgument
    action: Annotated[TextField, Field(description="What you are about to do, in words.")]
    nodes: Annotated[tuple[Name, ...], AtMost(32), Field(description="Names that it is about.")] = ()


MOST_RULES: Final = 8
"""This many rules that speak are shown to a model, the gravest."""


class RuleValues(Frozen):
    """What an action does to a rule: it is broken, doubtful or kept."""

    rule: str
    outcome: str
    severity: str
    why: str

    def line(self) -> str:
        return one_line(f"- {self.outcome} ({self.severity}): {self.rule} ({self.why})")


class VerdictValues(Noticed):
    """`verdict`: allow, warn, block or unchecked."""

    verdict: str
    why: str
    overridden: bool = False
    rules: tuple[RuleValues, ...] = ()

    @classmethod
    def of(cls, verdict: RulesVerdict) -> VerdictValues:
        rules = tuple(
            RuleValues(rule=each.rule, outcome=each.outcome, severity=each.severity, why=each.why)
            for each in verdict.rules[:MOST_RULES]
        )
        return cls(verdict=verdict.verdict, why=verdict.why, overridden=verdict.overridden, rules=rules)

    def text(self) -> str:
        return "\n".join((one_line(f"{self.verdict}: {self.why}"), *(rule.line() for rule in self.rules)))


@tool("Check an action", read_only=False, extra=True)
async def call_check_rules(client: AsyncSubstrate, given: CheckRulesArguments) -> ToolAnswer[VerdictValues]:
    """Ask before you act: allow, warn, block, or unchecked (no permission), by the citizen's rules."""
    verdict = await client.check_rules(**fields_of(given))
    values = VerdictValues.of(verdict)
    return ToolAnswer(fence(values.text()), values)


TOOLS: Final = (call_check_rules,)
