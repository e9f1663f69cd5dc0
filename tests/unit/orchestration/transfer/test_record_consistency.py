"""Whether the records of one identity can all be true."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.transfer.verification import LineFault, RecordCheck, identity_of
from schemas.temporal import END_OF_TIME, Period


def properties(version: int, valid: tuple[int, int], known: tuple[int, int]) -> dict[str, Any]:
    times = {"valid_at": valid[0], "invalid_at": valid[1], "created_at": known[0], "expired_at": known[1]}
    return {"id": "a", "version": version, **times}


def memory(
    version: int, valid: tuple[int, int] = (0, 9), known: tuple[int, int] = (5, END_OF_TIME)
) -> dict[str, Any]:
    return {"kind": "memory", "properties": properties(version, valid, known)}


def record(version: int, valid: tuple[int, int], known: tuple[int, int], **fields: Any) -> dict[str, Any]:
    return {"kind": "record", "of": "a", "properties": properties(version, valid, known), **fields}


def check(*lines: dict[str, Any]) -> int:
    """How many lines were taken. Raises LineFault when they cannot all be true."""
    records = RecordCheck(identity_of(lines[0]))
    for line in lines:
        records.take(line)
    records.finish()
    return len(lines)


def test_a_record_that_was_replaced_overlaps_nothing() -> None:
    assert check(memory(2), record(1, (0, 9), (1, 5))) == 2
    assert check(memory(2, (4, 9)), record(1, (0, 9), (1, 5)), record(3, (0, 4), (5, END_OF_TIME))) == 3


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([memory(2), record(1, (0, 9), (1, 6))], "hold at the same time"),
        ([memory(1), record(1, (0, 9), (1, 5))], "version 1 of a comes twice"),
        ([memory(1, (9, 0))], "ends before it begins"),
        ([memory(1, known=(9, 5))], "ends before it begins"),
        ([record(1, (0, 9), (1, 5))], "does not come before it"),
        ([memory(2), record(1, (0, 9), (1, 5), shares_trace_of=7)], "shares the trace"),
        ([memory(2, known=(1, 2)), record(1, (0, 9), (5, 6))], "go in a circle"),
    ],
)
def test_records_that_contradict_each_other_are_refused_with_the_reason(
    lines: list[dict[str, Any]], words: str
) -> None:
    with pytest.raises(LineFault, match=words):
        check(*lines)


times = st.tuples(st.integers(0, 6), st.integers(1, 4)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@given(st.lists(st.tuples(times, times), min_size=1, max_size=6))
def test_records_of_a_link_pass_exactly_when_no_two_overlap_on_both_axes(drawn: list[tuple[Any, Any]]) -> None:
    drawn.sort(key=lambda pair: pair[1])
    lines = [
        {"kind": "link", "source_id": "a", "target_id": "b", "properties": properties(n, valid, known)}
        for n, (valid, known) in enumerate(drawn)
    ]
    overlaps = any(
        Period(*one[0]).overlaps(Period(*other[0])) and Period(*one[1]).overlaps(Period(*other[1]))
        for one, other in combinations(drawn, 2)
    )
    if overlaps:
        with pytest.raises(LineFault):
            check(*lines)
    else:
        assert check(*lines) == len(lines)


def test_the_state_is_carried_once_and_has_the_last_version() -> None:
    carried = {"kind": "node", "label": "CitizenState", "properties": properties(2, (5, 9), (5, END_OF_TIME))}
    past = {"kind": "node", "label": "PastState", "properties": properties(1, (0, 5), (1, END_OF_TIME))}
    assert check(carried, past) == 2
    for lines in ([carried, carried], [past], [carried, {**past, "properties": properties(3, (0, 5), (1, 2))}]):
        with pytest.raises(LineFault):
            check(*lines)


def test_lines_without_times_have_no_identity() -> None:
    assert identity_of({"kind": "tag", "properties": {"name": "#x"}}) is None
    assert identity_of({"kind": "node", "label": "Receipt"}) is None
