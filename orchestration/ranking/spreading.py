"""Spreading activation: the neighbour of a hit becomes relevant too. Pure.

Specification 003, future enhancement 4; Collins and Loftus, "A spreading-activation theory of semantic
processing", 1975.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson

from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, column_of
from orchestration.traversal.paths import NO_STATE, State, columns_needed, traversal_probabilities
from schemas.memory import STORED_DEFAULTS, GraphKey
from substrate.store.rows import LINK_PLACE

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

_RELATION: Final = LINK_PLACE["relation_type"]

type Identity = tuple[GraphKey, str]
"""What links connect: a memory, whatever its versions."""
type Ends = tuple[int, int]
"""The two ends of a link, by the numbers of their identities."""


class SpreadWeights(NamedTuple):
    """In shares of relevance: `gain` over a link of probability 1, `answer` from a turn that asks to the next.

    Without `inferred`, what links took from the memories at their ends counts as absent.
    """

    gain: float
    answer: float
    inferred: bool = True


def spread(
    candidates: Candidates, relevance: Sequence[float], weights: SpreadWeights, state: State = NO_STATE
) -> list[float]:
    """The relevance that each candidate receives from its neighbours: one step over the links, at least 0.

    `relevance`: that of each candidate, in their order, as is what is received.

    A memory gives each neighbour `gain` × its relevance × the traversal probability of the likeliest link between
    the two, as weighed from `state`. A hub gives less to each, because it says little about any one of them, and
    takes less from each, because everything leads to it. A memory that the question names gives `NAMED_PULL`
    instead of its relevance, however many links it has. The turn after one that asks is likely its answer: it
    receives `answer` × the relevance of that turn as well.
    """
    number: dict[Identity, int] = {}
    numbers = [number.setdefault(key[:2], len(number)) for key in candidates.memories]
    links, ends = _links_between(candidates, number)
    likeliest = _likeliest(ends, likelihoods(links, state, inferred=weights.inferred))
    hub_shares = [1.0] * len(number)
    for place, degree in Counter(chain.from_iterable(likeliest)).items():
        hub_shares[place] = min(1.0, HUB_LINKS / degree)
    gifts = [0.0] * len(number)
    for place, relevant in zip(numbers, relevance, strict=True):
        gifts[place] = max(gifts[place], weights.gain * hub_shares[place] * relevant)
    for place, memory in zip(numbers, candidates.memories.values(), strict=True):
        if memory.named:
            gifts[place] = NAMED_PULL
    from_higher, from_lower = [0.0] * len(number), [0.0] * len(number)
    for (one, other), probability in likeliest.items():
        from_higher[one] += gifts[other] * probability
        from_lower[other] += gifts[one] * probability
    received = [(from_higher[place] + from_lower[place]) * hub_shares[place] for place in numbers]
    if weights.answer:
        each_end = zip(ends, links, strict=True)
        following = dict.fromkeys(pair for pair, link in each_end if link.row[_RELATION] == FOLLOWING)
        for place, asked in _answers(following, candidates, numbers, relevance):
            received[place] += weights.answer * asked
    return received


def _links_between(
    candidates: Candidates, number: Mapping[Identity, int]
) -> tuple[list[CandidateLink], list[Ends]]:
    """The links whose two ends are candidates, but for those to a speaker, and the ends of each."""
    links: list[CandidateLink] = []
    ends: list[Ends] = []
    for link in candidates.links.values():
        one, other = number.get((link.graph_key, link.source)), number.get((link.graph_key, link.target))
        if one is not None and other is not None and link.row[_RELATION] != SAYING:
            links.append(link)
            ends.append((one, other))
    return links, ends


def _likeliest(ends: Iterable[Ends], probabilities: Iterable[float]) -> dict[Ends, float]:
    """By each pair of linked memories, in order, the probability of their likeliest link. A loop is none."""
    likeliest: dict[Ends, float] = {}
    for (one, other), probability in zip(ends, probabilities, strict=True):
        if one != other:
            pair = (one, other) if one < other else (other, one)
            if probability >= likeliest.get(pair, 0.0):
                likeliest[pair] = probability
    return dict(sorted(likeliest.items()))


def _answers(
    following: Collection[Ends], candidates: Candidates, numbers: Sequence[int], relevance: Sequence[float]
) -> Iterator[tuple[int, float]]:
    """The place of each turn that follows a question, with the relevance of that; of versions the greatest."""
    versions: dict[int, list[int]] = {number: [] for number in chain.from_iterable(following)}
    for place, number in enumerate(numbers if following else ()):
        if number in versions:
            versions[number].append(place)
    memories = list(candidates.memories.values())
    for asking, answering in following:
        asked = versions[asking]
        if any(_asks(memories[place]) for place in asked):
            greatest = max(relevance[place] for place in asked)
            yield from ((place, greatest) for place in versions[answering])


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
