"""`substrate rules`: list a citizen's rules with their record, and check an action against them."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.client import AsyncSubstrate
from api.mcp.answers import WithNotice
from api.mcp.arguments import Arguments
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.rules import feature as flow
from orchestration.features.rules.values import RulesAnswer, RulesCheck, RulesPage, RulesVerdict
from schemas.base import AtMost, Frozen, Name
from schemas.base import Text as TextField
from substrate.language.text import count_of

STYLES: Final = {"block": "bold red", "warn": "yellow", "allow": "green", "unchecked": "magenta"}


class _RulesCommand(options.StoreCommand):
    citizen_id: str = option("--citizen -c ID", "Whose rules.", ...)
    collectives: list[str] | None = options.COLLECTIVES
    as_of_time: str | None = option("--as-of TIME", "The rules of this moment.")
    known_at: str | None = option("--known-at TIME", "As known at this moment.")
    as_json: bool = options.ANSWER_AS_JSON

    def fields(self) -> dict[str, Any]:
        """With the times as they were written: the request reads them itself."""
        return {name: value for name, value in vars(self).items() if value is not None}


class _List(_RulesCommand, name="rules list"):
    """Show the rules that hold, the newest first, each with its record."""

    limit: int = option("--limit", "Rules, 1 to 500.", 50)
    cursor: str | None = options.CURSOR

    def run(self) -> None:
        self.show(self.answer(flow.list_rules, self.citizen_id, self.request(RulesPage)), _show_rules)


class _Check(_RulesCommand, name="rules check"):
    """Check an action against the rules. What is checked now is recorded."""

    action: str = argument(None, "What is about to be done.")
    nodes: list[str] | None = option("--node NAME", "What it is about.")
    emotion: str | None = option("--emotion", "What is felt.")
    result: str | None = option("--result", "What is expected to come of it.")

    def run(self) -> None:
        self.show(self.answer(flow.check_rules, self.request(RulesCheck)), _show_verdict)


def _show_rules(answer: RulesAnswer, page: support.Sheet) -> None:
    for rule in answer.rules:
        page.say(f"{rule.severity:<5} {formatting.to_line(rule.rule)}")
        record, lowered = rule.record, f"; {rule.lowered}" if rule.lowered else ""
        counts = f"held {record.held}, failed {record.failed}, checked {record.checked}"
        counts += f", blocked {record.blocked}, overridden {record.overridden}"
        origin = f"{rule.kind}; {count_of(len(rule.memories), 'memory')}{lowered}"
        page.say(f"      {counts}; {origin}", "bright_black")
        for other in rule.contradicts:
            page.say(f"      contradicts: {formatting.to_line(other)}", "yellow")
        if rule.dissonance is not None:
            page.fold(f"      keeps being wrong: {rule.dissonance.corrected_belief}", "yellow")
    page.cursor(answer.next)
    page.notes(answer.notes)
    if not answer.rules:
        support.remark("there are no rules")


def _show_verdict(verdict: RulesVerdict, page: support.Sheet) -> None:
    head = (verdict.verdict, STYLES[verdict.verdict])
    page.say(Text.assemble(head, f": {formatting.to_line(verdict.why)}"))
    for rule in verdict.rules:
        page.say(f"{rule.outcome:<8} {rule.severity:<5} {formatting.to_line(rule.rule)}")
        page.say(f"         {formatting.to_line(rule.why)}", "bright_black")
        for other in rule.contradicts:
            page.say(f"         contradicts: {formatting.to_line(other)}", "yellow")
    for unjudged in verdict.unjudged:
        line = f"unjudged {formatting.to_line(unjudged.rule)}: {unjudged.why}"
        page.say(formatting.shorten(line, 200), "magenta")
    page.notes(verdict.notes)


class CheckRulesArguments(Arguments):
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


class VerdictValues(WithNotice):
    """`verdict`: allow, warn, block or unchecked."""

    verdict: str
    why: str
    overridden: bool = False
    rules: tuple[RuleValues, ...] = ()


@tool("Check an action", read_only=False, extra=True)
async def call_check_rules(client: AsyncSubstrate, given: CheckRulesArguments) -> ToolAnswer[VerdictValues]:
    """Ask before you act: allow, warn, block, or unchecked (no permission), by the citizen's rules."""
    verdict = await client.check_rules(**fields_of(given))
    rules, lines = [], [f"{verdict.verdict}: {verdict.why}"]
    for each in verdict.rules[:MOST_RULES]:
        rules.append(RuleValues(rule=each.rule, outcome=each.outcome, severity=each.severity, why=each.why))
        lines.append(f"- {each.outcome} ({each.severity}): {each.rule} ({each.why})")
    told = verdict.model_dump(include={"verdict", "why", "overridden"})
    return ToolAnswer(fence("\n".join(map(one_line, lines))), VerdictValues(**told, rules=tuple(rules)))


TOOLS: Final = (call_check_rules,)
