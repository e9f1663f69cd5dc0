"""A text solves the open threads that it names or resembles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.appraise import Voice, appraise
from orchestration.appraisal.threads import GOOD_NEWS, TOLD_AS_SOLVED, OpenThread, find_solved, least_strength

CASE = OpenThread("case", "I'm blocked on the glass case, the supplier does not ship", 0.5)
PERMIT = OpenThread("permit", "Still waiting for the permit of the archive", 0.2)
RARE = {"glass": 4.0, "case": 4.0}
LIKENESSES = st.floats(0.0, 1.0).map(lambda number: round(number, 3))


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("The glass case is finally sorted.", TOLD_AS_SOLVED),
        ("I am so relieved today!", GOOD_NEWS),
        ("I'm stuck again with the permit.", None),
        ("We had soup for lunch.", None),
        ("Is the glass case sorted?", None),
    ],
)
def test_only_what_tells_a_solution_or_good_news_can_solve(text: str, least: float | None) -> None:
    assert least_strength(appraise(text, Voice.OWN)) == least


def test_the_words_of_an_assistant_solve_nothing() -> None:
    assert least_strength(appraise("The glass case is finally sorted.", Voice.OTHER)) is None


def test_a_text_solves_the_thread_whose_rare_words_and_meaning_it_shares() -> None:
    told = "The glass case is finally sorted"
    assert find_solved(told, [CASE, PERMIT], TOLD_AS_SOLVED, RARE) == [CASE]


def test_words_that_everything_shares_do_not_make_a_match() -> None:
    assert find_solved("The glass case is finally sorted", [CASE], TOLD_AS_SOLVED, {"glass": 0.1}) == []


def test_one_problem_told_twice_is_closed_twice() -> None:
    again = OpenThread("again", "the glass case still does not come", 0.5)
    assert find_solved("the glass case is there", [CASE, again], TOLD_AS_SOLVED, RARE) == [again, CASE]


@given(st.lists(LIKENESSES, max_size=5), LIKENESSES)
def test_nothing_below_the_least_strength_is_solved_and_the_best_comes_first(
    likenesses: list[float], least: float
) -> None:
    threads = [OpenThread(f"t{place}", "harbour", likeness) for place, likeness in enumerate(likenesses)]
    solved = find_solved("something else", threads, least, {})
    assert all(thread.likeness >= least for thread in solved)
    assert solved == sorted(solved, key=lambda thread: (-thread.likeness, thread.id))
    assert bool(solved) == any(likeness >= least for likeness in likenesses)
