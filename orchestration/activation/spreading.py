"""Spreading: the neighbour of a hit comes to mind too. Pure.

003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic processing", 1975.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from orchestration.activation.found import Bond, Key, Memory
from orchestration.traversal.probability import traversal_probability
from schemas.memory import Level

GAIN = 1.5
"""How much of a memory's relevance a link of traversal probability 1 carries to the neighbour."""

NAMED_PULL = 0.35
"""What a memory that the query names gives to each of its neighbours over a link of probability 1."""


def spread(
    memories: Mapping[Key, Memory], bonds: Iterable[Bond], relevance: Mapping[Key, float]
) -> dict[Key, float]:
    """What each memory receives over the links found: relevance of its neighbours × traversal probability.

    One step. A named memory gives a fixed pull instead of its own relevance, and a memory with many
    neighbours gives each of them less: a hub says little about any one of them.
    """
    here: defaultdict[tuple[Level, str], list[Key]] = defaultdict(list)
    for key in memories:
        here[key[0], key[1]].append(key)
    neighbours: defaultdict[tuple[Level, str], dict[tuple[Level, str], float]] = defaultdict(dict)
    for bond in bonds:
        ends = (bond.level, bond.source), (bond.level, bond.target)
        if ends[0] == ends[1] or ends[0] not in here or ends[1] not in here:
            continue
        weight = traversal_probability(bond)
        for one, other in (ends, ends[::-1]):
            neighbours[one][other] = max(weight, neighbours[one].get(other, 0.0))
    received: dict[Key, float] = dict.fromkeys(memories, 0.0)
    for giver, takers in neighbours.items():
        gift = _gift(here[giver], memories, relevance, len(takers))
        for taker, weight in takers.items():
            for key in here[taker]:
                received[key] += gift * weight
    return received


def _gift(keys: list[Key], memories: Mapping[Key, Memory], relevance: Mapping[Key, float], degree: int) -> float:
    if any(memories[key].named for key in keys):
        return NAMED_PULL
    own = max(relevance[key] for key in keys)
    return GAIN * own / max(1.0, degree / 4.0)
