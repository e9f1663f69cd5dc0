"""How well the memories that were found answer a question: features of the ranking → a probability. Pure.

The probability is a logistic regression (Cox, 1958). Its weights are data: `confidence.toml` has a table for each
embedding model that was measured, with the record of how it was fitted, and one for words alone. The last one also
serves a model without a table, because the cosines of each model have a scale of their own.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import chain, filterfalse, islice
from operator import attrgetter
from statistics import fmean
from typing import Final, NamedTuple

from orchestration.algorithms import inverse_document_frequency
from orchestration.question.lexicon import Lexicon
from orchestration.question.reading import INSIDE_NAME, AnswerKind, Question, gives_kind
from orchestration.ranking.candidates import Candidates
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.relevance import count_each, count_held
from orchestration.ranking.texts import BARE_TYPES, ReadText, told_by
from orchestration.ranking.times import is_of_time
from schemas.memory import GraphKey
from schemas.temporal import Instant
from substrate.language.text import name_key, stem, stems, stop_words, word_language, words

WORDS_ALONE: Final = "none"
"""The table of weights for a question that was not embedded, and for a model that nobody measured."""
HITS: Final = 20
"""This many of the best memories are looked at: an answer further down is seldom read."""
LEAST_MEMORIES: Final = 100
"""Words are weighed as in a graph of at least this many memories: in a young one every word would be common."""
MANY: Final = 20_000
"""More memories than these say nothing more."""
TOLD_BY_FORM: Final = frozenset((AnswerKind.NUMBER, AnswerKind.TIME, AnswerKind.PLACE))
"""Kinds whose form shows in a text; a capital letter alone does not tell who is asked for."""
MOST_READ: Final = 4000
"""Only this many characters of a text are read."""
LIKE_A_WISH: Final = 0.3
"""Of a wish of which no word was said something is so near that it serves it; gibberish is nearer to nothing."""
NOT_OF_THAT_TIME: Final = "nothing that was found is of the time that the question names"
NAMED, PLAIN = "named", "plain"
"""A question that names a speaker, whose words are known to be theirs, and any other have weights of their own."""


class EvidenceHit(NamedTuple):
    """A memory that was found. `likeness`: its cosine to the question; None where likeness did not find it.

    `read`: the text, where what was read of it is kept.
    """

    text: str
    likeness: float | None = None
    speaker: str = ""
    began: Instant = 0
    read: ReadText | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question and the best memories that were found, best first.

    `weights`: the inverse document frequency of each stem of the question. `speakers`: those that the question
    names, by `name_key`, as in `EvidenceHit`. `of_that_time`: one of them names a day of the time
    that the question names.
    """

    question: Question
    weights: Mapping[str, float]
    hits: Sequence[EvidenceHit]
    memories: int = 0
    speakers: frozenset[str] = frozenset()
    of_that_time: bool = False


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights for one kind of question: `terms` by the name of each feature, in log-odds. Below `threshold`
    nothing fits the question, and its focus stays empty."""

    terms: Mapping[str, float]
    intercept: float
    threshold: float

    def probability(self, features: Mapping[str, float]) -> float:
        """The probability, in [0, 1], that the memories with these features answer their question."""
        log_odds = self.intercept + math.sumprod(self.terms.values(), map(features.__getitem__, self.terms))
        return 1.0 / (1.0 + math.exp(-max(-700.0, log_odds)))


class Answer(NamedTuple):
    """How well a question is answered: `confidence` in [0, 1]; `fits` is false where the focus stays empty.

    `wished`: it asks for no fact, and gets what there is. `notes`: that nothing is of the time it asks about.
    `why`: what each feature brings, in log-odds.
    """

    confidence: float
    fits: bool
    wished: bool = False
    notes: tuple[str, ...] = ()
    why: str = ""


@cache
def read_tables() -> Mapping[tuple[str, str], Weights]:
    """The tables of `confidence.toml`, by the name of the embedding model and the kind of question."""
    text = resources.files(__package__).joinpath("confidence.toml").read_text(encoding="utf-8")
    models = tomllib.loads(text)["models"]
    return {(model, kind): Weights(**models[model][kind]) for model in models for kind in (PLAIN, NAMED)}


def rate_answer(evidence: Evidence, model: str) -> Answer:
    """How well the memories that were found answer the question. `model`: the one that made the embeddings.

    A question that names no subject ("what do you know about me?") is answered by whatever is known, or, if it
    names a time ("yesterday"), by whatever is of that time; if nothing is, nothing fits. Nothing fits a text
    without a word.
    """
    if not evidence.hits or not words(evidence.question.text[:MOST_READ]):
        return Answer(0.0, fits=False)
    tables, kind = read_tables(), NAMED if evidence.speakers else PLAIN
    known = (model, kind) in tables and any(hit.likeness is not None for hit in evidence.hits)
    weights = tables[model if known else WORDS_ALONE, kind]
    features = read_features(evidence)
    probability = weights.probability(features)
    question = evidence.question
    within = (
        not question.periods or evidence.of_that_time or any(_is_in_time(hit, question) for hit in evidence.hits)
    )
    if question.of_time_alone and not within:
        return Answer(round(min(probability, weights.threshold / 2), 6), fits=False, notes=(NOT_OF_THAT_TIME,))
    if question.general and within:
        probability = max(probability, weights.threshold)
    wished = question.wishes and (features["unheard"] < 1.0 or features["likeness"] >= LIKE_A_WISH)
    why = ", ".join([f"{name} {weight * features[name]:+.2f}" for name, weight in weights.terms.items()])
    return Answer(round(probability, 6), wished or probability >= weights.threshold, wished, why=why)


def gather_evidence(
    question: Question, candidates: Candidates, order: Sequence[Score], lexicons: Mapping[GraphKey, Lexicon]
) -> Evidence:
    """The question with its best hits, out of all that was found."""
    speakers = frozenset(name_key(name) for lexicon in lexicons.values() for name in lexicon.speakers())
    memories = sum(lexicon.memories for lexicon in lexicons.values())
    frequencies: Counter[str] = Counter()
    for lexicon in lexicons.values():
        frequencies.update(lexicon.frequencies or {})
    found = (candidates.memories[score.key] for score in order)
    telling = (memory for memory in found if memory.get("node_type") not in BARE_TYPES)
    hits: list[EvidenceHit] = []
    of_that_time = False
    for memory in islice(telling, HITS):
        told = told_by(memory)
        text = told.lexical.text[:MOST_READ]
        hits.append(EvidenceHit(text, memory.likeness, told.speaker or "", told.began, told.lexical))
        if question.of_time_alone and not of_that_time:
            of_that_time = is_of_time(memory, question.periods)
    weights = weigh_stems(question, frequencies, memories, speakers)
    return Evidence(question, weights, hits, memories, speakers, of_that_time)


def weigh_stems(
    question: Question, frequencies: Mapping[str, int], memories: int, speakers: Collection[str]
) -> dict[str, float]:
    """The inverse document frequency of each stem of a question, also of those that no memory holds.

    Words that name a time, or speakers, are read otherwise; stop words say nothing of what is asked.
    """
    language = word_language(question.text)
    silent = stop_words(language)
    names = {word for name in speakers for word in words(name)}
    count = max(memories, LEAST_MEMORIES)
    weights: dict[str, float] = {}
    for word in dict.fromkeys(words((question.content or question.text)[:MOST_READ])):
        if word not in silent and word not in names:
            weight = inverse_document_frequency(min(frequencies.get(word, 0), count), count)
            root = stem(word, language)
            weights[root] = min(weight, weights.get(root, weight))
    return weights


class _Fit(NamedTuple):
    """How a hit fits: its likeness, at least 0, and the weighted share of the stems that its best clause holds.

    `held`: the stems of the question that it holds. `best`: the place of its best clause in `read`. `named`: it is
    the words of a speaker whom the question names; `theirs`: or speaks of one.
    """

    likeness: float
    clause: float
    held: frozenset[str]
    read: ReadText
    best: int
    named: bool
    theirs: bool
    in_time: bool

    @property
    def total(self) -> float:
        """By what the hits of one question are compared."""
        return self.likeness + self.clause

    @property
    def around(self) -> str:
        """Its best clause and the neighbours of that."""
        return " ".join([clause.text for clause in self.read.clauses[max(0, self.best - 1) : self.best + 2]])


def read_features(evidence: Evidence) -> dict[str, float]:
    """Each feature of the evidence by its name in `confidence.toml`; about [−1, 1] each."""
    language = word_language(evidence.question.text)
    fits = sorted([_fit(hit, evidence, language) for hit in evidence.hits], key=lambda fit: -fit.total)
    return {name: float(feature(evidence, fits)) for name, feature in FEATURES.items()}


def _fit(hit: EvidenceHit, evidence: Evidence, language: str) -> _Fit:
    weights, read = evidence.weights, hit.read or ReadText(hit.text)
    held: dict[int, Collection[str]] = {}
    # What no part of a text holds no clause of it holds, unless a word is cut at its end.
    if len(read.text) > MOST_READ or count_held(read, weights, language):
        held = {**count_each(read.clauses, weights, language)}
    for root, alike in evidence.question.alike:
        if root in weights and not read.stems(language).isdisjoint(alike):
            for place, clause in enumerate(read.clauses):
                if not clause.stems(language).isdisjoint(alike):
                    held[place] = {*held.get(place, ()), root}
    shares = {place: _share(held[place], weights) for place in sorted(held)}
    best = max(shares, key=shares.__getitem__, default=0)
    named = hit.speaker in evidence.speakers
    return _Fit(
        likeness=max(0.0, hit.likeness or 0.0),
        clause=shares.get(best, 0.0),
        held=frozenset(chain.from_iterable(held.values())),
        read=read,
        best=best,
        named=named,
        theirs=named or any(f" {name} " in read.flat for name in evidence.speakers),
        in_time=_is_in_time(hit, evidence.question),
    )


def _is_in_time(hit: EvidenceHit, question: Question) -> bool:
    return bool(question.periods) and any(each.period.contains(hit.began) for each in question.periods)


def _share(held: Collection[str], weights: Mapping[str, float]) -> float:
    return sum([weight for root, weight in weights.items() if root in held]) / (sum(weights.values()) or 1.0)


def _unheard(evidence: Evidence, fits: Sequence[_Fit]) -> float:
    """The weighted share of the question's stems that none of the hits holds."""
    held = frozenset[str]().union(*(fit.held for fit in fits))
    return 1.0 - _share(held, evidence.weights) if evidence.weights else 0.0


def _kind(evidence: Evidence, fit: _Fit) -> float:
    """Whether a hit gives a thing of the kind asked for where it speaks of it; ½ where no kind is."""
    kind = evidence.question.answer_kind
    if kind is None or kind.kind not in TOLD_BY_FORM:
        return 0.5
    return gives_kind(kind, fit.around, stems(evidence.question.text))


def share_beside_names(evidence: Evidence, fits: Sequence[_Fit]) -> float:
    """The weighted share of the question's stems beside its names that a hit with all of these names holds."""
    text, weights = evidence.question.text[:MOST_READ], evidence.weights
    named = stems(" ".join(re.findall(INSIDE_NAME, text)), word_language(text)) & weights.keys()
    asked = {root: weight for root, weight in weights.items() if root not in named}
    return max((_share(fit.held, asked) for fit in fits if named <= fit.held), default=0.0) if asked else 0.5


def _lead(fits: Sequence[_Fit], of: Callable[[_Fit], bool]) -> float:
    """By how much the best of some hits is better than the best of the others."""
    own = max(map(attrgetter("total"), filter(of, fits)), default=0.0)
    return own - max(map(attrgetter("total"), filterfalse(of, fits)), default=0.0)


FEATURES: Final[Mapping[str, Callable[[Evidence, Sequence[_Fit]], float]]] = {
    "likeness": lambda _, fits: max(fit.likeness for fit in fits),
    "likeness_of_three": lambda _, fits: fmean(sorted((fit.likeness for fit in fits), reverse=True)[:3]),
    "clause": lambda _, fits: fits[0].total,
    "unheard": _unheard,
    "subject": share_beside_names,
    "kind": lambda evidence, fits: _kind(evidence, fits[0]),
    "asks": lambda evidence, _: evidence.hits[0].text.rstrip().endswith(("?", "？")),
    "in_time": lambda _, fits: any(fit.in_time for fit in fits),
    "broad": lambda evidence, _: evidence.question.broad,
    "words": lambda evidence, _: min(12, len(evidence.weights)) / 12,
    "memories": lambda evidence, _: math.log1p(min(evidence.memories, MANY)) / 10,
    "speaker": lambda _, fits: _lead(fits, lambda fit: fit.named),
    "theirs": lambda _, fits: _lead(fits, lambda fit: fit.theirs),
    "speaker_first": lambda evidence, _: fmean(hit.speaker in evidence.speakers for hit in evidence.hits[:3]),
}
"""What is read of a ranking, by name; the fits come best first."""
