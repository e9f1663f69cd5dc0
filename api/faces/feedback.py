"""`substrate feedback`: say which memories answered a question, list what was said, or take it back."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from pydantic import AfterValidator, Field
from rich.console import Console
from rich.text import Text

from api.cli import bind, formatting, options, support
from api.client import AsyncSubstrate
from api.mcp.arguments import (
    Arguments,
    AsOfArgument,
    CitizenArgument,
    KnownAtArgument,
)
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.features.feedback.flow import list_feedback, take_back, tell
from schemas.base import (
    AtMost,
    Frozen,
)
from schemas.base import (
    Text as TextField,
)
from schemas.errors import InvalidRequest
from schemas.intention import check_not_blank
from schemas.mind.feedback import (
    Feedback,
    FeedbackPage,
    FeedbackRecord,
    FeedbackTakenBack,
    LearnedFactors,
    MemoryIds,
    NotChanged,
)
from schemas.paging import MOST, Paged
from substrate.language.text import count_of

app = typer.Typer(add_completion=False)


class _Feedback(bind.Options):
    query_text: Annotated[
        str | None,
        typer.Argument(
            metavar="QUESTION", help="The question as it was asked; without one, what was said is listed."
        ),
    ] = None
    citizen_id: options.Citizen
    used: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory that answered it; repeat for several.")
    ] = None
    wrong: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory that was wrong for it; repeat for several.")
    ] = None
    not_changed: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="EARLIER LATER", help="What was told as a change from one to the other is none."),
    ] = None
    as_of_time: options.AsOf = None
    known_at: options.KnownAt = None
    query_levels: options.AnyLevels = None
    collectives: options.Collectives = None
    feedback_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="An id for it: said again with it, it counts once.")
    ] = None
    undo: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Take this feedback back; repeat for several.")
    ] = None
    undo_all: Annotated[bool, typer.Option("--undo-all", help="Take all feedback of the citizen back.")] = False
    as_json: options.AnswerAsJson = False


@bind.command(app, _Feedback)
def feedback(given: _Feedback) -> None:
    """Say which memories answered a question, list what was said, or take it back."""
    settings, citizen, pair = support.read_settings(given.ctx), given.citizen_id, given.not_changed
    if given.undo or given.undo_all:
        if given.query_text is not None or (given.undo and given.undo_all):
            raise InvalidRequest("--undo, --undo-all and a question: give one of them")
        undone = given.undo or None
        taken = support.in_store(settings, lambda deps, now: take_back(citizen, undone, deps, now), citizen)
        support.print_answer(taken, _show_taken, as_json=given.as_json)
        return
    if given.query_text is None and pair is None:
        page = support.in_store(settings, lambda deps, _: list_feedback(citizen, Paged(limit=MOST), deps), citizen)
        support.print_answer(page, _show_page, as_json=given.as_json)
        return
    pairs = [dict(zip(("earlier", "later"), pair, strict=True))] if pair else []
    told = given.request(Feedback, not_changed=pairs)
    record = support.in_store(settings, lambda deps, now: tell(citizen, told, deps, now), citizen)
    support.print_answer(record, _show_record, as_json=given.as_json)


def _show_page(page: FeedbackPage, console: Console) -> None:
    for record in page.feedback:
        _show_record(record, console)
    _show_learned(page.learned, console)


def _show_record(record: FeedbackRecord, console: Console) -> None:
    console.print(Text(f"{record.feedback_id}  {formatting.to_line(record.query_text or '')}"), soft_wrap=True)
    pairs = [f"{pair.earlier} by {pair.later}" for pair in record.not_changed]
    for label, ids in (("used", record.used), ("wrong", record.wrong), ("not changed", pairs)):
        if ids:
            console.print(Text(f"  {label}: {', '.join(map(formatting.to_line, ids))}"), soft_wrap=True)


def _show_taken(taken: FeedbackTakenBack, console: Console) -> None:
    console.print(Text(f"took back {count_of(taken.taken_back, 'feedback')}"))
    _show_learned(taken.learned, console)


def _show_learned(learned: LearnedFactors, console: Console) -> None:
    if learned.factors:
        factors = ", ".join(f"{name} {factor:.3f}" for name, factor in learned.factors.items())
        console.print(Text(f"factors: {factors}"), soft_wrap=True)
    else:
        support.messages().print(Text("no feedback stands", "bright_black"))


class FeedbackArguments(Arguments):
    citizen_id: CitizenArgument
    query: Annotated[
        Annotated[TextField, AfterValidator(check_not_blank)] | None,
        Field(min_length=1, max_length=20_000, description="The question, as it was recalled with."),
    ] = None
    used: Annotated[MemoryIds, Field(description="Ids of the recalled memories that answered it.")] = ()
    wrong: Annotated[MemoryIds, Field(description="Ids of those that were wrong for it.")] = ()
    not_changed: Annotated[
        tuple[NotChanged, ...],
        AtMost(50),
        Field(description="Pairs told as a change, `earlier` and `later`, that are none."),
    ] = ()
    as_of_time: AsOfArgument = None
    known_at: KnownAtArgument = None


class FeedbackValues(Frozen):
    feedback_id: str
    used: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    not_changed: tuple[NotChanged, ...] = ()

    @classmethod
    def of(cls, told: FeedbackRecord) -> FeedbackValues:
        return cls(**told.model_dump(include=set(cls.model_fields)))


@tool("Say what helped", read_only=False, extra=True)
async def call_feedback(client: AsyncSubstrate, given: FeedbackArguments) -> ToolAnswer[FeedbackValues]:
    """Say which memories answered a question, which were wrong, what did not change: later answers go by it."""
    told = await client.tell_feedback(given.citizen_id, **fields_of(given, "citizen_id"))
    return ToolAnswer(f"kept as {told.feedback_id}", FeedbackValues.of(told))


TOOLS: Final = (call_feedback,)
