"""The probability that a link is followed (003, component 5b). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from substrate.emotions import cosine_similarities, normal_emotions

type Array = np.ndarray[Any, np.dtype[np.float64]]
type Numbers = float | Array

ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER = 0.3, 0.2, 0.3, 0.1, 0.1
"""The weights of the five factors; their sum is 1."""
SAME_GOAL, PART_OF_GOAL, OTHER_GOAL = 1.0, 0.7, 0.3
"""The match of two goals: the same, one within the other, anything else."""
NUMBERS = ("energy", "confidence", "energy_transfer_coefficient")


@dataclass(frozen=True, slots=True)
class State:
    """The goal and emotions that links are weighed by. 003 also passes the current energy, but does not use it."""

    goal: str | None = None
    emotions: Mapping[str, float] | None = None


NO_STATE: Final = State()


def goal_match(one: str | None, other: str | None) -> float:
    """1.0 for the same goal, 0.7 when one contains the other, else 0.3; 0.3 without a goal (003, component 5b)."""
    if not one or not other:
        return OTHER_GOAL
    if one == other:
        return SAME_GOAL
    return PART_OF_GOAL if one in other or other in one else OTHER_GOAL


def columns_needed(state: State) -> tuple[str, ...]:
    """The columns of links that `traversal_probabilities` reads for this state."""
    return (*NUMBERS, *(("goal",) if state.goal else ()), *(("emotion_vector",) if state.emotions else ()))


def traversal_probabilities(links: Mapping[str, Sequence[Any]], state: State = NO_STATE) -> Array:
    """The probability, in [0, 1], that each link is followed from this state; one rule for spreading and for
    paths.

    0.3 energy + 0.2 goal + 0.3 resonance + 0.1 confidence + 0.1 transfer (003, component 5b), where goal is a
    `goal_match` and resonance the cosine of emotions. `links`: the columns that `columns_needed` names, each with
    one value for each link.
    """
    energy, confidence, transfer = (
        np.fromiter(map(float, links[name]), np.float64, len(links[name])) for name in NUMBERS
    )
    goal: Numbers = OTHER_GOAL
    if state.goal:
        matches = {named: goal_match(named, state.goal) for named in set(links["goal"])}
        goal = np.array([matches[named] for named in links["goal"]], np.float64)
    resonance: Numbers = 0.0
    if state.emotions:
        resonance = cosine_similarities(links["emotion_vector"], normal_emotions(state.emotions))
    weighted = ENERGY * energy + GOAL * goal + EMOTION * resonance + CONFIDENCE * confidence + TRANSFER * transfer
    return np.clip(weighted, 0.0, 1.0)
