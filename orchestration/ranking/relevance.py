"""Base relevance: how much a memory is about the query, by likeness and by words. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from orchestration.ranking.candidates import Candidate, Key
from schemas.memory import Level
from substrate.cypher.search import DOCUMENT_CAP
from substrate.text import STOP_WORDS, spaced_text, stem

K1 = 1.2
B = 0.75
"""BM25's usual constants (Robertson and Zaragoza 2009)."""


def inverse_frequency(holding: int, total: int) -> float:
    """BM25's weight of a word that `holding` of `total` memories hold; never negative."""
    return math.log(1.0 + (max(total, holding) - holding + 0.5) / (holding + 0.5))


def lexical_text(memory: Candidate) -> str:
    """The text of a memory whose words count: what was said, or name and description."""
    description = memory.get("description") or ""
    return description if memory.get("speaker") else f"{memory.get('name')} {description}"


class Lengths(NamedTuple):
    """How long each text is, and the texts of each level in the mean; in whatever unit."""

    own: Mapping[Key, float]
    mean: Mapping[Level, float]

    @classmethod
    def of(cls, texts: Mapping[Key, str]) -> Lengths:
        """Lengths in characters, and the mean of the candidates: both only scale the length term, and cost
        neither a pass over a graph nor the words of a text that holds none of the query's.
        """
        own = {key: float(len(text)) for key, text in texts.items()}
        mean = sum(own.values()) / len(own) if own else 0.0
        return cls(own, {key[0]: mean for key in own})


def bm25(
    texts: Mapping[Key, str], weights: Mapping[Level, Mapping[str, float]], lengths: Lengths | None = None
) -> dict[Key, float]:
    """Okapi BM25 of each text for the stems of the query, weighed by level; 0 for a text that holds none."""
    own, mean = lengths or Lengths.of(texts)
    scores = dict.fromkeys(texts, 0.0)
    for level, roots in weights.items():
        keys = [key for key in texts if key[0] is level]
        for place, said in _said([texts[key] for key in keys], roots).items():
            key = keys[place]
            norm = K1 * (1.0 - B + B * own[key] / mean[level])
            counts = {root: said.count(root) for root in said}
            scores[key] = sum(roots[root] * times * (K1 + 1.0) / (times + norm) for root, times in counts.items())
    return scores


def _said(texts: Sequence[str], roots: Collection[str]) -> dict[int, list[str]]:
    """Which of the stems each text says, as often as it does, by its place among the texts.

    All texts are cut at once wherever a word begins like one of the stems: a pattern over each takes longer.
    """
    together = "\n".join(map(spaced_text, texts))
    root_of: dict[str, str] = {}
    said: dict[int, list[str]] = {}
    for beginning in _beginnings(roots):
        before, *begun = together.split(f" {beginning}")
        place = before.count("\n")
        for rest in begun:
            word = beginning + rest.partition(" ")[0]
            root = root_of.get(word) or root_of.setdefault(word, "" if word in STOP_WORDS else stem(word))
            if root in roots:
                said.setdefault(place, []).append(root)
            place += rest.count("\n")
    return said


def _beginnings(roots: Iterable[str]) -> list[str]:
    """How words with one of the stems begin (`dying` and `die` share but one letter); none begins like another."""
    kept: list[str] = []
    for beginning in sorted({root[: max(1, min(4, len(root) - 2))] for root in roots}):
        if not kept or not beginning.startswith(kept[-1]):
            kept.append(beginning)
    return kept


def _estimated(holding: int, total: int) -> int:
    """How many memories hold a word whose count was broken off: the geometric mean of the least and the most."""
    return holding if holding < DOCUMENT_CAP else max(holding, math.isqrt(DOCUMENT_CAP * total))


def word_weights(frequencies: Mapping[str, int], total: int) -> dict[str, float]:
    """The weight of each stem of the query in one graph; of two words with one stem the commoner counts."""
    weights: dict[str, float] = {}
    for word, holding in frequencies.items():
        if holding > 0:
            root = stem(word)
            weight = inverse_frequency(_estimated(holding, total), total)
            weights[root] = min(weight, weights.get(root, weight))
    return weights


def _spread_out(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high - low) if high > low else (high - 1.0, 1.0)


def base_relevance(
    memories: Iterable[Candidate], words: Mapping[Key, float], share: float
) -> tuple[dict[Key, float], dict[Key, tuple[float, float]]]:
    """Convex mix of normalised likeness and normalised words, in [0, 1], and its two parts for `explain`.

    Likeness is stretched between the least and the greatest that the vector search found; a memory that it
    did not find has none. Words are divided by the best score. `share` is that of likeness.
    """
    known = list(memories)
    likenesses = [memory.likeness for memory in known if memory.likeness is not None]
    low, width = _spread_out(likenesses) if likenesses else (0.0, 1.0)
    best = max(words.values(), default=0.0) or 1.0
    parts: dict[Key, tuple[float, float]] = {}
    for memory in known:
        alike = 0.0 if memory.likeness is None else (memory.likeness - low) / width
        parts[memory.key] = (share * alike, (1.0 - share) * words.get(memory.key, 0.0) / best)
    return {key: sum(part) for key, part in parts.items()}, parts
