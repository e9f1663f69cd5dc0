"""Days, hours and amounts to which a rule is limited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.appraisal.speech import sentences
from orchestration.features.rules.clauses import (
    DAY_MINUTES,
    Amount,
    Hours,
    Limits,
    compare,
    is_ceiling,
    read_limits,
)
from substrate.language.languages import Language

HOURS = st.builds(Hours, st.integers(0, DAY_MINUTES - 1), st.integers(1, DAY_MINUTES))


def limits(text: str, code: str = "en", today: int | None = None) -> Limits:
    spoken = Language.of(code)
    tokens = [token for sentence in sentences(text, spoken) for token in sentence.tokens]
    return read_limits(tokens, spoken, today)


@pytest.mark.parametrize(
    ("text", "code", "days"),
    [
        ("never on Fridays", "en", {4}),
        ("on Monday or Sunday", "en", {0, 6}),
        ("on weekends", "en", {5, 6}),
        ("niemals freitags", "de", {4}),
        ("unter der Woche", "de", {0, 1, 2, 3, 4}),
        ("deploy it", "en", set()),
    ],
)
def test_days_are_read(text: str, code: str, days: set[int]) -> None:
    assert limits(text, code).days == days


def test_today_and_tomorrow_are_days_of_the_moment_of_the_question() -> None:
    assert limits("deploy today", today=4).days == {4}
    assert limits("deploy tomorrow", today=6).days == {0}
    assert limits("deploy today").days == frozenset()


@pytest.mark.parametrize(
    ("text", "code", "hours"),
    [
        ("before 9 am", "en", Hours(0, 540)),
        ("after 22:00", "en", Hours(1320, DAY_MINUTES)),
        ("at 7:30", "en", Hours(450, 451)),
        ("at 9pm", "en", Hours(1260, 1261)),
        ("at night", "en", Hours(1320, 360)),
        ("nach 20 Uhr", "de", Hours(1200, DAY_MINUTES)),
    ],
)
def test_hours_are_read(text: str, code: str, hours: Hours) -> None:
    assert limits(text, code).hours == (hours,)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("more than 100 euros", Amount(100, "euro", "over")),
        ("more than €1,200.50", Amount(1200.5, "euro", "over")),
        ("at least three cups", Amount(3, "cup", "under")),
        ("at most two dogs", Amount(2, "dog", "over")),
        ("order 30 chairs", Amount(30, "chair")),
    ],
)
def test_amounts_are_read(text: str, amount: Amount) -> None:
    assert limits(text).amounts == (amount,)


@pytest.mark.parametrize("text", ["version 1.2.3.4", "a dog", "", "9" * 400, "٣ chairs"])
def test_what_is_no_amount_is_none_and_no_error(text: str) -> None:
    assert all(amount.value > 1 for amount in limits(text).amounts)


def test_a_most_or_least_forbids_without_the_word_never() -> None:
    assert is_ceiling("drink at most two cups".split(), Language.of("en"))
    assert not is_ceiling("drink more than two cups".split(), Language.of("en"))


@pytest.mark.parametrize(
    ("rule", "action", "fit"),
    [
        ("on Fridays", "on Friday", "holds"),
        ("on Fridays", "on Monday", "fails"),
        ("on Fridays", "", "untold"),
        ("before 9 am", "at 7:30", "holds"),
        ("before 9 am", "at 9 am", "fails"),
        ("at night", "at midnight", "holds"),
        ("more than 100 euros", "250 euros", "holds"),
        ("more than 100 euros", "100 euros", "fails"),
        ("more than 100 euros", "250 chairs", "untold"),
        ("", "on Friday", "holds"),
    ],
)
def test_an_action_lies_within_the_limits_of_a_rule_outside_or_does_not_say(
    rule: str, action: str, fit: str
) -> None:
    assert compare(limits(rule), limits(action)) == fit


@given(HOURS, HOURS)
def test_hours_meet_both_ways_exactly_where_they_share_a_minute(one: Hours, other: Hours) -> None:
    def minutes(hours: Hours) -> set[int]:
        return {minute for start, end in hours.minutes() for minute in range(start, end)}

    assert one.meets(other) == other.meets(one) == bool(minutes(one) & minutes(other))
