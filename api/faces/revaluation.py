"""`substrate revaluate`: show memories of low importance, and say anew how much they matter."""

from __future__ import annotations

from typing import Any, Final

import typer
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import EXIT_FAULT, option
from orchestration.features.revaluation.feature import draw_for, judge
from orchestration.features.revaluation.values import Draw, DrawRequest, JudgementRequest, JudgementsAnswer
from schemas.errors import InvalidRequest
from substrate.language.text import count_of

TEXT_SHOWN: Final = 160


class RevaluateCommand(options.StoreCommand, name="revaluate"):
    """Draw memories of low or no importance, or say with --set and --leave how much some of them matter.

    A new importance stands in `substrate history`, and `substrate undo` takes it back.
    """

    citizen_id: str = options.CITIZEN
    count: int = option("--count", "Memories to draw, 1 to 100.", 10)
    seed: int = option("--seed", "The same seed draws the same memories.", 0)
    judgements: list[str] | None = option(
        "--set ID=X", "A new importance of a memory, 0 to 1; repeat for several."
    )
    leave: list[str] | None = option("--leave ID", "The memory stays as it is; repeat for several.")
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        citizen = self.citizen_id
        if self.judgements or self.leave:
            left = [{"id": name, "leave": True} for name in self.leave or ()]
            told = self.request(JudgementRequest, judgements=[*map(_judgement, self.judgements or ()), *left])
            answer = self.answer(judge, citizen, told.judgements, prepare=lambda command: command, of=citizen)
            self.show(answer, _show_answer)
            if answer.refused:
                raise typer.Exit(EXIT_FAULT)
            return
        self.show(self.answer(draw_for, citizen, self.request(DrawRequest), of=citizen), _show_draw)


def _judgement(given: str) -> dict[str, Any]:
    """An id with its importance; the last `=` counts, because an id may have one."""
    name, _, importance = given.rpartition("=")
    try:
        return {"id": name, "importance": float(importance)}
    except ValueError:
        raise InvalidRequest(f"--set: {given!r} is not ID=X, with a number from 0 to 1") from None


def _show_draw(draw: Draw, page: support.Sheet) -> None:
    if not draw.memories:
        page.fold("No memory is of low importance.", "green")
    for memory in draw.memories:
        importance = "none" if memory.importance is None else f"{memory.importance:g}"
        offered = "  offered" if memory.offered else ""
        named = (formatting.to_line(memory.id), "bold")
        page.say(Text.assemble(named, f"  importance {importance}{offered}"))
        text = formatting.shorten(memory.description or memory.name, TEXT_SHOWN)
        page.say(f"  {memory.valid_at:%Y-%m-%d}  {text}")
        if memory.proposed_importance is not None:
            because = formatting.to_line(memory.because or "")
            page.say(f"  proposed: {memory.proposed_importance:g}, because of: {because}")


def _show_answer(answer: JudgementsAnswer, page: support.Sheet) -> None:
    page.fold(f"revalued {count_of(answer.revalued, 'memory')}, left {answer.left:,} as they are")
    for outcome in answer.outcomes:
        if outcome.status == "refused":
            page.say(f"refused: {formatting.to_line(outcome.id)}: {outcome.detail}", "yellow")
