"""`substrate rules`: list a citizen's rules with their record, and check an action against them."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from orchestration.features.rules import flow as rule_checks
from orchestration.features.rules.values import RulesAnswer, RulesCheck, RulesPage, RulesVerdict
from substrate.language.text import count_of

OPTIONS: Final = {
    **options.QUESTION,
    **options.named("emotion", "result", "limit", "cursor"),
    "action": "ACTION",
    "nodes": "--node",
}
STYLES: Final = {"block": "bold red", "warn": "yellow", "allow": "green", "unchecked": "magenta"}

app = typer.Typer(add_completion=False)

Citizen = Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose rules.")]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="The rules of this moment.")]
KnownAt = Annotated[str | None, typer.Option("--known-at", metavar="TIME", help="As known at this moment.")]


@app.command("list")
def listed(
    ctx: typer.Context,
    *,
    citizen: Citizen,
    collective: options.Collectives = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    limit: Annotated[int, typer.Option(help="Rules, 1 to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="The `next` of the page before.")] = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Show the rules that hold, the newest first, each with its record."""
    fields = {
        "collectives": collective,
        "limit": limit,
        "cursor": cursor,
        "as_of_time": as_of,
        "known_at": known_at,
    }
    page = support.validate(RulesPage, support.drop_unset(fields), OPTIONS)
    answer = support.in_store(
        support.read_settings(ctx), lambda deps, now: rule_checks.list_rules(citizen, page, deps, now)
    )
    support.print_answer(answer, _show_rules, as_json=as_json)


@app.command()
def check(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    action: Annotated[str, typer.Argument(help="What is about to be done.")],
    *,
    citizen: Citizen,
    node: Annotated[list[str] | None, typer.Option(metavar="NAME", help="What it is about.")] = None,
    emotion: Annotated[str | None, typer.Option(help="What is felt.")] = None,
    result: Annotated[str | None, typer.Option(help="What is expected to come of it.")] = None,
    collective: options.Collectives = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Check an action against the rules. What is checked now is recorded."""
    fields = {
        "citizen_id": citizen,
        "action": action,
        "nodes": tuple(node) if node else None,
        "emotion": emotion,
        "result": result,
        "collectives": collective,
        "as_of_time": as_of,
        "known_at": known_at,
    }
    request = support.validate(RulesCheck, support.drop_unset(fields), OPTIONS)
    verdict = support.in_store(
        support.read_settings(ctx), lambda deps, now: rule_checks.check_rules(request, deps, now)
    )
    support.print_answer(verdict, _show_verdict, as_json=as_json)


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
