"""An answer is kept for the states of the graphs that it asked, within the bytes that are allowed."""

from __future__ import annotations

from substrate.connection.kept import AskedState, GraphState, KeptAnswers

OWN, SHARED = "citizen_ada", "collective_n2"
STATE = AskedState(GraphState(clock=5, shifts=1, created_at=2, generation=0), past=False)
BOTH = {OWN: STATE, SHARED: STATE}


def test_the_answers_that_were_not_asked_for_longest_make_room() -> None:
    answers = KeptAnswers(most_bytes=30)
    for name in "abc":
        answers.keep(name, BOTH, name, 10)
    assert answers.find("a", BOTH) == "a"
    answers.keep("d", BOTH, "d", 5)
    assert [answers.find(name, BOTH) for name in "abcd"] == ["a", None, "c", "d"]
    assert answers.bytes == 25


def test_an_answer_that_grows_counts_with_all_its_bytes() -> None:
    answers = KeptAnswers(most_bytes=30)
    first, second = object(), object()
    answers.keep("a", BOTH, first, 10)
    answers.keep("b", BOTH, second, 10)
    answers.resize("b", second, 15)
    answers.resize("b", first, 1)
    answers.resize("gone", second, 1)
    assert answers.bytes == 25
    answers.resize("b", second, 25)
    assert (answers.find("a", BOTH), answers.find("b", BOTH), answers.bytes) == (None, second, 25)
    answers.resize("b", second, 31)
    assert (answers.find("b", BOTH), answers.bytes) == (None, 0)
