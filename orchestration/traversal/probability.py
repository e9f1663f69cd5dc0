"""How likely a link is followed (003, component 5b). Pure."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from orchestration.activation.found import Bond
from substrate.emotions import cosine_similarity, normal_emotions

ENERGY, GOAL, EMOTION, CONFIDENCE, TRANSFER = 0.3, 0.2, 0.3, 0.1, 0.1
"""The weights of the five factors; they sum to 1."""


def goal_match(link_goal: str, current_goal: str | None) -> float:
    """1.0 for the same goal, 0.7 when one contains the other, else 0.3."""
    if not current_goal or not link_goal:
        return 0.3
    if link_goal == current_goal:
        return 1.0
    return 0.7 if link_goal in current_goal or current_goal in link_goal else 0.3


def traversal_probability(
    bond: Bond, goal: str | None = None, emotions: Mapping[str, float] | None = None
) -> float:
    """Probability in [0, 1] that the link is followed from a state with this goal and these emotions."""
    felt = bond.get("emotion_vector")
    resonance = (
        cosine_similarity(normal_emotions(orjson.loads(felt)), normal_emotions(emotions))
        if felt and emotions
        else 0.0
    )
    probability = (
        ENERGY * float(bond.get("energy"))
        + GOAL * goal_match(bond.get("goal") or "", goal)
        + EMOTION * resonance
        + CONFIDENCE * float(bond.get("confidence"))
        + TRANSFER * float(bond.get("energy_transfer_coefficient"))
    )
    return min(1.0, max(0.0, probability))
