"""When the event was by which a question names its time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.graph_queries.six_queries import LESS_SURE, NEAR, NEAR_WEIGHT, find_event_periods
from orchestration.question.time_expressions import Event
from schemas.temporal import to_datetime, to_instant
from tests.builders import a_memory

NOON = datetime(2023, 7, 7, 12, tzinfo=UTC)
RACE = Event("the race", "on")


def told(name: str, text: str, days: float = 0.0, likeness: float | None = None, **fields: Any) -> Any:
    began = to_instant(NOON + timedelta(days=days))
    return a_memory(name, description=text, valid_at=began, likeness=likeness, **fields)


def periods(event: Event, *memories: Any) -> list[tuple[str, str, float]]:
    found = find_event_periods(event, memories, UTC)
    return [
        (f"{to_datetime(each.start):%m-%d}", f"{to_datetime(each.end):%m-%d}", weight) for each, weight in found
    ]


def test_an_event_is_on_the_day_of_the_memories_that_tell_best_of_it() -> None:
    found = periods(
        RACE,
        told("a", "the race was grand"),
        told("b", "a run", 5, likeness=0.4),
        told("c", "soup", 9, likeness=0.1),
    )
    assert found == [("07-07", "07-08", 1.0), ("07-12", "07-13", LESS_SURE)]


def test_a_memory_that_names_one_day_tells_of_an_event_on_that_day() -> None:
    assert periods(RACE, told("a", "the race was on sunday")) == [("07-02", "07-03", 1.0)]


@pytest.mark.parametrize(
    ("event", "start", "end", "weight"),
    [
        (Event("the race", "before", timedelta(days=1)), "07-06", "07-07", 1.0),
        (Event("the race", "after", timedelta(days=3)), "07-10", "07-11", 1.0),
        (Event("the race", "before", timedelta(days=7)), "06-30", "07-07", 1.0),
        (Event("the race", "after", timedelta(days=14)), "07-07", "07-22", 1.0),
        (Event("the race", "before"), "06-27", "07-08", NEAR_WEIGHT),
        (Event("the race", "after"), "07-07", "07-17", NEAR_WEIGHT),
    ],
)
def test_before_and_after_an_event_is_as_far_as_the_question_says(
    event: Event, start: str, end: str, weight: float
) -> None:
    assert timedelta(days=10) == NEAR
    assert periods(event, told("a", "the race")) == [(start, end, weight)]


@pytest.mark.parametrize("text", ["45 today. they made me a chart", "Mein Geburtstag heute, 52."])
def test_a_birthday_is_told_by_the_age_and_by_the_one_who_has_it(text: str) -> None:
    birthday = Event("my birthday", "on", birthday=True)
    other = told("b", "Happy birthday, Levan", 3, likeness=0.4, speaker="assistant")
    assert periods(birthday, other, told("a", text, speaker="user"))[0] == ("07-07", "07-08", 1.0)


def test_where_nothing_tells_of_an_event_it_has_no_time() -> None:
    assert periods(RACE) == []
    assert periods(RACE, told("a", "the race", node_type="Session")) == []
