"""Spreading activation: the neighbour of a hit becomes relevant too. Pure.

Specification 003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic
processing", 1975.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key, column_of
from orchestration.traversal.paths import NO_STATE, State, columns_needed, traversal_probabilities
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
type Ends = tuple[int, int]
"""The two ends of a link, by the numbers of their identities; −1 for one that is no candidate."""


class SpreadWeights(NamedTuple):
    """In shares of relevance: `gain` over a link of probability 1, `answer` from a turn that asks to the next.

    Without `inferred`, what links took from the memories at their ends counts as absent.
    """

    gain: float
    answer: float
    inferred: bool = True


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
    numbers = [number.setdefault(key[:2], len(number)) for key in memories]
    links = [link for link in candidates.links.values() if link.get("relation_type") != SAYING]
    ends = [
        (number.get((link.graph_key, link.source), -1), number.get((link.graph_key, link.target), -1))
        for link in links
    ]
    # The pairs of linked memories, each once, in order, with the probability of the likeliest
    # link of each. A loop is none.
    probabilities = likelihoods(links, state, inferred=weights.inferred)
    likeliest: dict[Ends, float] = {}
    for (one, other), probability in zip(ends, probabilities, strict=True):
        if one != other and one >= 0 and other >= 0:
            pair = (one, other) if one < other else (other, one)
            if probability >= likeliest.get(pair, 0.0):
                likeliest[pair] = probability
    pairs = sorted(likeliest.items())
    hub_shares = _hub_shares(pairs, len(number))
    gifts = [0.0] * len(number)
    for place, key in zip(numbers, memories, strict=True):
        gifts[place] = max(gifts[place], weights.gain * hub_shares[place] * relevance[key])
    for place in (place for place, memory in zip(numbers, memories.values(), strict=True) if memory.named):
        gifts[place] = NAMED_PULL
    shares = [taken * share for taken, share in zip(_sum_gifts(pairs, gifts), hub_shares, strict=True)]
    received = {key: shares[place] for key, place in zip(memories, numbers, strict=True)}
    if weights.answer:
        kinds = column_of(links, "relation_type")
        following = dict.fromkeys(each for each, kind in zip(ends, kinds, strict=True) if kind == FOLLOWING)
        for key, question_relevance in _answers(following, memories, numbers, relevance):
            received[key] += weights.answer * question_relevance
    return received


def _hub_shares(pairs: Iterable[tuple[Ends, float]], memories: int) -> list[float]:
    """What each memory gives to a neighbour, and takes from one, by number, as a share of what no hub would."""
    degrees = [0] * memories
    for (one, other), _ in pairs:
        degrees[one] += 1
        degrees[other] += 1
    return [HUB_LINKS / degree if degree > HUB_LINKS else 1.0 for degree in degrees]


def _sum_gifts(pairs: Iterable[tuple[Ends, float]], gifts: Sequence[float]) -> list[float]:
    """What each memory is given by all its neighbours, by number."""
    of_first, of_second = [0.0] * len(gifts), [0.0] * len(gifts)
    for (one, other), probability in pairs:
        of_first[one] += gifts[other] * probability
        of_second[other] += gifts[one] * probability
    return [first + second for first, second in zip(of_first, of_second, strict=True)]


def _answers(
    following: Collection[Ends],
    memories: Mapping[Key, Candidate],
    numbers: Sequence[int],
    relevance: Mapping[Key, float],
) -> Iterator[tuple[Key, float]]:
    """Each turn that follows one that asks, with the relevance of that one; of several versions the greatest."""
    if not following:
        return
    versions: defaultdict[int, list[Key]] = defaultdict(list)
    for key, place in zip(memories, numbers, strict=True):
        versions[place].append(key)
    for asking, answering in following:
        if asking >= 0 and answering >= 0 and any(_asks(memories[key]) for key in versions[asking]):
            question_relevance = max(relevance[key] for key in versions[asking])
            for key in versions[answering]:
                yield key, question_relevance


def _asks(memory: Candidate) -> bool:
    found: bool | None = memory.derived.get("asks")
    if found is None:
        # Where a text ends with a question the next turn is its answer.
        found = memory.derived["asks"] = "?" in (memory.get("description") or "")[-60:]
    return found


def likelihoods(links: Sequence[CandidateLink], state: State = NO_STATE, *, inferred: bool = True) -> list[float]:
    """Traversal probability in [0, 1] of each link, as weighed from `state`; kept with it where there is none."""
    if state.goal or state.emotions:
        return _weigh(links, state, inferred=inferred)
    name = "likelihood_as_read" if inferred else "likelihood_as_given"
    known: list[Any] = [link.record.derived.get(name) for link in links]
    if None in known:
        unknown = [link for link, likelihood in zip(links, known, strict=True) if likelihood is None]
        for link, likelihood in zip(unknown, _weigh(unknown, state, inferred=inferred), strict=True):
            link.derived[name] = likelihood
        known = [link.derived[name] for link in links]
    return known


def _weigh(links: Sequence[CandidateLink], state: State, *, inferred: bool) -> list[float]:
    columns = {name: column_of(links, name) for name in columns_needed(state)}
    if not inferred:
        taken = [(unset or "").split(",") for unset in column_of(links, "unset")]
        for name in columns.keys() & _TAKEN.keys():
            known = zip(columns[name], taken, strict=True)
            columns[name] = [_TAKEN[name] if name in names else value for value, names in known]
    if "emotion_vector" in columns:
        columns["emotion_vector"] = [stored and orjson.loads(stored) for stored in columns["emotion_vector"]]
    likelihoods: list[float] = traversal_probabilities(columns, state).tolist()
    return likelihoods
