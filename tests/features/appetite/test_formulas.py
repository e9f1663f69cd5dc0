"""How much there is to wake for: every amount lies in [0, 1] and grows with what makes it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.features.appetite import readings as formulas
from orchestration.features.appetite.readings import DAY, HOUR
from schemas.temporal import Period

UNITS = st.floats(0.0, 1.0)
MOMENTS = st.integers(0, 4_000 * DAY)
COUNTS = st.integers(0, 10_000)
EMOTIONS = st.dictionaries(st.sampled_from(("joy", "sadness", "hurt", "anger", "Sad", "fear")), UNITS)


def in_range(amount: float) -> bool:
    return 0.0 <= amount <= 1.0


@given(since=MOMENTS | st.none(), news=COUNTS)
def test_hunger_grows_with_time_and_with_news(since: int | None, news: int) -> None:
    hunger = formulas.hunger(since, news)
    assert in_range(hunger)
    assert formulas.hunger(since, news + 1) >= hunger
    assert formulas.hunger(None if since is None else since + HOUR, news) >= hunger


@pytest.mark.parametrize(
    ("hours", "news", "passes"), [(0, 0, False), (20, 0, False), (21, 0, True), (0, 6, False), (0, 7, True)]
)
def test_hunger_passes_its_threshold_after_21_hours_or_seven_new_memories(
    hours: int, news: int, passes: bool
) -> None:
    assert (formulas.hunger(hours * HOUR, news) > 0.7) is passes
    assert formulas.hunger(None, 0) == 1.0


@given(pulls=st.lists(UNITS, max_size=60), more=UNITS, place=st.integers(0, 59), added=UNITS)
def test_tension_grows_with_every_pull_and_with_every_further_work(
    pulls: list[float], more: float, place: int, added: float
) -> None:
    tension = formulas.tension(pulls)
    assert in_range(tension)
    assert formulas.tension([*pulls, more]) >= tension - 1e-12
    stronger = [min(1.0, pull + added) if at == place else pull for at, pull in enumerate(pulls)]
    assert formulas.tension(stronger) >= tension - 1e-12
    assert tension >= max(pulls, default=0.0) - 1e-12


@pytest.mark.parametrize(
    ("pulls", "tense"),
    [([], False), ([0.5], False), ([0.5, 0.5], True), ([0.61], True), ([1 / 3] * 50, False)],
)
def test_one_strong_blockage_or_two_ordinary_ones_are_tense_and_much_work_is_not(
    pulls: list[float], tense: bool
) -> None:
    assert (formulas.tension(pulls) > 0.6) is tense


@given(energy=UNITS)
def test_what_is_blocked_pulls_most_and_what_is_resolved_least(energy: float) -> None:
    blocked, going, done = (formulas.pull(energy, state) for state in ("blocked", "in_progress", "resolved"))
    assert in_range(blocked)
    assert blocked >= going >= done
    assert blocked == pytest.approx(energy)


@given(emotions=EMOTIONS)
def test_pain_is_the_strongest_painful_emotion(emotions: Mapping[str, float]) -> None:
    name, amount = formulas.pain(emotions)
    assert in_range(amount)
    assert amount == max(
        (felt for word, felt in emotions.items() if word in ("sadness", "hurt", "Sad")), default=0
    )
    assert bool(name) is (amount > 0.0)


@given(low=UNITS, high=UNITS)
def test_a_drive_lacks_more_the_less_it_is_satisfied_and_nothing_from_a_third_on(low: float, high: float) -> None:
    low, high = sorted((low, high))
    assert in_range(formulas.lack(low))
    assert formulas.lack(low) >= formulas.lack(high)
    assert (formulas.lack(0.0), formulas.lack(0.3), formulas.lack(1.0)) == (1.0, 0.0, 0.0)


@given(start=MOMENTS, length=st.integers(0, 7 * DAY), now=MOMENTS, step=st.integers(1, 9 * DAY))
def test_what_is_planned_is_more_due_the_nearer_it_is(start: int, length: int, now: int, step: int) -> None:
    planned = Period(start, start + length)
    due = formulas.nearness(planned, now)
    assert in_range(due)
    if now + step <= start:
        assert formulas.nearness(planned, now + step) >= due
    if now > planned.end:
        assert formulas.nearness(planned, now + step) <= due
    if start <= now <= planned.end:
        assert due == 1.0


@given(count=COUNTS)
def test_changes_and_offers_count_more_the_more_they_are(count: int) -> None:
    for amount in (formulas.touched, formulas.to_judge):
        assert in_range(amount(count))
        assert amount(count + 1) >= amount(count)
    assert (formulas.touched(0), formulas.touched(3), formulas.to_judge(10)) == (0.0, 0.5, 0.5)


@given(due=UNITS, more=UNITS)
def test_pressure_is_one_half_where_nothing_is_due_and_grows_with_what_is(due: float, more: float) -> None:
    assert formulas.pressure(0.0) == 0.5
    assert 0.5 <= formulas.pressure(due) <= 1.0
    assert formulas.pressure(max(due, more)) >= formulas.pressure(due)


@given(emotions=EMOTIONS)
def test_dominant_emotions_are_the_strongest_and_at_most_three(emotions: Mapping[str, float]) -> None:
    dominant = formulas.dominant(emotions)
    assert len(dominant) <= 3
    assert bool(dominant) is any(emotions.values())
    assert formulas.dominant({"joy": 0.8, "Sad": 0.4, "fear": 0.3}) == ("joy", "sadness")
