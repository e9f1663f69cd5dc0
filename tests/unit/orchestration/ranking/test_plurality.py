"""Plurality: the curve of recency, spreading over weeks, and numbers that follow from the request (004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking import consciousness_score
from orchestration.ranking.activation import Activation, with_plurality
from orchestration.ranking.candidates import Candidate, Key
from orchestration.ranking.consciousness_score import DAY, Score, recency, seeded_numbers, spread_over_weeks, week
from schemas.intention import Plurality
from schemas.memory import Level
from substrate.connection.kept import Record
from substrate.cypher.fragments import NODE_COLUMNS
from substrate.store.rows import NODE_PLACE

NOW = 20_000 * DAY


def memory(name: str, valid_at: int, importance: float | None = None) -> Candidate:
    row: list[object] = [None] * len(NODE_COLUMNS)
    row[NODE_PLACE["valid_at"]] = valid_at
    row[NODE_PLACE["importance"]] = importance
    return Candidate((Level.N1, name, 1), Record(row))


def score(key: Key, activation: float) -> Score:
    return Score(key, activation, activation, {"relevance": activation})


@pytest.mark.parametrize(("days", "weight"), [(0, 1.0), (30, 0.5), (60, 1 / 3), (90, 0.25), (-3, 1.0)])
def test_recency_halves_after_thirty_days(days: float, weight: float) -> None:
    assert recency(days) == pytest.approx(weight)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0.01, 1e4))
def test_an_older_memory_never_counts_more(one: float, other: float, half_life: float) -> None:
    young, old = sorted((one, other))
    assert 0.0 < recency(old, half_life) <= recency(young, half_life) <= 1.0


@given(st.text(max_size=20))
def test_the_numbers_drawn_follow_from_the_seed_alone(seed: str) -> None:
    drawn = seeded_numbers(seed, 50)
    assert drawn == seeded_numbers(seed, 50)
    assert all(0.0 <= number < 1.0 for number in drawn)
    assert drawn != seeded_numbers(seed + "x", 50)


ORDERS = st.lists(st.tuples(st.integers(0, 12), st.floats(0.0, 1.0)), max_size=90)


def world(drawn: Sequence[tuple[int, float]]) -> tuple[list[Score], dict[Key, Candidate]]:
    found = {}
    for place, (weeks, _) in enumerate(drawn):
        known = memory(f"m{place}", NOW - weeks * 7 * DAY)
        found[known.key] = known
    scores = [score(key, activation) for key, (_, activation) in zip(found, drawn, strict=True)]
    return consciousness_score.in_rank_order(scores), found


@given(ORDERS, st.integers(1, 3))
def test_spreading_loses_and_adds_nothing(drawn: list[tuple[int, float]], per_week: int) -> None:
    order, found = world(drawn)
    assert sorted(s.key for s in spread_over_weeks(order, found, Plurality(per_week=per_week))) == sorted(found)


@given(ORDERS, st.integers(1, 3))
def test_a_tier_holds_more_of_one_week_only_when_no_other_week_is_left(
    drawn: list[tuple[int, float]], per_week: int
) -> None:
    order, found = world(drawn)
    tiers = consciousness_score.tiers(spread_over_weeks(order, found, Plurality(per_week=per_week)))
    taken: set[Key] = set()
    greatest = max((s.activation for s in order), default=0.0)
    for place, tier in enumerate(tiers):
        open_to = [
            s.key
            for s in order
            if s.key not in taken and (place > 0 or consciousness_score.stands_out(s, greatest))
        ]
        held = Counter(week(found[s.key].get("valid_at")) for s in tier)
        there = Counter(week(found[key].get("valid_at")) for key in open_to)
        if any(count > per_week for count in held.values()):
            assert all(held[one] >= min(count, per_week) for one, count in there.items())
        taken.update(s.key for s in tier)


def test_a_low_importance_counts_as_the_floor() -> None:
    found = {m.key: m for m in (memory("quiet", NOW, 0.1), memory("loud", NOW, 0.9), memory("unsaid", NOW))}
    flat = Activation(tuple(score(key, 0.5) for key in found), {})
    seen = with_plurality(flat, found, Plurality(importance_floor=0.4), NOW)
    terms = {s.key[1]: s.terms["plurality"] for s in seen.order}
    assert terms == pytest.approx({"quiet": 0.08, "unsaid": 0.08, "loud": 0.18})


def test_importance_pales_with_the_half_life() -> None:
    old = memory("old", NOW - 30 * DAY, 1.0)
    seen = with_plurality(Activation((score(old.key, 0.5),), {}), {old.key: old}, Plurality(), NOW)
    assert seen.order[0].total == pytest.approx(0.5 + 0.2 * 0.5)
