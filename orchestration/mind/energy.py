"""Energy feedback: what the links found give back to the one who remembers (003, component 5c). Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from schemas.memory import ConsciousnessRelationship, ResolutionState
from schemas.stream_parts import EnergyShare

MULTIPLIERS: Final = {
    ResolutionState.RESOLVED: 0.3,
    ResolutionState.IN_PROGRESS: 1.0,
    ResolutionState.BLOCKED: 1.5,
}
"""What is finished informs, what is blocked presses (003, component 5c)."""
GREATEST_EMOTION: Final = 2.0
"""Emotions amplify a transfer at most twofold."""
GREATEST_TRANSFER: Final = 150.0
"""50 links × energy 1.0 × 1.5 blocked × 2.0 emotion: what 003 takes for the most; the sum is divided by it."""
WEIGHT: Final = 0.3
NEUTRAL: Final = 0.5
"""The potential at which feedback leaves the energy as it is."""


def relationship_transfer(link: ConsciousnessRelationship) -> float:
    """What one link transfers, in [0, 3] (003, component 5c).

    energy × transfer coefficient × multiplier of the resolution state × emotion multiplier. The last is the
    sum of the intensities, at most 2.0; it is below 1 for faint emotions. A link without emotions, whether it
    has no map or an empty one, has 1.0.
    """
    emotions = link.emotion_vector
    amplified = min(sum(emotions.values()), GREATEST_EMOTION) if emotions else 1.0
    base = link.energy * link.energy_transfer_coefficient
    return base * MULTIPLIERS[link.resolution_state] * amplified


def energy_feedback_potential(links: Iterable[ConsciousnessRelationship]) -> float:
    """How much the links found might re-activate energy, in [0, 1]; 0 without links (003, component 5c).

    The sum of their transfers / 150, at most 1. The order of the links does not matter.
    """
    return min(math.fsum(map(relationship_transfer, links)) / GREATEST_TRANSFER, 1.0)


def shares(links: Iterable[ConsciousnessRelationship]) -> list[EnergyShare]:
    """What each link adds to the sum before it is normalised, greatest first, equal ones by id."""
    found = [EnergyShare(link_id=link.link_id, transfer=relationship_transfer(link)) for link in links]
    return sorted(found, key=lambda share: (-share.transfer, share.link_id))


def apply_energy_feedback(current: float, potential: float, weight: float = WEIGHT) -> float:
    """The energy after feedback, in [0, 1]: current + (potential − 0.5) × weight (003, component 5c).

    A potential above one half wakes, one below it calms.
    """
    return max(0.0, min(1.0, current + (potential - NEUTRAL) * weight))
