"""How well a memory fits the time that a question names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from orchestration.question.time_expressions import NamedPeriod
from orchestration.ranking.times import (
    AFTERWARDS,
    REMARKED,
    TOLD,
    is_of_time,
    period_fits,
    seeking_fits,
    sharpness,
)
from schemas.temporal import Period, to_instant
from tests.builders import a_memory

FRIDAY = datetime(2023, 7, 7, tzinfo=UTC)
DAY = Period(to_instant(FRIDAY), to_instant(FRIDAY + timedelta(days=1)))


def memory(name: str, days: float, text: str = "x", **fields: Any) -> Any:
    return a_memory(name, valid_at=to_instant(FRIDAY + timedelta(days=days)), description=text, **fields)


def fits(*memories: Any, period: Period = DAY, alone: bool = False, plans: bool = False) -> dict[str, float]:
    found = period_fits({each.key: each for each in memories}, [NamedPeriod(period)], alone=alone, plans=plans)
    return {key[1]: fit for key, fit in found.items()}


def test_what_was_said_in_the_period_fits_and_later_words_fit_less_and_less() -> None:
    found = fits(
        memory("then", 0.5), memory("next", 1.5), memory("later", 5), memory("before", -1), memory("old", 30)
    )
    assert list(found) == ["then", "next", "later"]
    assert 1.0 == found["then"] > AFTERWARDS > found["next"] > found["later"] > 0.0


def test_what_was_said_later_and_names_the_day_fits_nearly_as_well() -> None:
    found = fits(memory("told", 3, "hail on friday"), memory("other", 3, "hail on saturday"))
    assert found["told"] == TOLD
    assert found["other"] < AFTERWARDS


def test_a_long_period_counts_less_unless_the_question_is_of_the_time_alone() -> None:
    year = Period(DAY.start, to_instant(FRIDAY + timedelta(days=365)))
    assert fits(memory("then", 1), period=year) == {"then": sharpness(year)}
    assert fits(memory("then", 1), period=year, alone=True) == {"then": 1.0}


def test_a_session_says_nothing_of_its_own() -> None:
    assert fits(memory("then", 0.5, node_type="Session")) == {}


@pytest.mark.parametrize(("seeking", "first"), [("latest", "new"), ("earliest", "old")])
def test_of_those_about_it_the_latest_or_earliest_fits_best(seeking: Any, first: str) -> None:
    memories = {each.key: each for each in (memory("old", 0), memory("new", 9), memory("newer elsewhere", 20))}
    base = dict(zip(memories, (0.9, 1.0, 0.1), strict=True))
    found = seeking_fits(memories, base, seeking)
    assert {key[1]: fit for key, fit in found.items()} == {first: 1.0, {"new": "old", "old": "new"}[first]: 0.5}
    assert seeking_fits(memories, base, None) == {}


def test_where_plans_are_asked_for_what_was_planned_fits_and_what_was_said_fits_less() -> None:
    said = (
        memory("plan", -14, "the dentist in two weeks", speaker="user"),
        memory("dated", -3, "the dentist is on 7 July", speaker="user"),
        memory("other", -14, "the dentist in three weeks", speaker="user"),
        memory("remark", 0.5, "what a fine day", speaker="user"),
    )
    assert fits(*said, memory("event", 0.5), plans=True) == {"plan": 1, "dated": 1, "remark": REMARKED, "event": 1}
    assert fits(*said) == {"remark": 1.0}


def test_what_was_only_said_soon_after_is_not_of_that_time() -> None:
    texts = {"then": 0.5, "after": 1.1, "before": -1}
    assert [name for name, days in texts.items() if is_of_time(memory(name, days), [NamedPeriod(DAY, 0.5)])] == [
        "then"
    ]
    assert is_of_time(memory("told", 2, "hail on friday"), [NamedPeriod(DAY)])
    assert is_of_time(memory("plan", -1, "hail tomorrow"), [NamedPeriod(DAY)])
