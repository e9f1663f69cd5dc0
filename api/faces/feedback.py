"""`substrate feedback`: say which memories answered a question, list what was said, or take it back."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from api.cli import formatting, options, support
from api.cli.program import argument, option
from api.client import AsyncSubstrate
from api.mcp.answers import Values
from api.mcp.arguments import Arguments, AsOfArgument, KnownAtArgument
from api.mcp.tool import ToolAnswer, fields_of, tool
from orchestration.features.feedback.feature import list_feedback, take_back, tell
from schemas.base import AtMost
from schemas.base import Text as TextField
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


class FeedbackCommand(options.StoreCommand, name="feedback"):
    """Say which memories answered a question, list what was said, or take it back."""

    query_text: str | None = argument(
        "question", "The question as it was asked; without one, what was said is listed.", None
    )
    citizen_id: str = options.CITIZEN
    used: list[str] | None = option("--used ID", "A memory that answered it; repeat for several.")
    wrong: list[str] | None = option("--wrong ID", "A memory that was wrong for it; repeat for several.")
    not_changed: tuple[str, str] | None = option(
        "--not-changed EARLIER LATER", "What was told as a change from one to the other is none."
    )
    as_of_time: str | None = options.AS_OF
    known_at: str | None = options.KNOWN_AT
    query_levels: list[str] | None = options.ANY_LEVELS
    collectives: list[str] | None = options.COLLECTIVES
    feedback_id: str | None = option("--id ID", "An id for it: said again with it, it counts once.")
    undo: list[str] | None = option("--undo ID", "Take this feedback back; repeat for several.")
    undo_all: bool = option("--undo-all", "Take all feedback of the citizen back.", False)
    as_json: bool = options.ANSWER_AS_JSON

    def run(self) -> None:
        citizen, pair = self.citizen_id, self.not_changed
        if self.undo or self.undo_all:
            if self.query_text is not None or (self.undo and self.undo_all):
                raise InvalidRequest("--undo, --undo-all and a question: give one of them")
            self.show(self.answer(take_back, citizen, self.undo or None, of=citizen), _show_taken)
        elif self.query_text is None and pair is None:
            self.show(self.answer(list_feedback, citizen, Paged(limit=MOST), of=citizen), _show_page)
        else:
            pairs = [dict(zip(("earlier", "later"), pair, strict=True))] if pair else []
            told = self.request(Feedback, not_changed=pairs)
            self.show(self.answer(tell, citizen, told, of=citizen), _show_record)


def _show_page(told: FeedbackPage, page: support.Sheet) -> None:
    for record in told.feedback:
        _show_record(record, page)
    _show_learned(told.learned, page)


def _show_record(record: FeedbackRecord, page: support.Sheet) -> None:
    page.say(f"{record.feedback_id}  {formatting.to_line(record.query_text or '')}")
    pairs = [f"{pair.earlier} by {pair.later}" for pair in record.not_changed]
    for label, ids in (("used", record.used), ("wrong", record.wrong), ("not changed", pairs)):
        if ids:
            page.say(f"  {label}: {', '.join(map(formatting.to_line, ids))}")


def _show_taken(taken: FeedbackTakenBack, page: support.Sheet) -> None:
    page.fold(f"took back {count_of(taken.taken_back, 'feedback')}")
    _show_learned(taken.learned, page)


def _show_learned(learned: LearnedFactors, page: support.Sheet) -> None:
    if learned.factors:
        factors = ", ".join(f"{name} {factor:.3f}" for name, factor in learned.factors.items())
        page.say(f"factors: {factors}")
    else:
        support.remark("no feedback stands")


class FeedbackArguments(Arguments):
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


class FeedbackValues(Values):
    feedback_id: str
    used: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    not_changed: tuple[NotChanged, ...] = ()


@tool("Say what helped", read_only=False, extra=True)
async def call_feedback(client: AsyncSubstrate, given: FeedbackArguments) -> ToolAnswer[FeedbackValues]:
    """Say which memories answered a question, which were wrong, what did not change: later answers go by it."""
    told = await client.tell_feedback(given.citizen_id, **fields_of(given, "citizen_id"))
    return ToolAnswer(f"kept as {told.feedback_id}", FeedbackValues.of(told))


TOOLS: Final = (call_feedback,)
