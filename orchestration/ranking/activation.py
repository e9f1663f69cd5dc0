"""Found → ordered: relevance, spreading and score in one pass. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from orchestration.appraisal.text_signals import read_emotions
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking import consciousness_score, relevance
from orchestration.ranking.breadth import spread_out
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.channels import FUSION, Fusion, said, suited, timed, wished
from orchestration.ranking.novelty import opened
from orchestration.ranking.sessions import of_sittings
from orchestration.ranking.spreading import spread
from orchestration.traversal.probability import State
from schemas.memory import Level
from substrate.emotions import normal_emotions
from substrate.text import name_key


@dataclass(frozen=True, slots=True)
class Activation:
    """The order of all that was found, and for `explain` the parts of each relevance."""

    order: tuple[consciousness_score.Score, ...]
    parts: Mapping[Key, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks what: the words, the emotions felt (those that the words name when none are given), the urgency.

    `goal` and the emotions given weigh the links. `question`: the words as they were read
    (`orchestration.question.reading`); None: nothing is read out of them.
    """

    query_text: str
    emotions: Mapping[str, float] | None = None
    pressure: float = consciousness_score.REALITY_PRESSURE
    question: Question | None = None
    goal: str | None = None

    def state(self) -> State:
        """From where links are weighed."""
        return State(self.goal, self.emotions)

    def felt(self) -> Mapping[str, float]:
        """The emotions with which memories may resonate, in normal form."""
        return normal_emotions(self.emotions) if self.emotions else read_emotions(self.query_text)


def activate(
    found: Candidates, lexicons: Mapping[Level, Lexicon], asker: Asker, fusion: Fusion = FUSION
) -> Activation:
    """Order the memories found by activation. Relevance after spreading is scaled to [0, 1]."""
    memories = found.memories
    if not memories:
        return Activation((), {})
    question = asker.question or Question(asker.query_text)
    fusion = suited(fusion, question)
    speakers = {name_key(name) for lexicon in lexicons.values() for name in lexicon.speakers()}
    parts = _parts(found, _words(memories, lexicons, speakers if fusion.named_apart else ()), question, fusion)
    base = {key: sum(terms.values()) for key, terms in parts.items()}
    received = spread(memories, found.links.values(), base, fusion, asker.state())
    together = of_sittings(memories, base)
    for key, memory in memories.items():
        parts[key].update(spread=received[key], sitting=fusion.sitting * together[key])
        if by := said(memory, question, speakers, fusion):
            parts[key]["speaker"] = by
    for key, weight in wished(memories, base, question, fusion).items():
        parts[key]["wish"] = weight
    if question.orders and fusion.opening:
        asked = [key for key, terms in parts.items() if "speaker" in terms]
        for key, share in opened(memories, asked).items():
            parts[key]["opening"] = fusion.opening * share
    summed = {key: sum(terms.values()) for key, terms in parts.items()}
    greatest = max(1.0, max(summed.values()))
    activations = (summed[key] / greatest for key in memories)
    scores = consciousness_score.ranked(
        consciousness_score.consciousness_scores(memories.values(), activations, asker.felt(), asker.pressure)
    )
    if question.broad and fusion.breadth:
        scores = spread_out(scores, memories, fusion.breadth)
    return Activation(tuple(scores), parts)


def _words(
    memories: Mapping[Key, Candidate], lexicons: Mapping[Level, Lexicon], speakers: Collection[str]
) -> dict[Key, float]:
    """BM25 of each memory. In a turn the name of a speaker says only that the other one was speaking."""
    names = {word for name in speakers for word in name.split()}
    spoken = {key for key, memory in memories.items() if memory.get("speaker")} if names else set()
    words: dict[Key, float] = {}
    for keys, left_out in ((spoken, names), (memories.keys() - spoken, set())):
        weights = {
            level: relevance.word_weights(
                {word: count for word, count in (lexicon.frequencies or {}).items() if word not in left_out},
                lexicon.memories,
            )
            for level, lexicon in lexicons.items()
        }
        texts = {key: relevance.lexical_text(memory) for key, memory in memories.items() if key in keys}
        words.update(relevance.bm25(texts, weights))
    return words


def _parts(
    found: Candidates, words: Mapping[Key, float], question: Question, fusion: Fusion
) -> dict[Key, dict[str, float]]:
    """What each memory has of its own, before anything spreads."""
    _, halves = relevance.base_relevance(found.memories.values(), words, fusion.likeness)
    parts: dict[Key, dict[str, float]] = {}
    for key, memory in found.memories.items():
        parts[key] = {"likeness": halves[key][0], "words": halves[key][1]}
        if (when := timed(memory, question, fusion)) and any(halves[key]):
            parts[key]["time"] = when
    return parts
