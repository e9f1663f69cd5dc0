"""Found → ordered: relevance, spreading and score in one pass. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from orchestration.activation import ranking, relevance
from orchestration.activation.found import Found, Key
from orchestration.activation.spreading import spread
from orchestration.lexicon import Lexicon
from schemas.memory import Level
from substrate.emotions import named_in


@dataclass(frozen=True, slots=True)
class Activation:
    """The order of all that was found, and for `explain` the parts of each relevance."""

    order: tuple[ranking.Score, ...]
    parts: Mapping[Key, Mapping[str, float]]


def activate(found: Found, lexicons: Mapping[Level, Lexicon], query_text: str) -> Activation:
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
    emotions = named_in(query_text)
    scores = [
        ranking.consciousness_score(memory, summed[key] / greatest, emotions) for key, memory in memories.items()
    ]
    parts = {
        key: {"likeness": halves[key][0], "words": halves[key][1], "spread": received[key]} for key in memories
    }
    return Activation(tuple(ranking.ranked(scores)), parts)
