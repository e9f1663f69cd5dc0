"""What feedback teaches: which memories answer which questions, and what each channel counts for a citizen. Pure.

All of it is a function of the set of lessons that stand, in whatever order they came: without one of them it is as
if that one had never been told.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, NamedTuple

from orchestration.question.lexicon import Lexicon
from orchestration.ranking.candidates import Key
from orchestration.ranking.channel_weights import ChannelWeights
from orchestration.ranking.consciousness_score import Score
from orchestration.ranking.relevance import word_weights
from schemas.memory import GraphKey
from schemas.mind.feedback import LearnedFactors
from schemas.temporal import BEGINNING_OF_TIME, Instant

SHOWN: Final = 20
"""This many of the first memories of an answer count as shown: those in focus and most of the periphery."""
STEP: Final = 2.0
"""How far the mean pull of all lessons moves the logarithm of a factor."""
CALM: Final = 20
"""A factor moves as if this many more lessons had taught nothing: a few lessons change little."""
MARGIN: Final = 0.1
"""The difference of two scores at which their order counts as half settled."""
LEAST_FACTOR, GREATEST_FACTOR = 0.5, 2.0
LIKE, SAME = 0.2, 0.8
"""What a used memory gets for a question of nearness n: `LIKE` × n + `SAME` × n ** `SHARP`, in [0, 1]."""
SHARP: Final = 12
NEAR: Final = 0.3
"""The cosine of the weighted words of two questions from which on one says something of the other."""
TRUSTED: Final = 10
"""A memory in this place, from 0, is trusted half: what was shown far down may be named by mistake."""
WRONG: Final = 0.5
"""What a wrong memory loses, as a share of what a used one gains."""
_DIGITS: Final = 6


class Family(NamedTuple):
    """Channels that have one factor: `weights` of `ChannelWeights`, and `parts` of a score, by name."""

    name: str
    weights: tuple[str, ...]
    parts: tuple[str, ...]


FAMILIES: Final = (
    Family("likeness", ("likeness",), ("likeness",)),
    Family("words", (), ("words",)),
    Family("time", ("time", "seeking"), ("time", "seeking")),
    Family("links", ("gain", "own_gain", "answer"), ("spread",)),
    Family("sessions", ("session",), ("sitting",)),
    Family("speakers", ("speaker", "of_self", "own", "other"), ("speaker", "of_self")),
)
"""The weight of words is what likeness leaves of base relevance: of these two only the ratio counts."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """What one feedback teaches. `told_at`: its transaction time.

    `words`: the weight of each stem of its question. `used`: by the id of a memory that answered it, how far that
    is trusted, in (0, 1]. `wrong`: the ids of those that did not. `pull`: by family, how much more of it the used
    memories had than others that were shown, where that order is not settled; in [−1, 1]. `not_changed`: ids of an
    earlier and a later memory, of which the later one does not tell what holds instead.
    """

    words: Mapping[str, float]
    used: Mapping[str, float]
    wrong: Collection[str] = ()
    pull: Mapping[str, float] = field(default_factory=dict)
    told_at: Instant = BEGINNING_OF_TIME
    not_changed: Collection[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Learned:
    """What all lessons of a citizen teach. `factors`: by family, in [0.5, 2]. `notes`: on a failed reading."""

    lessons: Sequence[Lesson] = ()
    factors: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    not_changed: frozenset[tuple[str, str]] = frozenset()


NOTHING_LEARNED: Final = Learned()


def learn(lessons: Sequence[Lesson]) -> Learned:
    """What these lessons teach together.

    One step of logistic regression on the pairs of all lessons (Burges et al., "Learning to rank using gradient
    descent", 2005), from factors of 1. Only the ratios of factors change an order, so what is common to all is
    taken away.
    """
    if not lessons:
        return NOTHING_LEARNED
    names = [family.name for family in FAMILIES]
    pulls = []
    for name in names:
        pulls.append(math.fsum(lesson.pull.get(name, 0.0) for lesson in lessons))
    mean = math.fsum(pulls) / len(pulls)
    answering = sum(bool(lesson.used or lesson.wrong) for lesson in lessons)
    step = STEP / (answering + CALM)
    low, high = math.log(LEAST_FACTOR), math.log(GREATEST_FACTOR)
    logs = (min(high, max(low, step * (pull - mean))) for pull in pulls)
    factors = {name: round(math.exp(log), _DIGITS) for name, log in zip(names, logs, strict=True)}
    not_changed = frozenset(chain.from_iterable(lesson.not_changed for lesson in lessons))
    return Learned(tuple(lessons), factors, not_changed=not_changed)


def learned_until(learned: Learned, known_to: Instant) -> Learned:
    """What was learned from the lessons told before this moment."""
    told = [lesson for lesson in learned.lessons if lesson.told_at < known_to]
    return learned if len(told) == len(learned.lessons) else learn(told)


def adjusted(weights: ChannelWeights, factors: Mapping[str, float]) -> ChannelWeights:
    """The weights × the factor of their family; likeness and words stay shares of base relevance."""
    if not factors:
        return weights
    changed: dict[str, Any] = {}
    for family in FAMILIES:
        changed.update({name: getattr(weights, name) * factors[family.name] for name in family.weights})
    base = changed["likeness"] + weights.words * factors["words"]
    return replace(weights, **{**changed, "likeness": changed["likeness"] / base}) if base else weights


def question_words(lexicons: Mapping[GraphKey, Lexicon]) -> dict[str, float]:
    """The inverse document frequency of each stem of a question; of several levels the greatest."""
    found: dict[str, float] = {}
    for lexicon in lexicons.values():
        weights = word_weights(lexicon.frequencies or {}, lexicon.memories, lexicon.language)
        for stem, weight in weights.items():
            found[stem] = max(weight, found.get(stem, 0.0))
    return found


def use_priors(lessons: Iterable[Lesson], words: Mapping[str, float]) -> dict[str, float]:
    """How far each memory, by id, answered questions like the one of these words; in [−0.5, 1].

    What was told of the nearest such question counts: a used memory gets it × its trust, a wrong one loses half.
    """
    used: dict[str, float] = {}
    wrong: dict[str, float] = {}
    for lesson in lessons:
        # The cosine of two questions as vectors of weighted words, in [0, 1].
        others = lesson.words
        shared = math.fsum(weight * others[stem] for stem, weight in words.items() if stem in others)
        near = min(1.0, shared / (math.hypot(*words.values()) * math.hypot(*others.values()))) if shared else 0.0
        if near < NEAR:
            continue
        told = LIKE * near + SAME * near**SHARP
        for name, trust in lesson.used.items():
            used[name] = max(used.get(name, 0.0), told * trust)
        for name in lesson.wrong:
            wrong[name] = max(wrong.get(name, 0.0), told)
    return {name: used.get(name, 0.0) - WRONG * wrong.get(name, 0.0) for name in used.keys() | wrong.keys()}


def draw_lesson(
    order: Sequence[Score],
    parts: Mapping[Key, Mapping[str, float]],
    words: Mapping[str, float],
    *,
    used: Sequence[str],
    wrong: Sequence[str],
) -> Lesson:
    """The lesson of one feedback, from the answer to its question without any feedback.

    `order` and `parts`: of that answer, best first. A used memory that was not shown counts as the last one shown.
    """
    shown = list(order[:SHOWN])
    place = {score.key[1]: number for number, score in reversed(list(enumerate(shown)))}
    trust = {name: round(TRUSTED / (TRUSTED + place.get(name, SHOWN - 1)), _DIGITS) for name in used}
    found = [score for score in order if score.key[1] in trust]
    others = [score for score in order if score.key[1] in wrong]
    others += [score for score in shown if score.key[1] not in trust and score.key[1] not in wrong]
    pull = _pull(found, others, parts)
    return Lesson({stem: round(weight, _DIGITS) for stem, weight in words.items()}, trust, tuple(wrong), pull)


def _pull(
    used: Sequence[Score], others: Sequence[Score], parts: Mapping[Key, Mapping[str, float]]
) -> dict[str, float]:
    """The mean over all pairs of the difference of their parts × how unsettled their order is."""
    if not used or not others:
        return {}
    greatest = max(1.0, *(sum(scores.values()) for scores in parts.values()))
    shares = {score.key: _shares(parts[score.key], greatest) for score in (*used, *others)}
    sums: dict[str, list[float]] = {family.name: [] for family in FAMILIES}
    for one in used:
        for other in others:
            unsettled = 1.0 / (1.0 + math.exp(max(-50.0, min(50.0, (one.total - other.total) / MARGIN))))
            for name, values in sums.items():
                values.append(unsettled * (shares[one.key][name] - shares[other.key][name]))
    pairs = len(used) * len(others)
    return {name: round(math.fsum(values) / pairs, _DIGITS) for name, values in sums.items()}


def _shares(parts: Mapping[str, float], greatest: float) -> dict[str, float]:
    """By family the share of its parts in a score that is divided by the greatest one."""
    shares = dict.fromkeys((family.name for family in FAMILIES), 0.0)
    for family in FAMILIES:
        for part in family.parts:
            shares[family.name] += parts.get(part, 0.0) / greatest
    return shares


def learned_factors(learned: Learned) -> LearnedFactors:
    """What was learned, as the answer shows it."""
    return LearnedFactors(told=len(learned.lessons), factors=dict(learned.factors))
