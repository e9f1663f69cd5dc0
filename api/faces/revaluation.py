"""`substrate revaluate`: show memories of low importance, and say anew how much they matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from orchestration.features.revaluation.feature import draw_for, judge
from orchestration.features.revaluation.values import (
    Draw,
    DrawnMemory,
    DrawRequest,
    JudgementRequest,
    JudgementsAnswer,
)
from schemas.errors import InvalidRequest
from substrate.language.text import count_of

OPTIONS: Final = {"count": "--count", "seed": "--seed", "judgements": "--set"}
TEXT_SHOWN: Final = 160

app = typer.Typer(add_completion=False)


@app.command()
def revaluate(
    ctx: typer.Context,
    *,
    citizen: options.Citizen,
    count: Annotated[int, typer.Option(help="Memories to draw, 1 to 100.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed draws the same memories.")] = 0,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="ID=X", help="A new importance of a memory, 0 to 1; repeat for several."),
    ] = None,
    leave: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="The memory stays as it is; repeat for several.")
    ] = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Draw memories of low or no importance, or say with --set and --leave how much some of them matter.

    A new importance stands in `substrate history`, and `substrate undo` takes it back.
    """
    settings = support.read_settings(ctx)
    if set_ or leave:
        judgements = [*map(_judgement, set_ or ()), *({"id": name, "leave": True} for name in leave or ())]
        request = support.validate(JudgementRequest, {"judgements": judgements}, OPTIONS)
        answer = support.in_store(
            settings,
            lambda deps, now: judge(citizen, request.judgements, deps, now, prepare=lambda command: command),
            citizen,
        )
        support.print_answer(answer, _show_answer, as_json=as_json)
        if answer.refused:
            raise typer.Exit(1)
        return
    wanted = support.validate(DrawRequest, {"count": count, "seed": seed}, OPTIONS)
    drawn = support.in_store(
        settings, lambda deps, now: draw_for(citizen, deps, now, seed=wanted.seed, count=wanted.count), citizen
    )
    support.print_answer(drawn, _show_draw, as_json=as_json)


def _judgement(given: str) -> dict[str, Any]:
    """An id with its importance; the last `=` counts, because an id may have one."""
    name, _, importance = given.rpartition("=")
    try:
        return {"id": name, "importance": float(importance)}
    except ValueError:
        raise InvalidRequest(f"--set: {given!r} is not ID=X, with a number from 0 to 1") from None


def _show_draw(draw: Draw, console: Console) -> None:
    if not draw.memories:
        console.print(Text("No memory is of low importance.", "green"))
    for memory in draw.memories:
        _show_memory(memory, console)


def _show_memory(memory: DrawnMemory, console: Console) -> None:
    importance = "none" if memory.importance is None else f"{memory.importance:g}"
    offered = "  offered" if memory.offered else ""
    console.print(
        Text.assemble((formatting.to_line(memory.id), "bold"), f"  importance {importance}{offered}"),
        soft_wrap=True,
    )
    text = formatting.to_line(memory.description or memory.name)
    console.print(Text(f"  {memory.valid_at:%Y-%m-%d}  {formatting.shorten(text, TEXT_SHOWN)}"), soft_wrap=True)
    if memory.proposed_importance is not None:
        because = formatting.to_line(memory.because or "")
        console.print(Text(f"  proposed: {memory.proposed_importance:g}, because of: {because}"), soft_wrap=True)


def _show_answer(answer: JudgementsAnswer, console: Console) -> None:
    refused: Sequence[str] = [
        f"{formatting.to_line(outcome.id)}: {outcome.detail}"
        for outcome in answer.outcomes
        if outcome.status == "refused"
    ]
    console.print(Text(f"revalued {count_of(answer.revalued, 'memory')}, left {answer.left:,} as they are"))
    for line in refused:
        console.print(Text(f"refused: {line}", "yellow"), soft_wrap=True)
