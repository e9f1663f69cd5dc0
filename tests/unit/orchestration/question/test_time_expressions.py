"""Times that a question names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.time_expressions import GRACE, YEARS_BACK, find_time_words, find_windows
from schemas.temporal import to_datetime

NOW = datetime(2023, 7, 12, 15, 30, tzinfo=UTC)  # a Wednesday


def spans(text: str) -> list[tuple[str, str]]:
    found = find_windows(text, NOW)
    return [(f"{to_datetime(w.start):%Y-%m-%d}", f"{to_datetime(w.end) - GRACE:%Y-%m-%d}") for w in found]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("What happened on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("What happened on the 7th of May, 2023?", "2023-05-07", "2023-05-08"),
        ("Who came on May 7, 2023?", "2023-05-07", "2023-05-08"),
        ("Where was he in May 2022?", "2022-05-01", "2022-06-01"),
        ("Who was there on 2023-02-28?", "2023-02-28", "2023-03-01"),
        ("What did I do in 2021?", "2021-01-01", "2022-01-01"),
        ("What did she say yesterday?", "2023-07-11", "2023-07-12"),
        ("What did she say last week?", "2023-07-03", "2023-07-10"),
        ("What did she say this week?", "2023-07-10", "2023-07-17"),
        ("Where were we last month?", "2023-06-01", "2023-07-01"),
        ("Where were we last year?", "2022-01-01", "2023-01-01"),
        ("What broke two weeks ago?", "2023-06-28", "2023-07-05"),
        ("What broke 3 days ago?", "2023-07-09", "2023-07-10"),
    ],
)
def test_a_time_is_the_period_it_means_seen_from_now(text: str, start: str, end: str) -> None:
    assert (start, end) in spans(text)


def test_a_month_without_a_year_is_that_month_of_each_of_the_last_years() -> None:
    assert spans("When did she go camping in June?")[-1] == ("2023-06-01", "2023-07-01")
    assert len(spans("When did she go camping in June?")) == YEARS_BACK + 1


@pytest.mark.parametrize(
    "text",
    [
        "May I come in?",
        "Who may have said that?",
        "The march to the sea",
        "What happened on 31 June 2023?",
        "Which of the 2000 files",
        "",
        "9999-99-99",
        "999 years ago",
    ],
)
def test_a_text_without_a_time_names_none(text: str) -> None:
    assert find_windows(text, NOW) == ()


@given(st.text(alphabet="0123456789 -,.mayjuneonlstwkrgd", max_size=60))
def test_any_text_is_read_without_complaint_into_periods_that_begin_before_they_end(text: str) -> None:
    assert all(window.start < window.end for window in find_windows(text, NOW))


def test_the_words_of_a_time_are_separated_from_the_others() -> None:
    assert find_time_words("Where was James on July 12, 2022?") == {"on", "july", "12", "2022"}
    assert find_time_words("May I march in 2021?") == {"in", "2021"}
    assert find_time_words("Who came?") == frozenset()
