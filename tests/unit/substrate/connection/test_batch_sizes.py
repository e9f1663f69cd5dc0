"""The size of a batch: halved when it is late, grown back step by step, never outside its bounds."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from substrate.connection.pool import SLOW_S, STEPS, BatchSize, BatchSizes


class Sent(NamedTuple):
    """A statement: the share of the allowed size that it has, its time, and whether it ran past the deadline."""

    share: float
    seconds: float
    late: bool


STATEMENTS = st.builds(Sent, st.floats(0.01, 1.0), st.floats(0.0, 2.0), st.booleans())
MOST = st.integers(1, 1000)


def note(size: BatchSize, sent: Sent) -> int:
    """Tell the size of a statement; returns how many rows that had."""
    rows = max(1, round(sent.share * size.size))
    if sent.late:
        size.note_late(rows)
    else:
        size.note_written(rows, sent.seconds)
    return rows


@given(most=MOST, history=st.lists(STATEMENTS, max_size=60))
def test_a_size_stays_in_its_bounds_and_changes_only_for_a_reason(most: int, history: list[Sent]) -> None:
    size = BatchSize(most)
    for sent in history:
        before = size.size
        rows = note(size, sent)
        assert 1 <= size.size <= most
        if sent.late:
            assert size.size == max(1, rows // 2)
        elif rows < before or sent.seconds > SLOW_S:
            assert size.size == before
        else:
            assert before <= size.size <= before + max(1, most // STEPS)


@given(most=MOST, history=st.lists(STATEMENTS, max_size=60))
def test_whatever_happened_a_size_grows_back_to_the_most(most: int, history: list[Sent]) -> None:
    size = BatchSize(most)
    for sent in history:
        note(size, sent)
    for _ in range(2 * STEPS):
        size.note_written(size.size, 0.0)
    assert size.size == most


@given(most=st.integers(2, 1000), capacity=st.integers(1, 1000))
def test_under_a_load_that_stays_the_size_settles(most: int, capacity: int) -> None:
    """A statement takes as long as it has rows; `capacity` of them take a second, which is the deadline."""
    size = BatchSize(most)
    late = 0
    for _ in range(1000):
        rows = size.size
        if rows > capacity:
            size.note_late(rows)
            late += 1
        else:
            size.note_written(rows, rows / capacity)
    assert 2**late <= most


def test_each_kind_of_statement_has_its_own_size() -> None:
    sizes = BatchSizes()
    sizes.of("remember", 50).note_late(50)
    assert sizes.of("remember", 50).size == 25
    assert sizes.of("relate", 500).size == 500
