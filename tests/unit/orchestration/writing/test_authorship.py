"""Who may change, end or erase a shared record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.writing.changes import Refusal, WriteTimes, author_fault, decide, may_change_as, may_erase_as
from orchestration.writing.records import kept_author
from schemas.commands import ANY_COMMAND, Writer
from schemas.memory import Level
from schemas.temporal import END_OF_TIME, Period
from substrate.bitemporal import Record

ADA, BO = Writer(author="ada", steward=False), Writer(author="bo", steward=False)
NOBODY, STEWARD = Writer(steward=False), Writer(author="cleo", steward=True)
SHARED = st.sampled_from((Level.N2, Level.N3))
AUTHORS = st.sampled_from((None, "ada", "bo", "cleo"))
WRITERS = st.builds(Writer, author=AUTHORS, steward=st.booleans())
CHANGES = (
    "correct",
    "supersede",
    "retract",
    "resolve",
    "unrelate",
    "correct_link",
    "supersede_link",
    "resolve_link",
)


@given(WRITERS, AUTHORS, SHARED)
def test_a_shared_record_is_changed_by_its_author_a_steward_or_where_it_has_no_author_by_all(
    writer: Writer, author: str | None, level: Level
) -> None:
    assert may_change_as(writer, author, level) is (writer.steward or author in (None, writer.author))


@given(WRITERS, AUTHORS)
def test_a_personal_record_has_no_author_to_ask(writer: Writer, author: str | None) -> None:
    assert may_change_as(writer, author, Level.N1)
    assert may_erase_as(writer, {author}, Level.N1)


@given(WRITERS, st.sets(AUTHORS, min_size=1), SHARED)
def test_what_may_be_erased_may_be_changed_in_every_record(
    writer: Writer, authors: set[str | None], level: Level
) -> None:
    if may_erase_as(writer, authors, level):
        assert all(may_change_as(writer, author, level) for author in authors)


def test_only_a_steward_erases_what_has_no_author() -> None:
    assert not may_erase_as(NOBODY, {None}, Level.N2)
    assert not may_erase_as(ADA, {"ada", None}, Level.N2)
    assert may_erase_as(ADA, {"ada"}, Level.N2)
    assert may_erase_as(STEWARD, {"ada", None}, Level.N2)


@given(WRITERS, st.sampled_from(("ada", "bo")))
def test_a_change_leaves_the_author_as_it_is(writer: Writer, author: str) -> None:
    assert kept_author({"author": author}, writer) == author
    assert kept_author({}, writer) == writer.author


def test_the_fault_names_both() -> None:
    assert author_fault("m", "ada", BO) == (
        "m was written by ada, and only its author or a steward changes it; this is bo"
    )
    assert "has no author" in author_fault("m", None, NOBODY)


RECORD = Record("m", 1, Period(1), Period(5), {"name": "x", "author": "ada", "resolution_state": "blocked"})


def change(kind: str, **more: object) -> Any:
    fields = {"name": "y"} if kind in ("correct", "supersede") else {"goal": "y"}
    given = fields if kind in ("correct", "supersede", "correct_link", "supersede_link") else {}
    return ANY_COMMAND.validate_python({"command": kind, "level": "N2", "id": "m", **given, **more})


@pytest.mark.parametrize("kind", CHANGES)
def test_every_kind_of_change_asks_for_the_author(kind: str) -> None:
    times = WriteTimes(10, 10)
    for allowed in (ADA, STEWARD, Writer()):
        assert decide(change(kind).with_writer(allowed), [RECORD], 1, times).closed
    for other in (BO, NOBODY):
        with pytest.raises(Refusal, match="was written by ada") as refusal:
            decide(change(kind).with_writer(other), [RECORD], 1, times)
        assert refusal.value.problem == "not-author"


@pytest.mark.parametrize("kind", ["undo", "undo_link"])
def test_an_undo_asks_the_author_of_what_it_takes_back_or_brings_back(kind: str) -> None:
    changed = replace(RECORD, version=2, known=Period(8), command_id="c2")
    before = replace(RECORD, known=Period(5, 8), closed_by="c2", content={**RECORD.content, "author": None})
    retracted = replace(RECORD, known=Period(5, 8), closed_by="c2")
    for known in ([before, changed], [retracted]):
        assert decide(change(kind).with_writer(ADA), known, len(known), WriteTimes(10, 10)).opened
        with pytest.raises(Refusal, match="was written by ada"):
            decide(change(kind).with_writer(BO), known, len(known), WriteTimes(10, 10))
    assert changed.known.end == END_OF_TIME
