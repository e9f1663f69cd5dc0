"""What is now stands above what was, in a question about the present, and below in one about the past."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.tense import Tense
from orchestration.ranking.currency import DAY, FOCUS, Change, Comparison, Hit, find_changes, order_by_currency
from schemas.memory import Level
from substrate.text import stems

ASKED = stems("Where do I live?")


def hit(text: str, day: int, total: float, *, voice: str = "user", changes: int = 0) -> Hit:
    return Hit(day * DAY, voice, total, total / 2, stems(text), True, changes)


HOMES = (
    hit("I live in Berlin in a small flat by the canal", 1, 1.2),
    hit("since June I live in Lisbon, the flat by the canal is let", 150, 1.0, changes=2),
    hit("the baker has new rolls", 160, 0.5),
)


def orders(tense: Tense | None) -> list[int]:
    return order_by_currency(len(HOMES), find_changes(HOMES, ASKED), tense, raising=True)


def test_for_the_present_the_later_of_one_thing_stands_above_the_earlier() -> None:
    assert orders(Tense.PRESENT)[:2] == [1, 0]


def test_for_the_past_the_earlier_one_stands_above() -> None:
    turned = (HOMES[1], HOMES[0], HOMES[2])
    changes = find_changes(turned, ASKED)
    assert order_by_currency(3, changes, Tense.FORMER, raising=True)[:2] == [1, 0]


def test_a_question_that_asks_for_no_time_keeps_its_order() -> None:
    assert orders(None) == [0, 1, 2]


def test_what_somebody_else_says_is_no_change_of_mine() -> None:
    other = (HOMES[0], hit("since June I live in Lisbon", 150, 1.0, voice="Noor"))
    assert find_changes(other, ASKED) == []


def test_what_the_answering_side_says_changes_nothing() -> None:
    said = [hit("you live in Berlin", 1, 1.0, voice="assistant"), hit("so Lisbon", 2, 0.9, voice="assistant")]
    assert find_changes(said, ASKED) == []


def test_two_of_one_moment_tell_of_no_change() -> None:
    assert find_changes([hit("I live in Berlin", 3, 1.0), hit("I live in Lisbon", 3, 0.9)], ASKED) == []


def test_a_later_one_from_below_comes_into_the_focus_only_when_asked() -> None:
    changes = [Change(0, 7, 0.4)]
    assert order_by_currency(10, changes, Tense.PRESENT, raising=False)[:FOCUS] == [0, 1, 2, 3, 4]
    assert order_by_currency(10, changes, Tense.PRESENT, raising=True)[:FOCUS] == [7, 0, 1, 2, 3]


def test_the_change_shown_is_the_likeliest_of_each_hit() -> None:
    keys = [(Level.N1, name, 1) for name in "abc"]
    comparison = Comparison(keys, [Change(0, 1, 0.6), Change(0, 2, 0.9), Change(1, 2, 0.2)])
    assert comparison.held_before() == {keys[0]: keys[2]}


places = st.integers(0, 11)
changes = st.lists(
    st.builds(Change, places, places, st.floats(0, 1)).filter(lambda change: change.earlier != change.later)
)


@given(changes, st.sampled_from([None, *Tense]), st.booleans())
def test_nothing_is_dropped_or_doubled(found: list[Change], tense: Tense | None, raising: bool) -> None:
    assert sorted(order_by_currency(12, found, tense, raising=raising)) == list(range(12))
