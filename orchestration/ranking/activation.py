"""The order of the candidates of a question: relevance over all channels, then the consciousness score. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from orchestration.appraisal.text_signals import read_emotions
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking import consciousness_score
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.channels import (
    CHANNEL_WEIGHTS,
    ChannelWeights,
    final_order,
    ranking_question,
    relevance_parts,
)
from orchestration.traversal.probability import State
from schemas.memory import Level
from substrate.emotions import normal_emotions


@dataclass(frozen=True, slots=True)
class Activation:
    """The candidates, best first, and the parts of the relevance of each, which `explain` shows."""

    order: tuple[consciousness_score.Score, ...]
    parts: Mapping[Key, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks, and in which state: the words, the emotions, the reality pressure in [0, 1].

    `emotions`: None for those that the words name. `question`: the words as `orchestration.question.reading` read
    them; None when nothing is to be read out of them. `goal` and the emotions given weigh the links.
    """

    query_text: str
    emotions: Mapping[str, float] | None = None
    pressure: float = consciousness_score.REALITY_PRESSURE
    question: Question | None = None
    goal: str | None = None

    def state(self) -> State:
        """The state from which links are weighed."""
        return State(self.goal, self.emotions)

    def resonant_emotions(self) -> Mapping[str, float]:
        """The emotions with which memories may resonate, in normal form."""
        return normal_emotions(self.emotions) if self.emotions else read_emotions(self.query_text)


def activate(
    candidates: Candidates,
    lexicons: Mapping[Level, Lexicon],
    asker: Asker,
    weights: ChannelWeights = CHANNEL_WEIGHTS,
) -> Activation:
    """The candidates in the order of their consciousness scores.

    The activation of each is the sum of its parts; where one exceeds 1, all are divided by the greatest.
    """
    if not candidates.memories:
        return Activation((), {})
    read = asker.question or Question(asker.query_text)
    question = replace(ranking_question(read, candidates, lexicons, weights), state=asker.state())
    parts = relevance_parts(candidates, question)
    relevance = {key: sum(scores.values()) for key, scores in parts.items()}
    greatest = max(1.0, max(relevance.values()))
    activations = (relevance[key] / greatest for key in candidates.memories)
    scores = consciousness_score.consciousness_scores(
        candidates.memories.values(), activations, asker.resonant_emotions(), asker.pressure
    )
    return Activation(tuple(final_order(consciousness_score.ranked(scores), candidates, question)), parts)
