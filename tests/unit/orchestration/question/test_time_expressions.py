"""Times that a question names, and the order or the event that it asks for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.question.time_expressions import EARLIER_YEAR, YEARS_BACK, Event, read_times, read_told_times
from schemas.temporal import to_datetime

NOW = datetime(2023, 7, 12, 15, 30, tzinfo=UTC)  # a Wednesday


def spans(text: str, now: datetime = NOW) -> list[tuple[str, str]]:
    found = (each.period for each in read_times(text, now).periods)
    return [(f"{to_datetime(each.start):%Y-%m-%d}", f"{to_datetime(each.end):%Y-%m-%d}") for each in found]


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
        ("And the day before yesterday?", "2023-07-10", "2023-07-11"),
        ("What did she say last week?", "2023-07-03", "2023-07-10"),
        ("What did she say this week?", "2023-07-10", "2023-07-17"),
        ("Where were we last month?", "2023-06-01", "2023-07-01"),
        ("Where were we last year?", "2022-01-01", "2023-01-01"),
        ("What broke two weeks ago?", "2023-06-28", "2023-06-29"),
        ("What broke a couple of weeks ago?", "2023-06-28", "2023-06-29"),
        ("What broke a few days ago?", "2023-07-09", "2023-07-10"),
        ("What broke 3 days ago?", "2023-07-09", "2023-07-10"),
        ("What did I do last Saturday?", "2023-07-08", "2023-07-09"),
        ("How did Sunday go?", "2023-07-09", "2023-07-10"),
        ("What was on last Friday night?", "2023-07-07", "2023-07-08"),
        ("What did we do at the weekend?", "2023-07-08", "2023-07-10"),
        ("How was Easter?", "2023-04-07", "2023-04-11"),
        ("Who came on Good Friday?", "2023-04-07", "2023-04-08"),
        ("What did I cook at Christmas?", "2022-12-24", "2022-12-27"),
        ("Which race did I run in spring?", "2023-03-01", "2023-06-01"),
        ("What broke at the start of March?", "2023-03-01", "2023-03-11"),
        ("What did I do over the last three weeks?", "2023-06-21", "2023-07-13"),
        ("What changed since May?", "2023-05-01", "2023-07-12"),
        ("What changed between March and May?", "2023-03-01", "2023-06-01"),
        ("What changed from 3 May to 7 June 2022?", "2022-05-03", "2022-06-08"),
        ("Was war vorgestern?", "2023-07-10", "2023-07-11"),
        ("Was gab es am letzten Samstag?", "2023-07-08", "2023-07-09"),
        ("Wer kam vor zwei Wochen?", "2023-06-28", "2023-06-29"),
        ("Wo war ich letzten Monat?", "2023-06-01", "2023-07-01"),
        ("Wie war es an Karfreitag?", "2023-04-07", "2023-04-08"),
        ("Was war am 24. Dezember?", "2022-12-24", "2022-12-25"),
        ("Was war am 3.4.2022?", "2022-04-03", "2022-04-04"),
        ("Was war Anfang März?", "2023-03-01", "2023-03-11"),
        ("Was geschah zwischen Ostern und Pfingsten?", "2023-04-07", "2023-05-30"),
    ],
)
def test_a_time_is_the_period_it_means_seen_from_now(text: str, start: str, end: str) -> None:
    assert spans(text)[0] == (start, end)


def test_a_month_without_a_year_is_the_latest_that_has_begun_and_less_surely_that_of_earlier_years() -> None:
    periods = read_times("When did she go camping in June?", NOW).periods
    assert spans("When did she go camping in June?")[:2] == [
        ("2023-06-01", "2023-07-01"),
        ("2022-06-01", "2022-07-01"),
    ]
    assert [each.weight for each in periods[:2]] == [1.0, EARLIER_YEAR]
    assert len(periods) == YEARS_BACK + 1
    assert spans("in August?")[0] == ("2022-08-01", "2022-09-01")


def test_what_was_before_or_after_a_time_is_near_it() -> None:
    assert spans("What did I buy before 1 May 2023?")[0] == ("2023-04-03", "2023-05-01")
    assert spans("What did I buy after 1 May 2023?")[0] == ("2023-05-02", "2023-05-30")


def test_last_tuesday_may_be_that_of_this_week_or_the_one_before() -> None:
    assert spans("last Tuesday") == [("2023-07-11", "2023-07-12"), ("2023-07-04", "2023-07-05")]


def test_a_day_begins_at_midnight_in_the_zone_of_the_asker() -> None:
    late = datetime(2023, 7, 12, 23, 30, tzinfo=UTC)
    berlin = read_times("yesterday", late.astimezone(ZoneInfo("Europe/Berlin"))).periods[0].period
    assert to_datetime(berlin.start) == datetime(2023, 7, 11, 22, tzinfo=UTC)
    assert spans("yesterday", late) == [("2023-07-11", "2023-07-12")]


def test_a_day_on_which_clocks_change_has_its_true_length() -> None:
    period = read_times("yesterday", datetime(2023, 3, 27, 9, tzinfo=ZoneInfo("Europe/Berlin"))).periods[0].period
    assert period.end - period.start == 23 * 3_600_000_000


@pytest.mark.parametrize(
    "text",
    [
        "May I come in?",
        "Who may have said that?",
        "The march to the sea",
        "Did April call?",
        "Who runs the Friday meeting?",
        "Do you like Sundays?",
        "What happened on 31 June 2023?",
        "Which of the 2000 files",
        "What is on next Friday?",
        "What comes in the next week?",
        "",
        "9999-99-99",
        "999 years ago",
    ],
)
def test_a_text_without_a_past_time_names_none_and_keeps_its_words(text: str) -> None:
    times = read_times(text, NOW)
    assert (times.periods, times.rest) == ((), text)


@given(st.text(alphabet="0123456789 -,.mayjuneonlstwkrgdbfi", max_size=60), st.integers(1700, 2250))
def test_any_text_is_read_without_complaint_into_periods_that_begin_before_they_end(text: str, year: int) -> None:
    times = read_times(text, NOW.replace(year=year))
    assert all(each.period.start < each.period.end and 0.0 < each.weight <= 1.0 for each in times.periods)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Where was James on July 12, 2022?", "Where was James?"),
        ("What did the bank tell me yesterday about the loan?", "What did the bank tell me about the loan?"),
        ("May I march in 2021?", "May I march?"),
        ("Was habe ich am Samstag geschrieben?", "Was habe ich geschrieben?"),
        ("Who came?", "Who came?"),
        ("yesterday", "yesterday"),
    ],
)
def test_the_words_of_a_time_are_left_out_of_the_rest_unless_nothing_else_is_there(text: str, rest: str) -> None:
    assert read_times(text, NOW).rest == rest


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("What did I do yesterday?", True),
        ("What happened on Saturday?", True),
        ("Was habe ich gestern erzählt?", True),
        ("yesterday", True),
        ("What did the bank say yesterday?", False),
        ("What did I do?", False),
    ],
)
def test_a_question_may_be_of_a_time_alone(text: str, alone: bool) -> None:
    assert read_times(text, NOW).alone is alone


@pytest.mark.parametrize(
    ("text", "seeking"),
    [
        ("When did I last go swimming?", "latest"),
        ("When was I last on the scale?", "latest"),
        ("Wann hatte ich zuletzt Nachtschicht?", "latest"),
        ("When was the first time that I swam?", "earliest"),
        ("Wann habe ich das erste Mal gesessen?", "earliest"),
        ("What did I do last week?", None),
    ],
)
def test_the_latest_or_the_earliest_is_sought(text: str, seeking: str | None) -> None:
    assert read_times(text, NOW).seeking == seeking


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("What did I pack the day before the race?", Event("the race", "before", timedelta(days=1))),
        ("What broke two weeks after the move?", Event("the move", "after", timedelta(days=14))),
        ("What did I say before we left?", Event("we left", "before")),
        ("What did I get on my birthday?", Event("my birthday", "on", birthday=True)),
        ("Was war an meinem Geburtstag?", Event("meinem Geburtstag", "on", birthday=True)),
        ("Wie ging es Emil nach dem Umzug an den Kanal?", Event("Umzug", "after")),
        ("What did I buy before Christmas?", None),
        ("How long did it take me after I downloaded it?", None),
        ("Who came?", None),
    ],
)
def test_an_event_may_stand_for_a_time(text: str, event: Event | None) -> None:
    assert read_times(text, NOW).event == event


def test_a_message_tells_of_the_days_that_it_names() -> None:
    told = read_told_times("hail on friday, and yesterday the roof", NOW)
    assert [f"{to_datetime(each.start):%d}" for each in told] == ["07", "11"]
    assert read_told_times("we moved in June", NOW) == []


def test_a_message_with_a_long_run_of_blanks_tells_of_its_days() -> None:
    assert read_told_times(f"We met{' ' * 50_000}on Friday{' ' * 50_000}", NOW) == read_told_times(
        "We met on Friday", NOW
    )


def test_a_phrase_that_is_repeated_names_what_it_names_once() -> None:
    once = read_times("What happened in May?", NOW)
    assert read_times(f"What happened {'in May ' * 2000}?", NOW).periods == once.periods
