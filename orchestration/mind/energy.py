"""Energy feedback: how the links of a stream change the energy of the citizen (003, component 5c). Pure."""

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
"""Factor on a transfer: resolved work counts little, blocked work much (003, component 5c)."""
MAX_EMOTION: Final = 2.0
"""Greatest factor of emotions on a transfer (003, component 5c)."""
MAX_TRANSFER: Final = 150.0
"""The sum of transfers is divided by this: 50 links × energy 1.0 × 1.5 blocked × 2.0 emotion (003)."""
WEIGHT: Final = 0.3
NEUTRAL: Final = 0.5
"""The potential at which feedback leaves the energy as it is."""


def relationship_transfer(link: ConsciousnessRelationship) -> float:
    """The energy that one link transfers, in [0, 3] (003, component 5c).

    energy × transfer coefficient × multiplier of the resolution state × emotion multiplier. The emotion multiplier
    is the sum of the intensities, at most 2.0; 1.0 for a link without emotions.
    """
    emotions = link.emotion_vector
    amplified = min(sum(emotions.values()), MAX_EMOTION) if emotions else 1.0
    base = link.energy * link.energy_transfer_coefficient
    return base * MULTIPLIERS[link.resolution_state] * amplified


def energy_feedback_potential(links: Iterable[ConsciousnessRelationship]) -> float:
    """The sum of the transfers of the links / 150, in [0, 1]; 0 without links (003, component 5c)."""
    return min(math.fsum(map(relationship_transfer, links)) / MAX_TRANSFER, 1.0)


def energy_shares(links: Iterable[ConsciousnessRelationship]) -> list[EnergyShare]:
    """The transfer of each link: the greatest first, equal ones by link id."""
    shares = [EnergyShare(link_id=link.link_id, transfer=relationship_transfer(link)) for link in links]
    return sorted(shares, key=lambda share: (-share.transfer, share.link_id))


def apply_energy_feedback(current: float, potential: float, weight: float = WEIGHT) -> float:
    """The energy after feedback, in [0, 1]: current + (potential − 0.5) × weight (003, component 5c).

    A potential above 0.5 raises the energy, one below 0.5 lowers it.
    """
    return max(0.0, min(1.0, current + (potential - NEUTRAL) * weight))
