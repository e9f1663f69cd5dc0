"""What a change of a citizen's state opens, and the cells of past records."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.temporal import END_OF_TIME, Period, Scope
from substrate.bitemporal import Record
from substrate.store.states import Content, cell_of, cells_at, plan_change, record_of, with_versions

STARTS = st.lists(st.integers(0, 50), min_size=0, max_size=6, unique=True).map(sorted)


def timeline(starts: list[int]) -> list[Record]:
    """Open records without a gap, each with its own goal; the last holds for ever."""
    ends = [*starts[1:], END_OF_TIME]
    periods = map(Period, starts, ends)
    return [
        Record("state", version, period, Period(0), {"goal": f"goal {version}"})
        for version, period in enumerate(periods, start=1)
    ]


def open_from(records: list[Record], valid_at: int) -> list[Record]:
    return [record for record in records if record.valid.end > valid_at]


def value_at(records: list[Record], at: int) -> dict[str, Any]:
    return next((dict(record.content) for record in records if record.valid.start <= at < record.valid.end), {})


@given(STARTS, st.integers(0, 60))
def test_a_change_holds_from_its_moment_on_and_leaves_the_time_before_as_it_was(
    starts: list[int], valid_at: int
) -> None:
    records = timeline(starts)
    held = open_from(records, valid_at)
    contents = {record.version: record.content for record in held}
    opened = plan_change(held, valid_at, {version: {"energy": 0.75} for version in (0, *contents)})
    for at in range(70):
        after = [
            {**contents.get(state.of, {}), **state.change}
            for state in opened
            if state.valid.start <= at < state.valid.end
        ]
        if at >= valid_at:
            assert after == [{**value_at(records, at), "energy": 0.75}]
        elif any(record.valid.start <= at for record in held):
            assert after == [value_at(records, at)]
        else:
            assert after == []


@given(STARTS, st.integers(0, 60))
def test_a_change_to_the_stored_values_opens_nothing(starts: list[int], valid_at: int) -> None:
    held = open_from(timeline(starts), valid_at)
    same: dict[int, Content] = {0: {}} | {record.version: record.content for record in held}
    assert plan_change(held, valid_at, same) == []


@given(st.integers(-(2**52), 2**52), st.integers(1, 2**40), st.floats(0, 1, exclude_max=True), st.booleans())
def test_the_cell_of_a_record_is_among_the_cells_of_each_of_its_moments(
    start: int, length: int, share: float, was_current: bool
) -> None:
    period = Period(start, start + length)
    ended = Period(0, END_OF_TIME)
    record = Record("state", 1, ended, period) if was_current else Record("state", 1, period, ended)
    moment = Period(start + int(share * length), start + int(share * length) + 1)
    scope = Scope(Period(0, 1), moment) if was_current else Scope(moment, Period(0, 1))
    assert cell_of(record) in cells_at(scope)


def test_a_state_from_before_states_had_a_history_is_its_first_version() -> None:
    record = record_of(with_versions({"key": "state", "updated_at": 7, "goal": "rest"}))
    assert (record.version, record.valid.start, record.known.start) == (1, 7, 7)
    assert record.content == {"goal": "rest"}
