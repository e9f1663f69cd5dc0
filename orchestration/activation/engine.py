"""Found → ordered: relevance, spreading and score in one pass. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestration.activation import ranking, relevance
from orchestration.activation.found import Found, Key
from orchestration.activation.spreading import spread
from orchestration.lexicon import Lexicon
from schemas.memory import Level
from substrate.emotions import named_in, normal_emotions


@dataclass(frozen=True, slots=True)
class Activation:
    """The order of all that was found, and for `explain` the parts of each relevance."""

    order: tuple[ranking.Score, ...]
    parts: Mapping[Key, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks what: the words, the emotions felt (those that the words name when none are given), the urgency."""

    query_text: str
    emotions: Mapping[str, float] | None = None
    pressure: float = ranking.REALITY_PRESSURE

    def felt(self) -> Mapping[str, float]:
        """The emotions with which memories may resonate, in normal form."""
        return normal_emotions(self.emotions) if self.emotions else named_in(self.query_text)


def activate(found: Found, lexicons: Mapping[Level, Lexicon], asker: Asker) -> Activation:
    """Order the memories found by activation. Relevance after spreading is scaled to [0, 1]."""
    memories = found.memories
    if not memories:
        return Activation((), {})
    weights = {
        level: relevance.word_weights(lexicon.frequencies or {}, lexicon.memories)
        for level, lexicon in lexicons.items()
    }
    texts = {key: relevance.lexical_text(memory) for key, memory in memories.items()}
    words = relevance.bm25(texts, weights)
    base, halves = relevance.base_relevance(memories.values(), words)
    received = spread(memories, found.bonds.values(), base)
    summed = {key: base[key] + received[key] for key in memories}
    greatest = max(1.0, max(summed.values()))
    emotions = asker.felt()
    scores = [
        ranking.consciousness_score(memory, summed[key] / greatest, emotions, asker.pressure)
        for key, memory in memories.items()
    ]
    parts = {
        key: {"likeness": halves[key][0], "words": halves[key][1], "spread": received[key]} for key in memories
    }
    return Activation(tuple(ranking.ranked(scores)), parts)
