"""The days that a text plans, seen from when it was said."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.time_expressions import read_planned_times
from schemas.temporal import to_datetime

WEDNESDAY = datetime(2026, 3, 4, 10, tzinfo=UTC)
THURSDAY = datetime(2026, 3, 5, 10, tzinfo=UTC)


def days(text: str, *, is_work: bool) -> list[str]:
    planned = read_planned_times(text, WEDNESDAY, THURSDAY, is_work=is_work)
    return [f"{to_datetime(each.period.start):%m-%d}" for each in planned]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the dentist is tomorrow at nine", "03-05"),
        ("we leave the day after tomorrow", "03-06"),
        ("in three weeks we move", "03-25"),
        ("the exam is next Monday", "03-09"),
        ("next week is the exam", "03-09"),
        ("übermorgen zum Zahnarzt", "03-06"),
        ("in zwei Wochen ziehen wir um", "03-18"),
    ],
)
@pytest.mark.parametrize("is_work", [False, True])
def test_a_time_to_come_is_planned_whatever_the_text_is(text: str, day: str, is_work: bool) -> None:
    assert days(text, is_work=is_work) == [day]


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("I have to send the invoice by Friday", "03-06"),
        ("hand it in on 12 March", "03-12"),
        ("hand it in on 2026-03-09, please", "03-09"),
        ("ich muss das bis Freitag abgeben", "03-06"),
    ],
)
def test_a_day_without_a_direction_is_to_come_only_where_there_is_something_to_do(text: str, day: str) -> None:
    assert days(text, is_work=True) == [day]
    assert days(text, is_work=False) == []


@pytest.mark.parametrize(
    "text",
    [
        "the page is empty since Friday",
        "next month it gets better",
        "I saw her yesterday",
        "on 31 June",
        "2026-02-31",
    ],
)
def test_what_was_what_is_vague_and_what_no_calendar_has_is_no_plan(text: str) -> None:
    assert days(text, is_work=True) == []


@pytest.mark.parametrize(
    ("text", "day"),
    [("ask me every Monday how it went", "03-02"), ("every day a word of Welsh", "03-05"),
     ("frag mich jeden Montag danach", "03-02"), ("every Saturday remind me of the bins", "03-07")],
)  # fmt: skip
def test_what_comes_back_is_the_one_around_now(text: str, day: str) -> None:
    [planned] = read_planned_times(text, WEDNESDAY, THURSDAY, is_work=True)
    assert planned.recurring
    assert f"{to_datetime(planned.period.start):%m-%d}" == day


def test_a_day_begins_at_midnight_of_the_one_who_says_it() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    said = WEDNESDAY.replace(hour=23, minute=30).astimezone(berlin)
    [planned] = read_planned_times("tomorrow", said, said, is_work=False)
    assert to_datetime(planned.period.start).astimezone(berlin).isoformat() == "2026-03-06T00:00:00+01:00"


@given(text=st.text(max_size=200), is_work=st.booleans())
def test_any_text_is_read(text: str, is_work: bool) -> None:
    for each in read_planned_times(text, WEDNESDAY, THURSDAY, is_work=is_work):
        assert each.period.start < each.period.end
