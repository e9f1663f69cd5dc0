"""The order of the candidates of a question: relevance over all channels, then the consciousness score. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking import consciousness_score
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.channel_weights import CHANNEL_WEIGHTS, ChannelWeights
from orchestration.ranking.channels import WISH_PART, final_order, ranking_question, relevance_parts
from orchestration.ranking.currency import compare_hits, fold_duplicates
from orchestration.ranking.feedback import NOTHING_LEARNED, Learned
from orchestration.traversal.probability import NO_STATE, State
from schemas.memory import GraphKey


@dataclass(frozen=True, slots=True)
class Activation:
    """The candidates, best first, and the parts of the relevance of each, which `explain` shows.

    `held_before`: by each that seems to tell what no longer holds, the later one that tells what holds instead.
    `duplicates`: by each that stands for others with the same words, the ids of these.
    """

    order: tuple[consciousness_score.Score, ...]
    parts: Mapping[Key, Mapping[str, float]]
    held_before: Mapping[Key, Key] = field(default_factory=dict)
    duplicates: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)

    @property
    def instructions(self) -> frozenset[Key]:
        """The standing instructions that shape the request; they hold whether or not anything answers it."""
        return frozenset(key for key, parts in self.parts.items() if WISH_PART in parts)


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
    question = ranking_question(asker.question, candidates, lexicons, weights, state=asker.state, learned=learned)
    parts = relevance_parts(candidates, question)
    relevance = {key: sum(scores.values()) for key, scores in parts.items()}
    greatest = max(1.0, max(relevance.values()))
    activations = (relevance[key] / greatest for key in candidates.memories)
    scores = consciousness_score.consciousness_scores(
        candidates.memories.values(),
        activations,
        asker.emotions,
        asker.pressure,
        inferred=False,
        shared=consciousness_score.SHARED,
        whole=greatest,
        mood=bool(asker.state.emotions),
    )
    order = consciousness_score.ranked(scores)
    comparison = compare_hits(order, candidates, asker.question).without(learned.not_changed)
    question = replace(question, parts=parts, comparison=comparison)
    folded, duplicates = fold_duplicates(final_order(order, candidates, question), candidates)
    return Activation(tuple(folded), parts, comparison.held_before(), duplicates)
