"""The parts of a cascade: which stretches of valid time they change."""

from __future__ import annotations

import pytest

from orchestration.writing.cascade import open_periods
from schemas.memory import ResolutionState
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
