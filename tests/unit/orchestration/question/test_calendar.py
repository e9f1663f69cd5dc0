"""The days that a phrase of time means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.languages import TimePhrase, languages
from orchestration.question.time_expressions import find_spans

KINDS = sorted({kind for language in languages() for kind in language.kinds})
DAYS = st.integers(-80_000, 80_000).map(lambda days: datetime(2000, 1, 1, 15, tzinfo=UTC) + timedelta(days=days))


def phrase(kind: str, feast: str = "", **values: int) -> TimePhrase:
    return TimePhrase(kind, 0, 1, values, feast)


@given(DAYS, st.integers(0, 6))
def test_a_weekday_is_the_last_one_before_today(now: datetime, number: int) -> None:
    (span,) = find_spans(phrase("weekday", weekday=number), now)
    assert span.start.weekday() == number
    assert timedelta() < now.replace(hour=0, minute=0, second=0, microsecond=0) - span.start <= timedelta(days=7)


@given(DAYS)
def test_a_weekend_begins_on_saturday_and_has_begun(now: datetime) -> None:
    for kind in ("weekend", "last_weekend"):
        (span,) = find_spans(phrase(kind), now)
        assert (span.start.weekday(), span.end - span.start) == (5, timedelta(days=2))
        assert span.start <= now


@given(DAYS, st.sampled_from(["easter-2 1", "12-24 3", "11 4th 3 1"]))
def test_a_feast_without_a_year_is_the_latest_that_has_come(now: datetime, rule: str) -> None:
    latest = find_spans(phrase("feast", rule), now)[0]
    assert timedelta() <= now - latest.start < timedelta(days=400)


@pytest.mark.parametrize(
    ("rule", "day"), [("easter-2 1", "2025-04-18"), ("05 2nd 6 1", "2025-05-11"), ("12-31 1", "2024-12-31")]
)
def test_the_rule_of_a_feast_gives_its_day(rule: str, day: str) -> None:
    assert f"{find_spans(phrase('feast', rule), datetime(2025, 7, 1, tzinfo=UTC))[0].start:%Y-%m-%d}" == day


@pytest.mark.parametrize(
    "wrong",
    [
        phrase("date", day=31, month=6, year=2023),
        phrase("ago", number=99_999, unit=4),
        phrase("next_unit", unit=2),
    ],
)
def test_what_no_calendar_has_and_what_is_to_come_is_no_span(wrong: TimePhrase) -> None:
    assert find_spans(wrong, datetime(1800, 1, 1, tzinfo=UTC)) == []


def test_a_leap_day_is_that_of_the_leap_years() -> None:
    found = find_spans(phrase("date", day=29, month=2), datetime(2026, 1, 1, tzinfo=UTC))
    assert [span.start.year for span in found[:2]] == [2024, 2020]


def test_every_kind_of_phrase_in_the_files_is_known_or_of_the_future() -> None:
    values = {"weekday": 1, "month": 3, "day": 4, "unit": 2, "number": 2, "season": 0, "year": 2020, "part": 0}
    now = datetime(2025, 7, 1, tzinfo=UTC)
    unknown = {kind for kind in KINDS if not find_spans(phrase(kind, "12-24 1", **values), now)}
    assert unknown == {"tomorrow", "day_after_tomorrow", "next_unit", "next_weekday", "next_weekend"}
