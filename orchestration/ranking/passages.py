"""Which passage of a long text stands for it: the one that is most like the question and has its words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Candidate, Candidates, Key, ShownPassage
from orchestration.ranking.relevance import bm25_scores, word_weights
from schemas.memory import GraphKey
from substrate.store.passages import FoundPassage

LIKENESS: Final = 0.5
"""The share of likeness in the choice; the rest is words. As in the base relevance of memories."""


class _Found(NamedTuple):
    memory: Candidate
    passage: FoundPassage


def show_best_passages(candidates: Candidates, lexicons: Mapping[GraphKey, Lexicon]) -> None:
    """Let the best passage of each long text of which passages were found stand for the text.

    The memory is then ranked as if that passage were its text.
    """
    found = {
        (key[0], f"{key[1]}\n{key[2]}", place): _Found(memory, passage)
        for key, memory in candidates.memories.items()
        for place, passage in enumerate(memory.passages)
    }
    if not found:
        return
    words = _word_scores(found, lexicons)
    likeness = _likeness_scores(found)
    best: dict[int, Key] = {}
    for key, (memory, _) in found.items():
        leader = best.get(id(memory))
        score = LIKENESS * likeness[key] + (1.0 - LIKENESS) * words[key]
        if leader is None or score > LIKENESS * likeness[leader] + (1.0 - LIKENESS) * words[leader]:
            best[id(memory)] = key
    for key in best.values():
        memory, passage = found[key]
        length = memory.shown.length if memory.shown else passage.end
        memory.show(ShownPassage(passage.start, passage.end, length), passage.text)


def _word_scores(found: Mapping[Key, _Found], lexicons: Mapping[GraphKey, Lexicon]) -> dict[Key, float]:
    """BM25 of each passage as a share of the best, in [0, 1]."""
    weights = {
        level: word_weights(lexicon.frequencies or {}, lexicon.memories) for level, lexicon in lexicons.items()
    }
    scores = bm25_scores({key: passage.text for key, (_, passage) in found.items()}, weights)
    best = max(scores.values(), default=0.0) or 1.0
    return {key: score / best for key, score in scores.items()}


def _likeness_scores(found: Mapping[Key, _Found]) -> dict[Key, float]:
    """Likeness stretched to [0, 1] between the least and the greatest of the passages."""
    values = [passage.likeness for _, passage in found.values()]
    low, high = min(values), max(values)
    width = (high - low) or 1.0
    return {key: (passage.likeness - low) / width for key, (_, passage) in found.items()}
