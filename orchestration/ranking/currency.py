"""Which of the hits of a question tell of one thing at different times, and in which order that puts them. Pure.

"I live in Berlin" and, half a year later, "the boxes are in Lisbon now" are a change: for a question about the
present the later one comes first, for one about the past the earlier one. How likely a later hit tells how it is
now is a logistic regression (Cox, 1958), whose weights are data: `currency.toml`.
"""

from __future__ import annotations

import math
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from itertools import islice
from typing import Final, NamedTuple

from orchestration.question.answer_kind import gives_kind
from orchestration.question.reading import ANSWERING, Question
from orchestration.question.tense import Tense, count_changes
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.confidence import BARE_TYPES
from orchestration.ranking.consciousness_score import Score
from schemas.temporal import END_OF_TIME
from substrate.text import name_key, stems

MOST_READ: Final = 60
"""Only so many of the best hits are compared with each other."""
MOST_FORMER: Final = 10
"""Only so many of the best hits are looked at as what held before."""
FOCUS: Final = 5
"""Within so many of the best hits the order is by time, where they tell of one thing."""
FOCUS_OF_PAST: Final = 3
"""The same in a question about the past: what was asked for stands there already, more often than not."""
LEAST_CHANGE: Final = 0.05
"""Where no change of a question is likelier, its changes are measured by this: it need not be about a change."""
REORDERED: Final = 0.1
"""A change this likely, as a share of the likeliest of its question, is one by which hits change places."""
REORDERED_PAST: Final = 0.6
RAISED: Final = 0.3
"""The same for a later hit that is brought into the focus from below."""
SAID: Final = 0.5
"""A change at least this likely is shown as one."""
DAY: Final = 86_400_000_000
"""Microseconds."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit as it is compared with others.

    `at`: when it began to hold. `voice`: whose words it is; only the same voice tells of its own changes. `total`:
    its score. `likeness`: to the question. `stems`: of its words. `gives_kind`: it gives a thing of the kind asked
    for. `changes`: how many of its words tell of a change.
    """

    at: int
    voice: str
    total: float
    likeness: float | None
    stems: frozenset[str]
    gives_kind: bool = False
    changes: int = 0


class Change(NamedTuple):
    """The places of two hits of which the `later` one may tell how it is now, and how likely, in [0, 1]."""

    earlier: int
    later: int
    probability: float


class Comparison(NamedTuple):
    """The best hits that speak for themselves, best first, and the changes among them, by their places."""

    keys: Sequence[Key] = ()
    changes: Sequence[Change] = ()

    def held_before(self) -> dict[Key, Key]:
        """By each hit that tells what no longer holds, the later one that most likely tells what does instead."""
        said = sorted(change for change in self.changes if change.probability >= SAID)
        likeliest = {change.earlier: change for change in sorted(said, key=lambda change: change.probability)}
        return {self.keys[change.earlier]: self.keys[change.later] for change in likeliest.values()}


NO_COMPARISON: Final = Comparison()


class Features(NamedTuple):
    """What speaks for a change, about [0, 1] each but `earlier_total` and `later_total`, which are at most 0.

    The ranks and totals of both; their likeness to the question, and whether the later one has none; the words of
    the question and the rare other words that both share; whether both give the kind of thing asked for; words of
    change in the later one; how late it is among all hits; the days between them, up to 200; whether these are
    hours; the share of the question's words in it; whether it is short.
    """

    earlier_rank: float
    later_rank: float
    earlier_total: float
    later_total: float
    earlier_likeness: float
    later_likeness: float
    later_unlike: float
    asked: float
    shared: float
    both_give: float
    changes: float
    lateness: float
    gap: float
    near: float
    asked_share: float
    brief: float


class _Scale(NamedTuple):
    """What the features of a question's hits are measured by: the best total, and the rarity of each stem."""

    best: float
    asked: frozenset[str]
    rarity: Mapping[str, float]
    lateness: Sequence[float]


@cache
def _weights() -> tuple[float, Features]:
    text = resources.files(__package__).joinpath("currency.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return float(table["intercept"]), Features(**table["weights"])


def compare_hits(order: Sequence[Score], candidates: Candidates, question: Question) -> Comparison:
    """The changes among the best of the candidates, which come best first."""
    memories = candidates.memories
    spoken = list(islice((score for score in order if _speaks(memories[score.key])), MOST_READ))
    asked = stems(question.text)
    hits = [_hit(score, memories[score.key], question, asked) for score in spoken]
    return Comparison([score.key for score in spoken], find_changes(hits, asked))


def _speaks(memory: Candidate) -> bool:
    """Whether a memory has words of its own and nothing ended it: what was superseded says so itself."""
    ended = int(memory.get("invalid_at")) != END_OF_TIME or int(memory.get("expired_at")) != END_OF_TIME
    return not ended and memory.get("node_type") not in BARE_TYPES and bool(memory.get("description"))


def _hit(score: Score, memory: Candidate, question: Question, asked: frozenset[str]) -> Hit:
    kind, text = question.answer_kind, memory.get("description")
    speaker = name_key(memory.get("speaker") or memory.get("author") or "")
    return Hit(
        at=int(memory.get("valid_at")),
        voice=speaker if speaker in ANSWERING else f"{score.key[0]} {speaker}",
        total=score.total,
        likeness=memory.likeness,
        stems=stems(text),
        gives_kind=kind is not None and gives_kind(kind, text, asked),
        changes=count_changes(text),
    )


def find_changes(hits: Sequence[Hit], asked: Collection[str]) -> list[Change]:
    """The possible changes among the hits, best first, of a question with these stems."""
    pairs = list(compared(hits))
    scale = _measure(hits, frozenset(asked))
    return [Change(one, other, _probability(features(hits, one, other, scale))) for one, other in pairs]


def compared(hits: Sequence[Hit]) -> Iterator[tuple[int, int]]:
    """The places of each earlier hit among the best, and of each later one of the same voice."""
    first = hits[:MOST_READ]
    for one, earlier in enumerate(first[:MOST_FORMER]):
        if earlier.voice not in ANSWERING:
            for other, later in enumerate(first):
                if later.at > earlier.at and later.voice == earlier.voice:
                    yield one, other


def features_of(hits: Sequence[Hit], asked: Collection[str]) -> list[Features]:
    """The features of all that is compared, in the order of `compared`."""
    scale = _measure(hits, frozenset(asked))
    return [features(hits, one, other, scale) for one, other in compared(hits)]


def features(hits: Sequence[Hit], one: int, other: int, scale: _Scale) -> Features:
    """What speaks for the hit at `other` telling how the subject of the one at `one` is now."""
    earlier, later = hits[one], hits[other]
    days = (later.at - earlier.at) / DAY
    found = sum(scale.rarity.get(word, 0.0) for word in later.stems & scale.asked)
    every = sum(scale.rarity.get(word, 0.0) for word in scale.asked)
    return Features(
        earlier_rank=1 / (1 + one),
        later_rank=1 / (1 + other),
        earlier_total=earlier.total - scale.best,
        later_total=later.total - scale.best,
        earlier_likeness=earlier.likeness or 0.0,
        later_likeness=later.likeness or 0.0,
        later_unlike=float(later.likeness is None),
        asked=min(4, len(earlier.stems & later.stems & scale.asked)) / 4,
        shared=_kinship(earlier.stems - scale.asked, later.stems - scale.asked, scale.rarity),
        both_give=float(earlier.gives_kind and later.gives_kind),
        changes=min(3, later.changes) / 3,
        lateness=scale.lateness[other],
        gap=min(1.0, days / 200),
        near=float(days < 1 / 12),
        asked_share=found / every if every else 0.0,
        brief=min(1.0, 20 / (1 + len(later.stems))),
    )


def _measure(hits: Sequence[Hit], asked: frozenset[str]) -> _Scale:
    holding = Counter(stem for hit in hits for stem in hit.stems)
    count = len(hits)
    rarity = {word: math.log(1 + (count - held + 0.5) / (held + 0.5)) for word, held in holding.items()}
    lateness = [0.0] * count
    for number, place in enumerate(sorted(range(count), key=lambda place: hits[place].at)):
        lateness[place] = number / max(1, count - 1)
    return _Scale(max((hit.total for hit in hits), default=0.0), asked, rarity, lateness)


def _kinship(one: frozenset[str], other: frozenset[str], rarity: Mapping[str, float]) -> float:
    """The cosine of two sets of stems, weighed by their rarity."""

    def norm(words: frozenset[str]) -> float:
        return math.sqrt(sum(rarity[word] ** 2 for word in words))

    both = norm(one) * norm(other)
    return sum(rarity[word] ** 2 for word in one & other) / both if both else 0.0


def _probability(read: Features) -> float:
    intercept, weights = _weights()
    log_odds = intercept + sum(weight * value for weight, value in zip(weights, read, strict=True))
    return 1.0 / (1.0 + math.exp(-log_odds))


def order_by_currency(count: int, changes: Sequence[Change], tense: Tense | None, *, raising: bool) -> list[int]:
    """The places of `count` hits, which come best first, in the order that a question of this tense asks for.

    Present: within the focus a later hit stands above the earlier one whose subject it tells of; with `raising`,
    one from below takes the place of the hit in focus that has least to do with a change. Past: the earlier one
    stands above the later one. All others keep their order.
    """
    places = list(range(count))
    if tense is None or not changes:
        return places
    likeliest = max(LEAST_CHANGE, max(change.probability for change in changes))
    shares = {(change.earlier, change.later): change.probability / likeliest for change in changes}
    if tense is not Tense.PRESENT:
        later_ones = {(later, earlier): share for (earlier, later), share in shares.items()}
        return _with_head(places, _rearranged(places[:FOCUS_OF_PAST], later_ones, REORDERED_PAST))
    head = _raised(places[:FOCUS], shares) if raising else places[:FOCUS]
    return _with_head(places, _rearranged(head, shares, REORDERED))


def _with_head(places: Sequence[int], head: Sequence[int]) -> list[int]:
    chosen = set(head)
    return [*head, *(place for place in places if place not in chosen)]


def _raised(head: Sequence[int], shares: Mapping[tuple[int, int], float]) -> list[int]:
    """The focus with the later hit from below that most likely tells how it is now, if one is likely enough."""
    tie: defaultdict[int, float] = defaultdict(float)
    from_below: defaultdict[int, float] = defaultdict(float)
    for (earlier, later), share in shares.items():
        tie[earlier], tie[later] = max(tie[earlier], share), max(tie[later], share)
        if earlier in head and later not in head:
            from_below[later] = max(from_below[later], share)
    best = min(from_below, key=lambda place: (-from_below[place], place), default=None)
    if best is None or from_below[best] < RAISED or len(head) < FOCUS:
        return list(head)
    loosest = min(head[1:], key=lambda place: (round(tie[place], 3), -place))
    return [*(place for place in head if place != loosest), best]


def _rearranged(head: Sequence[int], shares: Mapping[tuple[int, int], float], least: float) -> list[int]:
    """The second of each pair of places directly above the first, the likeliest pair last."""
    order = list(head)
    for (below, above), share in sorted(shares.items(), key=lambda pair: (pair[1], pair[0])):
        if share >= least and below in order and above in order and order.index(above) > order.index(below):
            order.remove(above)
            order.insert(order.index(below), above)
    return order
