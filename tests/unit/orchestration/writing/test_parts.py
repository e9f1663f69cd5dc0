"""The parts of a cascade: which stretches of valid time they change."""

from __future__ import annotations

import pytest

from orchestration.writing.cascade import Plan, Step
from orchestration.writing.parts import cascade_parts, open_periods, over_period, part_id
from schemas.base import check_identifier
from schemas.commands import Resolve, Writer
from schemas.memory import ResolutionState, Source
from schemas.temporal import Period
from substrate.bitemporal import Record


def held(start: int, end: int, state: str | None) -> Record:
    return Record("x", 1, Period(start, end), Period(0), {"resolution_state": state})


@pytest.mark.parametrize(
    ("state", "periods"),
    [("resolved", [Period(5, 20), Period(30, 35)]), ("in_progress", [Period(5, 10), Period(30, 35)])],
)
def test_only_what_is_open_in_the_stretch_changes(state: str, periods: list[Period]) -> None:
    records = [
        held(0, 10, "blocked"),
        held(10, 20, "in_progress"),
        held(20, 30, "resolved"),
        held(30, 40, "blocked"),
        held(40, 50, None),
    ]
    assert open_periods(records, Period(5, 35), ResolutionState(state)) == periods


def test_a_part_has_the_writer_and_the_source_of_the_whole() -> None:
    writer = Writer("key", "ada")
    command = Resolve(id="b", citizen_id="ada", cascade=True, source=Source.TOOL).with_writer(writer)
    [part] = cascade_parts(command, Plan((Step("x", False, ResolutionState.IN_PROGRESS),))).parts
    assert (part.command.source, part.command.writer) == (Source.TOOL, writer)
    assert over_period(part.command, Period(1, 2)).id == "x"


def test_no_sender_can_choose_the_id_of_a_part() -> None:
    with pytest.raises(ValueError, match="is one line without"):
        check_identifier(part_id("mine", 1))
