"""Spreading activation: the neighbour of a hit becomes relevant too. Pure.

Specification 003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic
processing", 1975.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import orjson

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key, column_of
from orchestration.traversal.probability import (
    NO_STATE,
    Array,
    State,
    columns_needed,
    traversal_probabilities,
)
from schemas.memory import STORED_DEFAULTS, GraphKey

NAMED_PULL: Final = 0.35
"""What a memory that the question names gives to each neighbour over a link of probability 1."""
SAYING: Final = "SAID_BY"
"""From a turn to its speaker. Nothing spreads over it: a turn's speaker is a channel of its own."""
FOLLOWING: Final = "NEXT"
"""From a turn to the next one."""
HUB_LINKS: Final = 4
"""A memory with more links than this is a hub: it gives and takes 4 / links of what another would."""

_TAKEN: Final[Mapping[str, float | None]] = {"energy": STORED_DEFAULTS["energy"], "emotion_vector": None}
"""What a link takes from its ends, and the values that it would have without."""

type Identity = tuple[GraphKey, str]
"""What links connect: a memory, whatever its versions."""
type Places = np.ndarray[Any, np.dtype[np.intp]]


class SpreadWeights(NamedTuple):
    """In shares of relevance: `gain` over a link of probability 1, `answer` from a turn that asks to the next.

    Without `inferred`, what links took from the memories at their ends counts as absent.
    """

    gain: float
    answer: float
    inferred: bool = True


class _Neighbours(NamedTuple):
    """The pairs of linked memories, each once, by number; and the probability of the likeliest link of each."""

    one: Places
    other: Places
    probability: Array


def spread(
    candidates: Candidates, relevance: Mapping[Key, float], weights: SpreadWeights, state: State = NO_STATE
) -> dict[Key, float]:
    """The relevance that each candidate receives from its neighbours: one step over the links, at least 0.

    A memory gives each neighbour `gain` × its relevance × the traversal probability of the likeliest link between
    the two, as weighed from `state`. A hub gives less to each, because it says little about any one of them, and
    takes less from each, because everything leads to it. A memory that the question names gives `NAMED_PULL`
    instead of its relevance, however many links it has. The turn after one that asks is likely its answer: it
    receives `answer` × the relevance of that turn as well.
    """
    memories = candidates.memories
    number: dict[Identity, int] = {}
    numbers = np.array([number.setdefault(key[:2], len(number)) for key in memories], np.intp)
    links = list(candidates.links.values())
    kinds = list(zip(links, column_of(links, "relation_type"), strict=True))
    spoken = [link for link, kind in kinds if kind != SAYING]
    neighbours = _neighbours(spoken, number, likelihoods(spoken, state, inferred=weights.inferred))
    degrees = np.bincount(np.concatenate((neighbours.one, neighbours.other)), minlength=len(number))
    hub_shares = 1.0 / np.maximum(1.0, degrees / HUB_LINKS)
    greatest = np.zeros(len(number))
    np.maximum.at(greatest, numbers, [relevance[key] for key in memories])
    named = np.zeros(len(number), bool)
    np.logical_or.at(named, numbers, [memory.named for memory in memories.values()])
    gifts = np.where(named, NAMED_PULL, weights.gain * hub_shares * greatest)
    shares = (_taken(neighbours, gifts) * hub_shares)[numbers]
    received = dict(zip(memories, shares.tolist(), strict=True))
    if weights.answer:
        following = [link for link, kind in kinds if kind == FOLLOWING]
        for key, question_relevance in _answers(following, memories, relevance):
            received[key] += weights.answer * question_relevance
    return received


def _taken(neighbours: _Neighbours, gifts: Array) -> Array:
    """What each memory is given by all its neighbours, by number."""
    one, other, probability = neighbours
    taken = np.bincount(one, gifts[other] * probability, len(gifts))
    taken += np.bincount(other, gifts[one] * probability, len(gifts))
    return taken


def _answers(
    links: Sequence[CandidateLink], memories: Mapping[Key, Candidate], relevance: Mapping[Key, float]
) -> Iterator[tuple[Key, float]]:
    """Each turn that follows one that asks, with the relevance of that one; of several versions the greatest."""
    if not links:
        return
    versions: defaultdict[Identity, list[Key]] = defaultdict(list)
    for key in memories:
        versions[key[:2]].append(key)
    pairs = dict.fromkeys(((link.graph_key, link.source), (link.graph_key, link.target)) for link in links)
    for asking, answering in pairs:
        if asking in versions and answering in versions and _is_asking(versions[asking], memories):
            question_relevance = max(relevance[key] for key in versions[asking])
            yield from ((key, question_relevance) for key in versions[answering])


def _is_asking(keys: Iterable[Key], memories: Mapping[Key, Candidate]) -> bool:
    return any(_asks(memories[key]) for key in keys)


def _asks(memory: Candidate) -> bool:
    found: bool | None = memory.derived.get("asks")
    if found is None:
        found = memory.derived["asks"] = is_asking(memory.get("description") or "")
    return found


def is_asking(text: str) -> bool:
    """Whether a text ends with a question, so that the next turn is its answer."""
    return "?" in text[-60:]


def likelihoods(links: Sequence[CandidateLink], state: State = NO_STATE, *, inferred: bool = True) -> Array:
    """Traversal probability in [0, 1] of each link, as weighed from `state`; kept with it where there is none."""
    if state.goal or state.emotions:
        return _weigh(links, state, inferred=inferred)
    name = "likelihood_as_read" if inferred else "likelihood_as_given"
    unknown = [link for link in links if name not in link.derived]
    for link, likelihood in zip(unknown, _weigh(unknown, state, inferred=inferred).tolist(), strict=True):
        link.derived[name] = likelihood
    return np.array([link.derived[name] for link in links], np.float64)


def _weigh(links: Sequence[CandidateLink], state: State, *, inferred: bool) -> Array:
    columns = {name: column_of(links, name) for name in columns_needed(state)}
    if not inferred:
        taken = [(unset or "").split(",") for unset in column_of(links, "unset")]
        for name in columns.keys() & _TAKEN.keys():
            known = zip(columns[name], taken, strict=True)
            columns[name] = [_TAKEN[name] if name in names else value for value, names in known]
    if "emotion_vector" in columns:
        columns["emotion_vector"] = [stored and orjson.loads(stored) for stored in columns["emotion_vector"]]
    return traversal_probabilities(columns, state)


def _neighbours(
    links: Sequence[CandidateLink], number: Mapping[Identity, int], probabilities: Array
) -> _Neighbours:
    """The pairs among the numbered memories; a loop is none."""
    one = _numbers([(link.graph_key, link.source) for link in links], number)
    other = _numbers([(link.graph_key, link.target) for link in links], number)
    between = (one != other) & (one >= 0) & (other >= 0)
    low, high = np.minimum(one, other)[between], np.maximum(one, other)[between]
    pairs, place = np.unique(low * len(number) + high, return_inverse=True)
    likeliest = np.zeros(len(pairs))
    np.maximum.at(likeliest, place, probabilities[between])
    return _Neighbours(*np.divmod(pairs, len(number)), likeliest)


def _numbers(identities: Sequence[Identity], number: Mapping[Identity, int]) -> Places:
    return np.array([number.get(identity, -1) for identity in identities], np.intp)
