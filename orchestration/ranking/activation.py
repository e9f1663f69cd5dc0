"""The order of the candidates of a question: relevance over all channels, then the consciousness score. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from typing import Final

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking import consciousness_score
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.ranking.channels import WISH_PART, Table, fill, final_order, table_of
from orchestration.ranking.currency import compare_hits, fold_duplicates
from orchestration.ranking.learned import NOTHING_LEARNED, Learned
from orchestration.traversal.paths import NO_STATE, State
from schemas.intention import Plurality, Prefer
from schemas.memory import GraphKey
from schemas.temporal import Instant

GENERAL_PART: Final = "general"
"""The term of a score that says how much the preference added."""
_ABOVE_CONCRETE: Final = frozenset(("L1", "L2", "L3"))


@dataclass(frozen=True, slots=True)
class Activation:
    """The candidates, best first, and the parts of the relevance of each, which `explain` shows.

    `held_before`: by each that seems to tell what no longer holds, the later one that tells what holds instead.
    `duplicates`: by each that stands for others with the same words, the ids of these. `instructions`: the
    standing instructions that shape the request; they hold whether or not anything answers it.
    """

    order: tuple[consciousness_score.Score, ...]
    parts: Mapping[Key, Mapping[str, float]]
    held_before: Mapping[Key, Key] = field(default_factory=dict)
    duplicates: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    instructions: frozenset[Key] = frozenset()


class PartsByKey(Mapping[Key, Mapping[str, float]]):
    """The parts of each candidate of a table, of which a row is made when it is looked at."""

    def __init__(self, table: Table) -> None:
        self._table = table

    @cached_property
    def _places(self) -> dict[Key, int]:
        return dict(zip(self._table.keys, count(), strict=False))

    def __getitem__(self, key: Key) -> dict[str, float]:
        return self._table.row(self._places[key])

    def __iter__(self) -> Iterator[Key]:
        return iter(self._table.keys)

    def __len__(self) -> int:
        return len(self._table.keys)


def in_order(activation: Activation, order: Sequence[Key]) -> Activation:
    """The activation with these candidates first, in this order; the others keep theirs."""
    places = {key: place for place, key in enumerate(order)}
    scores = sorted(activation.order, key=lambda score: places.get(score.key, len(places)))
    return replace(activation, order=tuple(scores))


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks what, and in which state.

    `emotions`: those with which memories resonate, in normal form. `pressure`: the reality pressure, in [0, 1].
    `state`: the goal and emotions by which links are weighed.
    """

    question: Question
    emotions: Mapping[str, float] = field(default_factory=dict)
    pressure: float = consciousness_score.REALITY_PRESSURE
    state: State = NO_STATE


def activate(
    candidates: Candidates,
    lexicons: Mapping[GraphKey, Lexicon],
    asker: Asker,
    weights: ChannelWeights = CHANNEL_WEIGHTS,
    *,
    learned: Learned = NOTHING_LEARNED,
) -> Activation:
    """The candidates in the order of their consciousness scores.

    The activation of each is the sum of its parts; where one exceeds 1, all are divided by the greatest, and what
    else weighs with them: a mood would count for more the better the question is answered.
    """
    if not candidates.memories:
        return Activation((), {})
    table = table_of(asker.question, candidates, lexicons, weights, state=asker.state, learned=learned)
    fill(table)
    relevance = table.relevance()
    greatest = max(1.0, max(relevance))
    scores = consciousness_score.consciousness_scores(
        table.memories,
        [relevant / greatest for relevant in relevance],
        asker.emotions,
        asker.pressure,
        inferred=False,
        shared=consciousness_score.SHARED,
        whole=greatest,
        mood=table.known if asker.state.emotions else None,
    )
    order: Sequence[consciousness_score.Score] = consciousness_score.in_rank_order(scores)
    table.comparison = compare_hits(order, candidates, asker.question).without(learned.not_changed)
    order = final_order(order, table)
    duplicates: Mapping[Key, tuple[str, ...]] = {}
    if table.repeats():
        order, duplicates = fold_duplicates(order, candidates)
    wishes = zip(table.keys, table.parts.get(WISH_PART, ()), strict=False)
    return Activation(
        tuple(order),
        PartsByKey(table),
        table.comparison.held_before(),
        duplicates,
        frozenset(key for key, wish in wishes if wish is not None),
    )


# --- generalisations: first, or behind the memories that they stand for ---------------------------------


def with_preference(activation: Activation, candidates: Candidates, prefer: Prefer) -> Activation:
    """The activation in the order that the question asks for."""
    # What says of its own that it stands for several (002: L1 to L3).
    memories = candidates.memories
    general = {each.key for each in activation.order if memories[each.key].get("abstraction") in _ABOVE_CONCRETE}
    if not general:
        return activation
    if prefer == "general":
        order = consciousness_score.levelled(generals_first(activation.order, general), GENERAL_PART)
    else:
        order = behind_members(activation.order, members_of(candidates, general))
    return replace(activation, order=tuple(order))


def members_of(candidates: Candidates, general: Collection[Key]) -> dict[Key, frozenset[tuple[str, str]]]:
    """The members of each generalisation, as level and id, by the links between the candidates."""
    members: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for link in candidates.links.values():
        if link.get("relation_type") == "GENERALISES":
            members[link.graph_key, link.source].add((link.graph_key, link.target))
    return {key: frozenset(members.get(key[:2], ())) for key in general}


def generals_first(
    order: Sequence[consciousness_score.Score], general: Collection[Key]
) -> list[consciousness_score.Score]:
    """The generalisations that stand out as much as what is in focus, then all others, each in its order.

    What hardly fits the question is put before nothing.
    """
    greatest = consciousness_score.greatest_activation(order)
    first = [score for score in order if score.key in general and consciousness_score.stands_out(score, greatest)]
    taken = {score.key for score in first}
    return [*first, *(score for score in order if score.key not in taken)]


def behind_members(
    order: Sequence[consciousness_score.Score], members: Mapping[Key, Collection[tuple[str, str]]]
) -> list[consciousness_score.Score]:
    """The order with each generalisation right behind the last of its members; one without any comes last."""
    places = {score.key[:2]: float(place) for place, score in enumerate(order) if score.key not in members}
    behind: dict[Key, float] = {}
    for place, score in enumerate(order):
        if score.key not in members:
            behind[score.key] = float(place)
            continue
        found = [places[member] for member in members[score.key] if member in places]
        behind[score.key] = max(found) + 0.5 if found else float(len(order))
    return sorted(order, key=lambda score: behind[score.key])


def with_plurality(
    activation: Activation, memories: Mapping[Key, Candidate], plurality: Plurality, moment: Instant
) -> Activation:
    """The activation with the term `plurality` in every score, spread over weeks; ages count from `moment`."""
    scores = []
    for score in activation.order:
        memory = memories[score.key]
        importance = float(memory.get("importance") or 0.0)
        added = consciousness_score.plurality_term(int(memory.get("valid_at")), importance, plurality, moment)
        terms = {**score.terms, "plurality": added}
        scores.append(score._replace(total=score.total + added, terms=terms))
    order = consciousness_score.spread_over_weeks(consciousness_score.in_rank_order(scores), memories, plurality)
    return replace(activation, order=tuple(order))
