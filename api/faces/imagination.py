"""`substrate imagine`: what came of an action before, or how right the kept predictions were."""

from __future__ import annotations

from typing import Annotated, Final

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
from orchestration.features.imagination.flow import imagine as imagine_now
from orchestration.features.imagination.flow import read_calibration
from orchestration.features.imagination.values import Calibration, Imagination, Imagine
from schemas.base import (
    AtMost,
    Flag,
    Name,
)
from substrate.language.text import count_of

app = typer.Typer(add_completion=False)


class _Imagine(bind.Options):
    action: Annotated[
        str | None, typer.Argument(help="What to imagine; without it, how right the predictions were.")
    ] = None
    citizen_id: options.Citizen
    nodes: Annotated[
        list[str] | None, typer.Option("--node", metavar="NAME", help="Whom or what it is about; repeat.")
    ] = None
    emotion: Annotated[str | None, typer.Option(metavar="NAME", help="What the citizen feels now.")] = None
    query_levels: options.AnyLevels = None
    as_of_time: options.AsOf = None
    known_at: options.KnownAt = None
    keep: Annotated[bool, typer.Option("--keep", help="Keep the prediction, to be compared later.")] = False
    as_json: options.AnswerAsJson = False


@bind.command(app, _Imagine)
def imagine(given: _Imagine) -> None:
    """Say what came of an action before: results, feelings and the nearest cases."""
    if given.action is None:
        citizen = given.citizen_id
        told = support.in_store(
            support.read_settings(given.ctx), lambda deps, _: read_calibration(citizen, deps), citizen
        )
        support.print_answer(told, _show_calibration, as_json=given.as_json)
        return
    answer = support.answer_question(given.ctx, given.request(Imagine), imagine_now)
    support.print_answer(answer, _show, as_json=given.as_json)


def _show(told: Imagination, console: Console) -> None:
    for kind, shares in (("results", told.results), ("feelings", told.emotions), ("usual", told.usual)):
        if shares:
            line = ", ".join(f"{formatting.to_line(name)} {share:.0%}" for name, share in shares.items())
            console.print(Text(f"{kind}: {line}"), soft_wrap=True)
    if told.enough:
        counted = count_of(told.cases, "case")
        console.print(Text(f"evidence: {told.evidence:.1f} of {counted}", "bright_black"), soft_wrap=True)
    for case in told.nearest:
        line = formatting.to_line(case.description or case.name)
        outcome = formatting.to_line(case.result or "no result")
        console.print(Text(f"  {case.weight:.2f}  {line} -> {outcome}"), soft_wrap=True)
    if told.prediction_id is not None:
        console.print(Text(f"kept as {told.prediction_id}"), soft_wrap=True)
    for note in (*told.notes, *formatting.describe_missing(told.degraded)):
        console.print(Text(f"note: {formatting.to_line(note)}", style="dim"), soft_wrap=True)


def _show_calibration(told: Calibration, console: Console) -> None:
    console.print(f"{count_of(told.kept, 'prediction')}, {told.waiting} without an outcome yet")
    if told.brier is not None:
        console.print(f"Brier {told.brier:.3f} over {told.answered}; always the usual {told.usual_brier:.3f}")
    for one in told.reliability:
        said = f"told {one.predicted:.0%}, came {one.happened:.0%}"
        console.print(f"  {one.from_share:.0%} to {one.to_share:.0%}: {said} ({one.count})")
    for month in told.over_time:
        console.print(f"  {month.month}: Brier {month.brier:.3f} over {month.answered}")


class ImagineArguments(Arguments):
    citizen_id: CitizenArgument
    action: Annotated[Name, Field(description="What you think of doing.")]
    nodes: Annotated[tuple[Name, ...], AtMost(64), Field(description="Names of whom or what it is about.")] = ()
    emotion: Annotated[Name | None, Field(description="What you feel now.")] = None
    keep: Annotated[Flag, Field(description="Keep the prediction, for outcome_of.")] = False


class ImagineValues(Noticed):
    enough: bool
    results: dict[str, float]
    prediction_id: str | None = None

    @classmethod
    def of(cls, told: Imagination) -> ImagineValues:
        return cls(enough=told.enough, results=told.results, prediction_id=told.prediction_id)


def imagination_text(told: Imagination) -> str:
    """The shares in a line each, then the nearest cases with what came of them."""
    lines = [
        f"{kind}: {_shares(shares)}" for kind, shares in (("results", told.results), ("feelings", told.emotions))
    ]
    if not told.enough:
        lines = [f"too few to say ({told.cases} cases with a result); usually {_shares(told.usual) or 'unknown'}"]
    for case in told.nearest:
        rule = f"; rule: {case.rule}" if case.rule else ""
        lines.append(one_line(f"- {case.description or case.name} -> {case.result or 'no result'}{rule}"))
    return "\n".join([*lines, *map(one_line, told.notes)])


def _shares(shares: dict[str, float]) -> str:
    return one_line(", ".join(f"{name} {share:.0%}" for name, share in shares.items()))


@tool("Imagine an outcome", read_only=False, extra=True)
async def call_imagine(client: AsyncSubstrate, given: ImagineArguments) -> ToolAnswer[ImagineValues]:
    """Say what came of an action before."""
    told = await client.imagine(**fields_of(given))
    return ToolAnswer(fence(imagination_text(told)), ImagineValues.of(told))


TOOLS: Final = (call_imagine,)
