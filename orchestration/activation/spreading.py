"""Spreading: the neighbour of a hit comes to mind too. Pure.

003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic processing", 1975.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from orchestration.activation.found import Bond, Key, Memory
from orchestration.activation.fusion import FUSION, Fusion
from orchestration.question import is_asking
from orchestration.traversal.probability import traversal_probability
from schemas.memory import Level

NAMED_PULL = 0.35
"""What a memory that the query names gives to each of its neighbours over a link of probability 1."""


SAYING = "SAID_BY"
"""Who said it is known of a turn itself; over that link nothing spreads (`fusion.anchors`)."""
FOLLOWING = "NEXT"

CROWDED = 4
"""Links from which a memory counts as a hub: it gives and takes the less the more of them it has beyond."""

type Place = tuple[Level, str]
"""An identity: what links connect, whatever its versions."""


def spread(
    memories: Mapping[Key, Memory],
    bonds: Iterable[Bond],
    relevance: Mapping[Key, float],
    fusion: Fusion = FUSION,
) -> dict[Key, float]:
    """What each memory receives over the links found: relevance of its neighbours × traversal probability.

    One step; of parallel links the likeliest counts. A named memory gives each neighbour a fixed pull instead
    of its own relevance. Any other hub gives each neighbour less, because it says little about any one of
    them, and takes less from each, because everything leads to it. What follows a turn that asks gets more of
    it: it is likely an answer.
    """
    bonds = [bond for bond in bonds if bond.get("relation_type") != SAYING]
    here: defaultdict[Place, list[Key]] = defaultdict(list)
    for key in memories:
        here[key[:2]].append(key)
    weights = _weights(bonds, here)
    degrees = Counter(place for ends in weights for place in ends)
    shares = {place: 1.0 / max(1.0, degree / CROWDED) for place, degree in degrees.items()}
    gifts = {place: _gift(here[place], memories, relevance, fusion.gain * shares[place]) for place in degrees}
    received: dict[Key, float] = dict.fromkeys(memories, 0.0)
    for (one, other), weight in weights.items():
        for taker, giver in ((one, other), (other, one)):
            gain = gifts[giver] * weight * shares[taker]
            for key in here[taker]:
                received[key] += gain
    for asked, answered in _answers(bonds, here, memories) if fusion.answer else ():
        best = max(relevance[key] for key in here[asked])
        for key in here[answered]:
            received[key] += fusion.answer * best
    return received


def _answers(
    bonds: Iterable[Bond], here: Mapping[Place, list[Key]], memories: Mapping[Key, Memory]
) -> dict[tuple[Place, Place], None]:
    """Pairs of a turn that asks and the one after it, each once, in the order found."""
    pairs: dict[tuple[Place, Place], None] = {}
    for bond in bonds:
        asked, answered = (bond.level, bond.source), (bond.level, bond.target)
        follows = bond.get("relation_type") == FOLLOWING and asked in here and answered in here
        if follows and any(is_asking(memories[key].get("description") or "") for key in here[asked]):
            pairs[asked, answered] = None
    return pairs


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
    return share * max(relevance[key] for key in keys)
