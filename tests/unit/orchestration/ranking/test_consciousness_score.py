"""The formula of 003 and its tiers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.consciousness_score import (
    BACKGROUND,
    FOCUS,
    PERIPHERAL,
    Score,
    consciousness_scores,
    in_rank_order,
    priority,
    tiers,
)
from tests.builders import a_memory, key


@pytest.mark.parametrize(("energy", "pressure", "expected"), [(0.5, 0.5, 0.5), (1.0, 0.0, 0.4), (0.0, 1.0, 0.6)])
def test_reality_pressure_counts_more_than_energy(energy: float, pressure: float, expected: float) -> None:
    assert priority(energy, pressure) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("columns", "activation", "emotions", "total"),
    [
        # 0.7 + 0.4 x (0.4 x 0.5 + 0.6 x 0.5) + 0.2 x 0.5 + 0 - 0.1 x (1 - 2/13)
        ({}, 0.7, {}, 0.9153846),
        # 0.2 + 0.4 x (0.4 x 1 + 0.3) + 0.2 x 1 + 0.5 x 1 - 0.1 x (1 - 3/13)
        (
            {"energy": "1", "confidence": "1", "emotion_vector": '{"excited": 0.7}'},
            0.2,
            {"excitement": 1.0},
            1.1030769,
        ),
        # 0 + 0.4 x (0 + 0.3) + 0 + 0.5 x 0.6 - 0.1 x (1 - 7/13)
        (
            {
                "energy": "0",
                "confidence": "0",
                "emotion_vector": '{"joy": 0.6, "fear": 0.8}',
                "goal": "rest",
                "resolution_state": "resolved",
                "felt_quality": "soft",
                "body_sensation": "warm",
            },
            0.0,
            {"joy": 1.0},
            0.3738462,
        ),
        # A feeling that the question does not share: 1 + 0.4 x 0.5 + 0.1 + 0 - 0.1 x (1 - 3/13)
        ({"emotion_vector": '{"fear": 1.0}'}, 1.0, {"joy": 1.0}, 1.2230769),
    ],
)
def test_the_consciousness_score_by_hand(
    columns: dict[str, Any], activation: float, emotions: dict[str, float], total: float
) -> None:
    (score,) = consciousness_scores([a_memory("a", **columns)], [activation], emotions)
    assert score.total == pytest.approx(total, abs=1e-6)
    assert score.terms["relevance"] == activation


def scores(*activations: float) -> list[Score]:
    return [
        Score(key(f"{place:03}"), activation, activation, {"relevance": activation})
        for place, activation in enumerate(activations)
    ]


@pytest.mark.parametrize(
    ("found", "sizes"),
    [
        (0, (0, 0, 0)),
        (3, (3, 0, 0)),
        (5, (5, 0, 0)),
        (6, (5, 1, 0)),
        (25, (5, 20, 0)),
        (75, (5, 20, 50)),
        (90, (5, 20, 50)),
    ],
)
def test_tiers_hold_five_twenty_and_fifty(found: int, sizes: tuple[int, int, int]) -> None:
    assert (FOCUS, PERIPHERAL, BACKGROUND) == (5, 20, 50)
    order = scores(*[0.9] * found)
    focus, peripheral, background = tiers(order)
    assert (len(focus), len(peripheral), len(background)) == sizes
    assert focus + peripheral + background == order[: sum(sizes)]


@pytest.mark.parametrize(
    ("activations", "focused"),
    [
        ((0.8, 0.5, 0.4, 0.39, 0.8), 3),
        ((0.8, 0.1, 0.8), 1),
        ((0.3, 0.9), 0),
        ((0.0, 0.0, 0.0), 0),
        ((0.2, 0.1), 2),
    ],
)
def test_only_memories_that_stand_out_are_in_focus(activations: Sequence[float], focused: int) -> None:
    focus, peripheral, _ = tiers(scores(*activations))
    assert len(focus) == focused
    assert len(peripheral) == len(activations) - focused


def test_a_memory_without_text_takes_no_place_in_focus() -> None:
    order = scores(0.9, 0.8, 0.7, 0.6)
    focus, peripheral, _ = tiers(order, {order[0].key, order[2].key})
    assert (focus, peripheral) == ([order[1], order[3]], [order[0], order[2]])


@given(st.permutations(range(8)))
def test_the_order_does_not_depend_on_the_order_of_finding(places: list[int]) -> None:
    by_score = scores(0.5, 0.5, 0.9, 0.1, 0.5, 0.9, 0.0, 0.5)
    expected = [2, 5, 0, 1, 4, 7, 3, 6]
    assert in_rank_order([by_score[place] for place in places]) == [by_score[place] for place in expected]
