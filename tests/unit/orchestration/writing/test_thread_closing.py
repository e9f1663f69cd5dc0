"""A text solves the open threads that it names or resembles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.appraise import Voice, appraise
from orchestration.writing.thread_closing import SOLVED, OpenThread, find_solved, tells_end

LIKENESSES = st.floats(0.0, 1.0).map(lambda number: round(number, 3))


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("The glass case is finally sorted.", True),
        ("I am so relieved today!", False),
        ("I'm stuck again with the permit.", False),
        ("We had soup for lunch.", False),
        ("Is the glass case sorted?", False),
        ("The glass case is finally sorted, but what about the light?", False),
    ],
)
def test_only_what_tells_that_something_is_over_can_solve(text: str, ends: bool) -> None:
    assert tells_end(text, appraise(text, Voice.OWN)) is ends


@given(st.lists(LIKENESSES, max_size=5))
def test_nothing_below_the_least_strength_is_solved_and_the_best_comes_first(likenesses: list[float]) -> None:
    threads = [OpenThread(f"t{place}", "harbour", likeness) for place, likeness in enumerate(likenesses)]
    solved = find_solved("something else", threads, {})
    assert all(thread.likeness >= SOLVED for thread in solved)
    assert solved == sorted(solved, key=lambda thread: (-thread.likeness, thread.id))
    assert bool(solved) == any(likeness >= SOLVED for likeness in likenesses)
