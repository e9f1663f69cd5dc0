"""Spreading: the neighbour of a hit comes to mind too. Pure.

003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic processing", 1975.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson

from orchestration.question.reading import is_asking
from orchestration.ranking.candidates import Candidate, CandidateLink, Key, column_of
from orchestration.ranking.channels import FUSION, Fusion
from orchestration.traversal.probability import (
    NO_STATE,
    Array,
    State,
    columns_needed,
    traversal_probabilities,
)
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
type Places = np.ndarray[Any, np.dtype[np.intp]]


def spread(
    memories: Mapping[Key, Candidate],
    bonds: Iterable[CandidateLink],
    relevance: Mapping[Key, float],
    fusion: Fusion = FUSION,
    state: State = NO_STATE,
) -> dict[Key, float]:
    """What each memory receives over the links found: relevance of its neighbours × traversal probability.

    `state`: goal and emotions of the one who asks, from where the links are weighed.

    One step; of parallel links the likeliest counts. A named memory gives each neighbour a fixed pull instead
    of its own relevance. Any other hub gives each neighbour less, because it says little about any one of
    them, and takes less from each, because everything leads to it. What follows a turn that asks gets more of
    it: it is likely an answer.
    """
    kinds = [(bond, bond.get("relation_type")) for bond in bonds]
    number: dict[Place, int] = {}
    at = np.array([number.setdefault(key[:2], len(number)) for key in memories], np.intp)
    one, other, weight = _strongest([bond for bond, kind in kinds if kind != SAYING], number, state)
    degrees = np.bincount(np.concatenate((one, other)), minlength=len(number))
    shares = 1.0 / np.maximum(1.0, degrees / CROWDED)
    greatest = np.zeros(len(number))
    np.maximum.at(greatest, at, [relevance[key] for key in memories])
    named = np.zeros(len(number), bool)
    np.logical_or.at(named, at, [memory.named for memory in memories.values()])
    gifts = np.where(named, NAMED_PULL, fusion.gain * shares * greatest)
    taken = np.bincount(one, gifts[other] * weight, len(number))
    taken += np.bincount(other, gifts[one] * weight, len(number))
    received = dict(zip(memories, (taken * shares)[at].tolist(), strict=True))
    following = [bond for bond, kind in kinds if kind == FOLLOWING] if fusion.answer else ()
    here = _by_place(memories) if following else {}
    for asked, answered in _answers(following, here, memories):
        best = max(relevance[key] for key in here[asked])
        for key in here[answered]:
            received[key] += fusion.answer * best
    return received


def _by_place(memories: Iterable[Key]) -> dict[Place, list[Key]]:
    here: defaultdict[Place, list[Key]] = defaultdict(list)
    for key in memories:
        here[key[:2]].append(key)
    return here


def _answers(
    bonds: Iterable[CandidateLink], here: Mapping[Place, list[Key]], memories: Mapping[Key, Candidate]
) -> dict[tuple[Place, Place], None]:
    """Pairs of a turn that asks and the one after it, each once, in the order found; `bonds` are `NEXT`."""
    pairs: dict[tuple[Place, Place], None] = {}
    for bond in bonds:
        asked, answered = (bond.level, bond.source), (bond.level, bond.target)
        both = asked in here and answered in here
        if both and any(is_asking(memories[key].get("description") or "") for key in here[asked]):
            pairs[asked, answered] = None
    return pairs


def likelihoods(bonds: Sequence[CandidateLink], state: State = NO_STATE) -> Array:
    """Traversal probability in [0, 1] of each link from this state."""
    columns = {name: column_of(bonds, name) for name in columns_needed(state)}
    if "emotion_vector" in columns:
        columns["emotion_vector"] = [felt and orjson.loads(felt) for felt in columns["emotion_vector"]]
    return traversal_probabilities(columns, state)


def _strongest(
    bonds: Sequence[CandidateLink], number: Mapping[Place, int], state: State
) -> tuple[Places, Places, Array]:
    """The pairs of memories that are linked, each once, by their numbers, and the likeliest link of each."""
    one = _ends([(bond.level, bond.source) for bond in bonds], number)
    other = _ends([(bond.level, bond.target) for bond in bonds], number)
    likely = likelihoods(bonds, state)
    between = (one != other) & (one >= 0) & (other >= 0)
    low, high = np.minimum(one, other)[between], np.maximum(one, other)[between]
    pairs, place = np.unique(low * len(number) + high, return_inverse=True)
    weight = np.zeros(len(pairs))
    np.maximum.at(weight, place, likely[between])
    return (*np.divmod(pairs, len(number)), weight)


def _ends(places: Sequence[Place], number: Mapping[Place, int]) -> Places:
    return np.array([number.get(place, -1) for place in places], np.intp)
