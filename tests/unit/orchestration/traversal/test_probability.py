"""How likely a link is followed (003, component 5b)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.traversal.paths import (
    CONFIDENCE,
    EMOTION,
    ENERGY,
    GOAL,
    NUMBERS,
    TRANSFER,
    State,
    goal_match,
    traversal_probabilities,
)

units = st.floats(0.0, 1.0)
feelings = st.dictionaries(st.sampled_from(["joy", "fear", "excited", "calm"]), units, max_size=4)


def likely(link: dict[str, Any], goal: str | None = None, emotions: dict[str, float] | None = None) -> float:
    """The probability of a link, its numbers 1 unless given; a link that leads elsewhere stands before it."""
    other = {"energy": "0.2", "confidence": 0.9, "energy_transfer_coefficient": 0.1, "goal": "swim",
             "emotion_vector": {"fear": 0.7, "Afraid": 0.4}}  # fmt: skip
    plain = {**dict.fromkeys(NUMBERS, 1.0), "goal": "", "emotion_vector": None}
    columns = {name: [value, {**plain, **link}[name]] for name, value in other.items()}
    return float(traversal_probabilities(columns, State(goal, emotions))[1])


def test_the_five_weights_are_those_of_003_and_sum_to_one() -> None:
    assert (ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER) == (0.3, 0.2, 0.3, 0.1, 0.1)
    assert sum((ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER)) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("link_goal", "current", "match"),
    [
        ("finish the bridge", "finish the bridge", 1.0),
        ("finish the bridge", "the bridge", 0.7),
        ("bridge", "finish the bridge", 0.7),
        ("finish the bridge", "rest", 0.3),
        ("finish the bridge", None, 0.3),
        ("", "rest", 0.3),
        ("", "", 0.3),
    ],
)
def test_a_link_towards_the_same_goal_pulls_more(link_goal: str, current: str | None, match: float) -> None:
    assert goal_match(link_goal, current) == match


@pytest.mark.parametrize(
    ("columns", "goal", "emotions", "probability"),
    [
        # 0.3 x 1 + 0.2 x 0.3 + 0 + 0.1 x 1 + 0.1 x 1
        ({"energy": "1", "confidence": "1", "energy_transfer_coefficient": "1"}, None, None, 0.56),
        # the same, and the goal 0.2 x 1
        ({"goal": "rest"}, "rest", None, 0.70),
        # 0.3 + 0.2 x 0.7 + 0.3 x 1 + 0.1 + 0.1: feelings alike whatever their names and strength
        ({"goal": "rest", "emotion_vector": {"excited": 0.4}}, "rest well", {"Excitement": 1.0}, 0.94),
        # 0.3 x 0.5 + 0.2 x 0.3 + 0.3 x 0.6 + 0.1 x 0.8 + 0.1 x 0.25
        (
            {
                "energy": "0.5",
                "confidence": "0.8",
                "energy_transfer_coefficient": "0.25",
                "emotion_vector": {"joy": 0.6, "fear": 0.8},
            },
            "rest",
            {"joy": 1.0},
            0.495,
        ),
        # only the goal's least share is left
        ({"energy": "0", "confidence": "0", "energy_transfer_coefficient": "0"}, None, {"joy": 1.0}, 0.06),
        # everything at its greatest
        ({"goal": "rest", "emotion_vector": {"joy": 1.0}}, "rest", {"joy": 1.0}, 1.0),
    ],
)
def test_the_probability_by_hand(
    columns: dict[str, Any], goal: str | None, emotions: dict[str, float] | None, probability: float
) -> None:
    assert likely(columns, goal, emotions) == pytest.approx(probability)


@given(units, units, units, feelings, feelings, st.none() | st.sampled_from(["rest", "work", "rest well"]))
def test_a_probability_lies_between_zero_and_one(
    energy: float,
    confidence: float,
    transfer: float,
    link_feels: dict[str, float],
    now_feels: dict[str, float],
    goal: str | None,
) -> None:
    link = {"energy": energy, "confidence": confidence, "energy_transfer_coefficient": transfer,
            "emotion_vector": link_feels, "goal": "rest"}  # fmt: skip
    assert 0.06 - 1e-9 <= likely(link, goal, now_feels) <= 1.0


@given(units, units)
def test_more_energy_never_makes_a_link_less_likely(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert likely({"energy": low}) <= likely({"energy": high})
