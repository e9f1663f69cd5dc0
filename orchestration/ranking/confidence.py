"""How well the memories that were found answer a question: features of the ranking → a probability. Pure.

The probability is a logistic regression (Cox, 1958). Its weights are data: `confidence.toml` has a table for each
embedding model that was measured, with the record of how it was fitted, and one for words alone. The last one also
serves a model without a table, because the cosines of each model have a scale of their own.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import Question
from orchestration.ranking.candidates import Candidates, Key
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.relevance import lexical_text
from schemas.memory import Level
from substrate.text import STOP_WORDS, name_key, stem, stems, words

WORDS_ALONE: Final = "none"
"""The table of weights for a question that was not embedded, and for a model that nobody measured."""
HITS: Final = 20
"""So many of the best memories are looked at: an answer further down is seldom read."""
CLAUSE: Final = re.compile(r"(?<=[.!?;])\s+|\n+| [-–—] |, (?=(?:but|and|so|aber|und)\b)")
BARE_TYPES: Final = frozenset(("Session", "Person"))
"""Memories of these types have no words of their own: they answer nothing."""


class Hit(NamedTuple):
    """A memory that was found. `likeness`: its cosine to the question; None where likeness did not find it."""

    text: str
    likeness: float | None = None
    speaker: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question and the best memories that were found, best first.

    `weights`: the inverse document frequency of each stem of the question. `speakers`: those that the question
    names, by `name_key`, as in `Hit`.
    """

    question: Question
    weights: Mapping[str, float]
    hits: Sequence[Hit]
    memories: int = 0
    speakers: frozenset[str] = frozenset()


class Term(NamedTuple):
    """What a feature brings: `weight` × (value − `mean`) / `scale`."""

    mean: float
    scale: float
    weight: float


@dataclass(frozen=True, slots=True)
class Weights:
    """A table of `confidence.toml`. Below `threshold` nothing fits the question, and its focus stays empty."""

    terms: Mapping[str, Term]
    intercept: float
    threshold: float

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Weights:
        """The weights that a table holds."""
        terms = {name: Term(*values) for name, values in table["terms"].items()}
        return cls(terms, table["intercept"], table["threshold"])

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, in [0, 1], that the memories with these features answer their question."""
        log_odds = self.intercept + sum(
            term.weight * (features[name] - term.mean) / term.scale for name, term in self.terms.items()
        )
        return 1.0 / (1.0 + math.exp(-max(-700.0, log_odds)))


class Answer(NamedTuple):
    """How well a question is answered: `confidence` in [0, 1]; `fits` is false where the focus stays empty."""

    confidence: float
    fits: bool


@cache
def read_tables() -> Mapping[str, Weights]:
    """The tables of `confidence.toml`, by the name of the embedding model."""
    text = resources.files(__package__).joinpath("confidence.toml").read_text(encoding="utf-8")
    return {name: Weights.of(table) for name, table in tomllib.loads(text)["models"].items()}


def rate_answer(evidence: Evidence, model: str) -> Answer:
    """How well the memories that were found answer the question. `model`: the one that made the embeddings."""
    if not evidence.hits:
        return Answer(0.0, fits=False)
    tables = read_tables()
    embedded = any(hit.likeness is not None for hit in evidence.hits)
    weights = tables[model if embedded and model in tables else WORDS_ALONE]
    probability = weights.probability(read_features(evidence))
    return Answer(round(probability, 6), probability >= weights.threshold)


def gather_evidence(
    question: Question, candidates: Candidates, order: Sequence[Score], lexicons: Mapping[Level, Lexicon]
) -> Evidence:
    """The question with its best hits, out of all that was found."""
    speakers = frozenset(name_key(name) for lexicon in lexicons.values() for name in lexicon.speakers())
    names = {word for name in speakers for word in name.split()}
    memories = sum(lexicon.memories for lexicon in lexicons.values())
    hits = [_hit(candidates, score.key) for score in order if not _is_bare(candidates, score.key)]
    return Evidence(
        question, _weigh_stems(question.content or question.text, lexicons, names), hits[:HITS], memories, speakers
    )


def _is_bare(candidates: Candidates, key: Key) -> bool:
    return candidates.memories[key].get("node_type") in BARE_TYPES


def _hit(candidates: Candidates, key: Key) -> Hit:
    memory = candidates.memories[key]
    return Hit(lexical_text(memory), memory.likeness, name_key(memory.get("speaker") or ""))


def _weigh_stems(text: str, lexicons: Mapping[Level, Lexicon], names: Collection[str]) -> dict[str, float]:
    """The inverse document frequency of each stem of a question, also of those that no memory holds.

    `names`: the words of the names of speakers, which are known exactly and say nothing about a text.
    """
    memories = sum(lexicon.memories for lexicon in lexicons.values())
    weights: dict[str, float] = {}
    for word in words(text):
        if word in STOP_WORDS or word in names:
            continue
        holding = sum((lexicon.frequencies or {}).get(word, 0) for lexicon in lexicons.values())
        weight = math.log(1.0 + max(0.0, memories - holding + 0.5) / (holding + 0.5))
        weights[stem(word)] = min(weight, weights.get(stem(word), weight))
    return weights


class _Fit(NamedTuple):
    """One hit: its likeness, at least 0; the weighted share of the stems that it holds, or its best clause."""

    likeness: float
    share: float
    clause: float
    named: bool


def read_features(evidence: Evidence) -> dict[str, float]:
    """Each feature of the evidence by its name in `confidence.toml`; about [−1, 1] each."""
    fits = [_fit(hit, evidence) for hit in evidence.hits] or [_Fit(0.0, 0.0, 0.0, named=False)]
    return {name: float(feature(evidence, fits)) for name, feature in FEATURES.items()}


def _fit(hit: Hit, evidence: Evidence) -> _Fit:
    clauses = [stems(clause) for clause in CLAUSE.split(hit.text) if clause.strip()]
    whole = frozenset[str]().union(*clauses)
    best = max((_share(clause, evidence.weights) for clause in clauses), default=0.0)
    likeness = max(0.0, hit.likeness or 0.0)
    return _Fit(likeness, _share(whole, evidence.weights), best, named=hit.speaker in evidence.speakers)


def _share(held: Collection[str], weights: Mapping[str, float]) -> float:
    total = sum(weights.values())
    return sum(weight for root, weight in weights.items() if root in held) / total if total else 0.0


def _unheard(evidence: Evidence) -> float:
    """The weighted share of the question's stems that none of the hits holds."""
    held = frozenset[str]().union(*(stems(hit.text) for hit in evidence.hits))
    return 1.0 - _share(held, evidence.weights) if evidence.weights else 0.0


def _of_named(evidence: Evidence, fits: Sequence[_Fit]) -> float:
    """By how much the best hit of the speaker that the question names is better than the best of others."""
    if not evidence.speakers:
        return 0.0
    own = max((fit.likeness + fit.share for fit in fits if fit.named), default=0.0)
    return own - max((fit.likeness + fit.share for fit in fits if not fit.named), default=0.0)


FEATURES: Final[Mapping[str, Callable[[Evidence, Sequence[_Fit]], float]]] = {
    "likeness": lambda _, fits: max(fit.likeness for fit in fits),
    "share": lambda _, fits: max(fit.share for fit in fits),
    "both": lambda _, fits: max(fit.likeness + fit.share for fit in fits),
    "clause": lambda _, fits: max(fit.likeness + fit.clause for fit in fits),
    "first": lambda _, fits: fits[0].likeness + fits[0].share,
    "unheard": lambda evidence, _: _unheard(evidence),
    "speaker": _of_named,
    "names_speaker": lambda evidence, _: bool(evidence.speakers),
    "words": lambda evidence, _: min(12, len(evidence.weights)) / 12,
    "memories": lambda evidence, _: math.log1p(evidence.memories) / 10,
}
"""What is read of a ranking, by name."""
