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
from orchestration.question.tense import Tense, count_changes, is_unreal, speaks_of_self
from orchestration.ranking.candidates import Candidate, Candidates, Key
from orchestration.ranking.confidence import BARE_TYPES
from orchestration.ranking.consciousness_score import Score
from schemas.temporal import END_OF_TIME
from substrate.text import name_key, stems, word_language, words

PART: Final = "currency"
"""The term of a score that says what it gained for being true now."""
MOST_READ: Final = 60
MOST_FORMER: Final = 10
"""Only so many of the best hits are compared with each other, and as what held before."""
FOCUS: Final = 5
"""Within so many of the best hits the order is by time, where they tell of one thing."""
FOCUS_OF_PAST: Final = 3
"""The same in a question about the past: what was asked for stands there already, more often than not."""
LEAST_CHANGE: Final = 0.05
"""Where no change of a question is likelier, its changes are measured by this: it need not be about a change.
Hits that share no word need at least this: a model finds all texts of a language alike that it does not know."""
REORDERED: Final = 0.08
"""A change this likely, as a share of the likeliest of its question, is one by which hits change places."""
REORDERED_PAST: Final = 0.6
RAISED: Final = 0.3
"""The same for a later hit that is brought into the focus from below."""
SAID: Final = 0.5
"""A change at least this likely is shown as one."""
MOST_BEHIND: Final = 0.4
LEAST_LIKE: Final = 0.5
"""Where a later hit scores this much less than the earlier one, and has less than this share of its likeness to
the question, it is of something else: a store of a few memories has nothing better to compare with."""
LEAST_FOLDED: Final = 7
"""Voice, type, feelings and four words: a shorter text is no duplicate of another."""
DAY: Final = 86_400_000_000
SECOND: Final = 1_000_000
"""Both in microseconds. What is less than a second apart came by one list of commands: none is later news."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A hit as it is compared with others.

    `at`: when it began to hold. `voice`: whose words it is; only the same voice tells of its own changes. `total`:
    its score. `likeness`: to the question. `stems`: of its words. `gives_kind`: it gives a thing of the kind asked
    for. `changes`: how many of its words tell of a change. `own`: it speaks of the one who says it; `unreal`: of
    what might be. `passage`: a part of a long text, whose time does not say how one of its many things is now.
    """

    at: int
    voice: str
    total: float
    likeness: float | None
    stems: frozenset[str]
    gives_kind: bool = False
    changes: int = 0
    own: bool = True
    unreal: bool = False
    passage: bool = False


class Change(NamedTuple):
    """The places of two hits of which the `later` one may tell how it is now, and how likely, in [0, 1]."""

    earlier: int
    later: int
    probability: float


class Comparison(NamedTuple):
    """The best hits that speak for themselves, best first, and the changes among them, by their places.

    `giving`: the places of those that give a thing of the kind asked for, other than by the answering side.
    """

    keys: Sequence[Key] = ()
    changes: Sequence[Change] = ()
    giving: Collection[int] = ()

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
    hours; the share of the question's words in it; whether it is short; whether both are of one day; whether each
    speaks of the one who says it, or of what might be.
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
    same_day: float
    earlier_own: float
    later_own: float
    earlier_unreal: float
    later_unreal: float


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
    language = word_language(question.text)
    asked = stems(question.text, language)
    hits = [_hit(score, memories[score.key], question, language) for score in spoken]
    giving = {place for place, hit in enumerate(hits) if hit.gives_kind and hit.voice not in ANSWERING}
    changes = [change for change in find_changes(hits, asked) if is_of_one_thing(change, hits)]
    return Comparison([score.key for score in spoken], changes, giving)


def is_of_one_thing(change: Change, hits: Sequence[Hit]) -> bool:
    """Whether the later hit may be about what is asked for at all."""
    earlier, later = hits[change.earlier], hits[change.later]
    if change.probability < LEAST_CHANGE and earlier.stems.isdisjoint(later.stems):
        return False
    if change.probability >= SAID or earlier.total - later.total <= MOST_BEHIND:
        return True
    if earlier.likeness is None or later.likeness is None:
        return False
    return later.likeness >= LEAST_LIKE * earlier.likeness


def _speaks(memory: Candidate) -> bool:
    """Whether a memory has words of its own and nothing ended it: what was superseded says so itself."""
    ended = int(memory.get("invalid_at")) != END_OF_TIME or int(memory.get("expired_at")) != END_OF_TIME
    return not ended and memory.get("node_type") not in BARE_TYPES and bool(memory.get("description"))


def _hit(score: Score, memory: Candidate, question: Question, language: str) -> Hit:
    kind, text = question.answer_kind, memory.get("description")
    return Hit(
        at=int(memory.get("valid_at")),
        voice=_voice(score.key, memory),
        total=score.total,
        likeness=memory.likeness,
        stems=stems(text, language),
        gives_kind=kind is not None and gives_kind(kind, text, stems(question.text)),
        changes=count_changes(text),
        own=speaks_of_self(text),
        unreal=is_unreal(text),
        passage=memory.shown is not None,
    )


def fold_duplicates(
    order: Sequence[Score], candidates: Candidates
) -> tuple[list[Score], dict[Key, tuple[str, ...]]]:
    """The order without hits that say only what a better one of the same voice says, and the ids of those by it.

    Words that differ by case or punctuation are the same. So little a text as "thanks a lot" may be said twice;
    and two memories that are felt otherwise, or linked with each other, are two.
    """
    linked = {(link.level, link.source, link.target) for link in candidates.links.values()}
    kept: list[Score] = []
    first: dict[tuple[str, ...], Key] = {}
    others: defaultdict[Key, list[str]] = defaultdict(list)
    for score in order:
        memory = candidates.memories[score.key]
        said = _said(score.key, memory) if _speaks(memory) else ()
        best = first.setdefault(said, score.key) if len(said) >= LEAST_FOLDED else score.key
        level, ends = score.key[0], (best[1], score.key[1])
        joined = (level, *ends) in linked or (level, *reversed(ends)) in linked
        if best == score.key or best[1] == score.key[1] or joined:
            kept.append(score)
        else:
            others[best].append(score.key[1])
    return kept, {key: tuple(ids) for key, ids in others.items()}


def _said(key: Key, memory: Candidate) -> tuple[str, ...]:
    """Voice, type, feelings and words of a memory. The name of a turn is only its beginning."""
    name = "" if memory.get("speaker") else str(memory.get("name") or "")
    felt = str(memory.get("emotion_vector"))
    return (_voice(key, memory), str(memory.get("node_type")), felt, *words(f"{name} {memory.get('description')}"))


def _voice(key: Key, memory: Candidate) -> str:
    """Whose words a memory is: level and speaker, or author; the answering side is one voice on all levels."""
    speaker = name_key(memory.get("speaker") or memory.get("author") or "")
    return speaker if speaker in ANSWERING else f"{key[0]} {speaker}"


def find_changes(hits: Sequence[Hit], asked: Collection[str]) -> list[Change]:
    """The possible changes among the hits, best first, of a question with these stems."""
    pairs = list(compared(hits))
    scale = _measure(hits, frozenset(asked))
    return [Change(one, other, _probability(features(hits, one, other, scale))) for one, other in pairs]


def compared(hits: Sequence[Hit]) -> Iterator[tuple[int, int]]:
    """The places of each earlier hit among the best, and of each later one of the same voice."""
    first = hits[:MOST_READ]
    for one, earlier in enumerate(first[:MOST_FORMER]):
        if earlier.voice not in ANSWERING and not earlier.passage:
            for other, later in enumerate(first):
                if later.at - earlier.at >= SECOND and later.voice == earlier.voice and not later.passage:
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
        same_day=float(days < 1),
        earlier_own=float(earlier.own),
        later_own=float(later.own),
        earlier_unreal=float(earlier.unreal),
        later_unreal=float(later.unreal),
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


def order_by_currency(comparison: Comparison, tense: Tense | None, *, raising: bool) -> list[int]:
    """The places of the hits, which come best first, in the order that a question of this tense asks for.

    Present: within the focus a later hit stands above the earlier one whose subject it tells of; with `raising`,
    one from below takes the place of the hit in focus that has least to do with a change, unless the last one
    there gives what is asked for. Formerly: the earlier one stands above the later one. All others keep
    their order, and so do the hits of a question about an event: that happened once.
    """
    changes = comparison.changes
    places = list(range(len(comparison.keys)))
    if tense in (None, Tense.EVENT) or not changes:
        return places
    likeliest = max(LEAST_CHANGE, max(change.probability for change in changes))
    shares = {(change.earlier, change.later): change.probability / likeliest for change in changes}
    if tense is not Tense.PRESENT:
        later_ones = {(later, earlier): share for (earlier, later), share in shares.items()}
        return _with_head(places, _rearranged(places[:FOCUS_OF_PAST], later_ones, REORDERED_PAST))
    raising = raising and FOCUS - 1 not in comparison.giving
    head = _raised(places[:FOCUS], shares) if raising else places[:FOCUS]
    return _with_head(places, _rearranged(head, shares, REORDERED))


def places_by_currency(comparison: Comparison, keys: Sequence[Key], question: Question) -> dict[Key, float]:
    """The place of each of the keys, from 0; those that were not compared keep theirs.

    Empty for a question that is broad, or seeks the latest or the earliest, because each has its own order; and
    for one in the present tense that names a time, because it asks for what was then.
    """
    of_then = bool(question.periods) and question.tense is Tense.PRESENT
    if question.broad or question.seeking or of_then:
        return {}
    compared_keys = set(comparison.keys)
    order = order_by_currency(comparison, question.tense, raising=question.own)
    speaking = (comparison.keys[place] for place in order)
    placed = (next(speaking) if key in compared_keys else key for key in keys)
    return {key: float(place) for place, key in enumerate(placed)}


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
    """The second of each pair of places directly above the first, the likeliest pair first."""
    order = list(head)
    for (below, above), share in sorted(shares.items(), key=lambda pair: (-pair[1], pair[0])):
        if share >= least and below in order and above in order and order.index(above) > order.index(below):
            order.remove(above)
            order.insert(order.index(below), above)
    return order
