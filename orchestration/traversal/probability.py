"""How likely a link is followed (003, component 5b). Pure."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from orchestration.activation.found import LINK_START, Bond
from substrate.emotions import cosine_similarity, normal_emotions
from substrate.rows import LINK_PLACE

ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER = 0.3, 0.2, 0.3, 0.1, 0.1
"""The weights of the five factors; they sum to 1."""


def goal_match(link_goal: str, current_goal: str | None) -> float:
    """1.0 for the same goal, 0.7 when one contains the other, else 0.3."""
    if not current_goal or not link_goal:
        return 0.3
    if link_goal == current_goal:
        return 1.0
    return 0.7 if link_goal in current_goal or current_goal in link_goal else 0.3


def probability(energy: float, goal: float, resonance: float, confidence: float, transfer: float) -> float:
    """0.3 energy + 0.2 goal match + 0.3 resonance + 0.1 confidence + 0.1 transfer, in [0, 1] (003, 5b).

    All five are numbers in [0, 1]: `goal` is the match of goals, `resonance` the cosine of emotions.
    """
    summed = ENERGY * energy + GOAL * goal + EMOTION * resonance + CONFIDENCE * confidence + TRANSFER * transfer
    return min(1.0, max(0.0, summed))


def resonance(felt: Mapping[str, float] | None, emotions: Mapping[str, float]) -> float:
    """Cosine in [0, 1] of a link's emotions, named as they come, and `emotions` in normal form."""
    return cosine_similarity(normal_emotions(felt), emotions) if felt and emotions else 0.0


_FELT = tuple(
    LINK_START + LINK_PLACE[column] for column in ("energy", "confidence", "energy_transfer_coefficient")
)
_OTHER_GOAL = GOAL * 0.3


def traversal_probability(
    bond: Bond, goal: str | None = None, emotions: Mapping[str, float] | None = None
) -> float:
    """Probability in [0, 1] that the link is followed from a state with this goal and these emotions."""
    if not goal and not emotions:
        energy, confidence, transfer = (float(bond.row[place]) for place in _FELT)
        return ENERGY * energy + _OTHER_GOAL + CONFIDENCE * confidence + TRANSFER * transfer
    felt = bond.get("emotion_vector") if emotions else None
    return probability(
        float(bond.get("energy")),
        goal_match(bond.get("goal") or "", goal),
        resonance(orjson.loads(felt), normal_emotions(emotions or {})) if felt else 0.0,
        float(bond.get("confidence")),
        float(bond.get("energy_transfer_coefficient")),
    )
