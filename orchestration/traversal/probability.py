"""How likely a link is followed (003, component 5b). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from substrate.emotions import cosine_similarities, normal_emotions

type Array = np.ndarray[Any, np.dtype[np.float64]]
type Numbers = float | Array

ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER = 0.3, 0.2, 0.3, 0.1, 0.1
"""The weights of the five factors; they sum to 1."""
NUMBERS = ("energy", "confidence", "energy_transfer_coefficient")


@dataclass(frozen=True, slots=True)
class State:
    """From where links are weighed. 003's formula takes the current energy too, and makes no use of it."""

    goal: str | None = None
    emotions: Mapping[str, float] | None = None


NO_STATE: Final = State()


def goal_match(link_goal: str, current_goal: str | None) -> float:
    """1.0 for the same goal, 0.7 when one contains the other, else 0.3."""
    if not current_goal or not link_goal:
        return 0.3
    if link_goal == current_goal:
        return 1.0
    return 0.7 if link_goal in current_goal or current_goal in link_goal else 0.3


def probability(energy: Numbers, goal: Numbers, felt: Numbers, confidence: Numbers, transfer: Numbers) -> Array:
    """0.3 energy + 0.2 goal match + 0.3 resonance + 0.1 confidence + 0.1 transfer, in [0, 1] (003, 5b).

    Each is a number in [0, 1], or one a link: `goal` is the match of goals, `felt` the cosine of emotions.
    """
    summed = ENERGY * energy + GOAL * goal + EMOTION * felt + CONFIDENCE * confidence + TRANSFER * transfer
    return np.clip(summed, 0.0, 1.0)


def columns_needed(state: State) -> tuple[str, ...]:
    """The columns of links that a weighing from this state reads."""
    return (*NUMBERS, *(("goal",) if state.goal else ()), *(("emotion_vector",) if state.emotions else ()))


def traversal_probabilities(links: Mapping[str, Sequence[Any]], state: State = NO_STATE) -> Array:
    """Probability in [0, 1] that each link is followed from this state, for spreading and for paths alike.

    `links` are columns, those that are needed from here: see `columns_needed`.
    """
    goal, emotions = state.goal, state.emotions
    energy, confidence, transfer = (
        np.fromiter(map(float, links[name]), np.float64, len(links[name])) for name in NUMBERS
    )
    match: Numbers = goal_match("", None)
    if goal:
        matches = {named: goal_match(named or "", goal) for named in set(links["goal"])}
        match = np.array([matches[named] for named in links["goal"]], np.float64)
    felt = cosine_similarities(links["emotion_vector"], normal_emotions(emotions)) if emotions else 0.0
    return probability(energy, match, felt, confidence, transfer)
