"""`substrate imagine`: what came of an action before, or how right the kept predictions were."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.client import AsyncSubstrate
from api.mcp.answers import WithNotice
from api.mcp.arguments import Arguments
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.assembly.displayed_text import fence, one_line
from orchestration.features.imagination.flow import imagine, read_calibration
from orchestration.features.imagination.values import Calibration, Imagination, Imagine
from schemas.base import AtMost, Flag, Name
from substrate.language.text import count_of


class ImagineCommand(options.StoreCommand, name="imagine"):
    """Say what came of an action before: results, feelings and the nearest cases."""

    action: str | None = argument(None, "What to imagine; without it, how right the predictions were.", None)
    citizen_id: str = options.CITIZEN
    nodes: list[str] | None = option("--node NAME", "Whom or what it is about; repeat.")
    emotion: str | None = option("--emotion NAME", "What the citizen feels now.")
    query_levels: list[str] | None = options.ANY_LEVELS
    as_of_time: str | None = options.AS_OF
    known_at: str | None = options.KNOWN_AT
    keep: bool = option("--keep", "Keep the prediction, to be compared later.", False)
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        if self.action is None:
            citizen = self.citizen_id
            self.show(self.answer(read_calibration, citizen, of=citizen), _show_calibration)
            return
        self.show(self.ask(imagine, self.request(Imagine)), _show)


def _show(told: Imagination, page: support.Sheet) -> None:
    for kind, shares in (("results", told.results), ("feelings", told.emotions), ("usual", told.usual)):
        if shares:
            line = ", ".join(f"{formatting.to_line(name)} {share:.0%}" for name, share in shares.items())
            page.say(f"{kind}: {line}")
    if told.enough:
        counted = count_of(told.cases, "case")
        page.say(f"evidence: {told.evidence:.1f} of {counted}", "bright_black")
    for case in told.nearest:
        line = formatting.to_line(case.description or case.name)
        outcome = formatting.to_line(case.result or "no result")
        page.say(f"  {case.weight:.2f}  {line} -> {outcome}")
    if told.prediction_id is not None:
        page.say(f"kept as {told.prediction_id}")
    for note in (*told.notes, *formatting.describe_missing(told.degraded)):
        page.say(f"note: {formatting.to_line(note)}", "dim")


def _show_calibration(told: Calibration, page: support.Sheet) -> None:
    page.print(f"{count_of(told.kept, 'prediction')}, {told.waiting} without an outcome yet")
    if told.brier is not None:
        page.print(f"Brier {told.brier:.3f} over {told.answered}; always the usual {told.usual_brier:.3f}")
    for one in told.reliability:
        said = f"told {one.predicted:.0%}, came {one.happened:.0%}"
        page.print(f"  {one.from_share:.0%} to {one.to_share:.0%}: {said} ({one.count})")
    for month in told.over_time:
        page.print(f"  {month.month}: Brier {month.brier:.3f} over {month.answered}")


class ImagineArguments(Arguments):
    action: Annotated[Name, Field(description="What you think of doing.")]
    nodes: Annotated[tuple[Name, ...], AtMost(64), Field(description="Names of whom or what it is about.")] = ()
    emotion: Annotated[Name | None, Field(description="What you feel now.")] = None
    keep: Annotated[Flag, Field(description="Keep the prediction, for outcome_of.")] = False


class ImagineValues(WithNotice):
    enough: bool
    results: dict[str, float]
    prediction_id: str | None = None


def _shares(shares: dict[str, float]) -> str:
    return one_line(", ".join(f"{name} {share:.0%}" for name, share in shares.items()))


@tool("Imagine an outcome", read_only=False, extra=True)
async def call_imagine(client: AsyncSubstrate, given: ImagineArguments) -> ToolAnswer[ImagineValues]:
    """Say what came of an action before."""
    told = await client.imagine(**fields_of(given))
    lines = [f"results: {_shares(told.results)}", f"feelings: {_shares(told.emotions)}"]
    if not told.enough:
        lines = [f"too few to say ({told.cases} cases with a result); usually {_shares(told.usual) or 'unknown'}"]
    for case in told.nearest:
        rule = f"; rule: {case.rule}" if case.rule else ""
        lines.append(one_line(f"- {case.description or case.name} -> {case.result or 'no result'}{rule}"))
    values = ImagineValues(enough=told.enough, results=told.results, prediction_id=told.prediction_id)
    return ToolAnswer(fence("\n".join([*lines, *map(one_line, told.notes)])), values)


TOOLS: Final = (call_imagine,)
