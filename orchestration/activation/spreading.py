"""Spreading: the neighbour of a hit comes to mind too. Pure.

003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic processing", 1975.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from orchestration.activation.found import Bond, Key, Memory
from orchestration.traversal.probability import traversal_probability
from schemas.memory import Level

GAIN = 1.5
"""How much of a memory's relevance a link of traversal probability 1 carries to the neighbour."""

NAMED_PULL = 0.35
"""What a memory that the query names gives to each of its neighbours over a link of probability 1."""


CROWDED = 4
"""Links from which a memory counts as a hub: it gives and takes the less the more of them it has beyond."""

type Place = tuple[Level, str]
"""An identity: what links connect, whatever its versions."""


def spread(
    memories: Mapping[Key, Memory], bonds: Iterable[Bond], relevance: Mapping[Key, float]
) -> dict[Key, float]:
    """What each memory receives over the links found: relevance of its neighbours × traversal probability.

    One step; of parallel links the likeliest counts. A named memory gives each neighbour a fixed pull instead
    of its own relevance. Any other hub gives each neighbour less, because it says little about any one of
    them, and takes less from each, because everything leads to it.
    """
    here: defaultdict[Place, list[Key]] = defaultdict(list)
    for key in memories:
        here[key[:2]].append(key)
    weights = _weights(bonds, here)
    degrees = Counter(place for ends in weights for place in ends)
    shares = {place: 1.0 / max(1.0, degree / CROWDED) for place, degree in degrees.items()}
    gifts = {place: _gift(here[place], memories, relevance, shares[place]) for place in degrees}
    received: dict[Key, float] = dict.fromkeys(memories, 0.0)
    for (one, other), weight in weights.items():
        for taker, giver in ((one, other), (other, one)):
            gain = gifts[giver] * weight * shares[taker]
            for key in here[taker]:
                received[key] += gain
    return received


def _weights(bonds: Iterable[Bond], here: Mapping[Place, object]) -> dict[tuple[Place, Place], float]:
    weights: dict[tuple[Place, Place], float] = {}
    for bond in bonds:
        one, other = (bond.level, bond.source), (bond.level, bond.target)
        if one == other or one not in here or other not in here:
            continue
        ends = (other, one) if (other, one) in weights else (one, other)
        weights[ends] = max(traversal_probability(bond), weights.get(ends, 0.0))
    return weights


def _gift(keys: list[Key], memories: Mapping[Key, Memory], relevance: Mapping[Key, float], share: float) -> float:
    if any(memories[key].named for key in keys):
        return NAMED_PULL
    return GAIN * share * max(relevance[key] for key in keys)
