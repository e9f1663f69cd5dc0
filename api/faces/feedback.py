"""`substrate feedback`: say which memories answered a question, list what was said, or take it back."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from pydantic import AfterValidator, Field
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from api.client import AsyncSubstrate
from api.mcp.arguments import (
    Arguments,
    AsOfArgument,
    CitizenArgument,
    KnownAtArgument,
)
from api.mcp.tool import Tool, ToolAnswer, fields_of
from orchestration.features.feedback.flow import tell
from orchestration.features.feedback.kept import list_feedback, take_back
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

OPTIONS: Final = {**options.QUESTION, **options.named("used", "wrong", "not_changed"), "feedback_id": "--id"}

app = typer.Typer(add_completion=False)


@app.command()
def feedback(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    question: Annotated[
        str | None, typer.Argument(help="The question as it was asked; without one, what was said is listed.")
    ] = None,
    *,
    citizen: options.Citizen,
    used: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory that answered it; repeat for several.")
    ] = None,
    wrong: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="A memory that was wrong for it; repeat for several.")
    ] = None,
    not_changed: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="EARLIER LATER", help="What was told as a change from one to the other is none."),
    ] = None,
    as_of: options.AsOf = None,
    known_at: options.KnownAt = None,
    level: options.AnyLevels = None,
    collective: options.Collectives = None,
    feedback_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="An id for it: said again with it, it counts once.")
    ] = None,
    undo: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Take this feedback back; repeat for several.")
    ] = None,
    undo_all: Annotated[bool, typer.Option("--undo-all", help="Take all feedback of the citizen back.")] = False,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Say which memories answered a question, list what was said, or take it back."""
    settings = support.read_settings(ctx)
    if undo or undo_all:
        if question is not None or (undo and undo_all):
            raise InvalidRequest("--undo, --undo-all and a question: give one of them")
        taken = support.in_store(settings, lambda deps, now: take_back(citizen, undo or None, deps, now), citizen)
        support.print_answer(taken, _show_taken, as_json=as_json)
        return
    if question is None and not_changed is None:
        page = support.in_store(settings, lambda deps, _: list_feedback(citizen, Paged(limit=MOST), deps), citizen)
        support.print_answer(page, _show_page, as_json=as_json)
        return
    fields = {
        "query_text": question,
        "used": used or [],
        "wrong": wrong or [],
        "not_changed": [dict(zip(("earlier", "later"), not_changed, strict=True))] if not_changed else [],
        "as_of_time": support.parse_time_option("--as-of", as_of),
        "known_at": support.parse_known_at(known_at),
        "query_levels": options.upper(level),
        "collectives": collective,
        "feedback_id": feedback_id,
    }
    told = support.validate(Feedback, support.drop_unset(fields), OPTIONS)
    record = support.in_store(settings, lambda deps, now: tell(citizen, told, deps, now), citizen)
    support.print_answer(record, _show_record, as_json=as_json)


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


async def call_feedback(client: AsyncSubstrate, given: FeedbackArguments) -> ToolAnswer:
    told = await client.tell_feedback(given.citizen_id, **fields_of(given, "citizen_id"))
    return ToolAnswer(f"kept as {told.feedback_id}", FeedbackValues.of(told))


TOOLS: Final = (
    Tool(
        "feedback",
        "Say what helped",
        "Say which memories answered a question, which were wrong, what did not change: later answers go by it.",
        FeedbackArguments,
        FeedbackValues,
        call_feedback,
        read_only=False,
        extra=True,
    ),
)
