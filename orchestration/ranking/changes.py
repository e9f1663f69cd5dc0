"""How likely a later hit tells how it is now what an earlier one told: all pairs of hits at once. Pure.

A logistic regression (Cox, 1958) whose weights are data: `currency.toml`.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from difflib import SequenceMatcher
from functools import cache
from importlib import resources
from itertools import chain, count, pairwise, permutations
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from orchestration.question.reading import ANSWERING
from orchestration.question.tense import Voice
from orchestration.ranking.texts import ReadText
from schemas.memory import GraphKey
from substrate.language.languages import DEFAULT_LANGUAGE
from substrate.language.text import stem

MOST_READ: Final = 60
MOST_FORMER: Final = 10
"""Only this many of the best hits are compared with each other, and as what held before."""
LEAST_CHANGE: Final = 0.025
"""What is less likely is no change."""
LEAST_SHARE: Final = 0.2
"""A change that is likely in a smaller share than the likeliest of its question says nothing."""
LEAST_OF_LAST: Final = 0.7
"""Of two hits that may have replaced one the last one did, where it is likely in this share of the other one."""
LIKELY: Final = 0.25
"""In a question that asks for something to be done only a change at least this likely is one."""
SAID: Final = 0.45
SAID_BESIDE: Final = 0.6
"""A change at least this likely is shown as one: of the hit that answers the question best, and of another one."""
MOST_COUNTED: Final = 2
"""More words of change than these say no more."""
MOST_COMPARED: Final = 40
"""This many of the likeliest pairs of a question are compared word by word."""
SLOT: Final = 2
SLOT_LENGTH: Final = 8
"""Where one text has other words than another, the first two of each, of at most eight, stand for one another."""
DAY: Final = 86_400_000_000
SECOND: Final = 1_000_000
"""Both in microseconds. What is less than a second apart came by one list of commands: none is later news."""

type Numbers = np.ndarray[Any, np.dtype[np.float64]]
type Instants = np.ndarray[Any, np.dtype[np.int64]]
type Flags = np.ndarray[Any, np.dtype[np.bool_]]
type Places = np.ndarray[Any, np.dtype[np.intp]]


type Whose = str | tuple[GraphKey, str]
"""Whose words a hit is: the answering side, or a level and who speaks there."""


class ComparedHit(NamedTuple):
    """A hit as it is compared with others.

    `at`: when it began to hold. `whose`: whose words it is; only the same voice tells of its own changes. `total`:
    its score. `likeness`: to the question. `stems`: of its words, in the `language` of the question. `gives_kind`:
    it gives a thing of the kind asked for. `passage`: a part of a long text, whose time does not say how one of
    its many things is now. `attribute`: it has a word for the attribute asked for, "moved" where one lives.
    """

    at: int
    whose: Whose
    total: float
    likeness: float | None
    text: ReadText
    voice: Voice
    stems: AbstractSet[str]
    language: str = DEFAULT_LANGUAGE
    gives_kind: bool = False
    passage: bool = False
    attribute: bool = False

    @property
    def roots(self) -> Sequence[str]:
        """The stems of its words in order, stop words too."""
        return self.text.roots(self.language)


class Change(NamedTuple):
    """The places of two hits of which the `later` one may tell how it is now, and how likely, in [0, 1]."""

    earlier: int
    later: int
    probability: float


class Features(NamedTuple):
    """What speaks for a change, about [0, 1] each but `earlier_total` and `later_total`, which are at most 0.

    The ranks and totals of both; the likeness of the later one to the question, and whether it has none; the words
    of the question that both share, how rare the rarest of their other common words is, and the share of all words
    that both have; the shares of the question's words that only the earlier one has, and only the later one;
    whether both give the kind of thing asked for, and have a word for the attribute; verbs and other words of
    change in the later one; how late it is among all hits; the days between them, up to 200; whether these are
    hours, and no verb tells of a change of it; the share of the question's words in the later one; whether it is
    short; whether the earlier one speaks of the one who says it, and each of what might be.
    """

    earlier_rank: float
    later_rank: float
    earlier_total: float
    later_total: float
    later_likeness: float
    later_unlike: float
    asked: float
    rarest: float
    alike: float
    lost: float
    gained: float
    both_give: float
    attribute: float
    verbs: float
    changes: float
    lateness: float
    gap: float
    near: float
    asked_share: float
    brief: float
    earlier_own: float
    earlier_unreal: float
    later_unreal: float


@cache
def _weights() -> tuple[float, Features]:
    text = resources.files(__package__).joinpath("currency.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return float(table["intercept"]), Features(**table["weights"])


def find_changes(hits: Sequence[ComparedHit], asked: frozenset[str]) -> list[Change]:
    """The possible changes among the hits, best first, of a question with these stems: each earlier hit among the
    best, with each later one of the same voice."""
    first = hits[:MOST_READ]
    former = [
        place for place, hit in enumerate(first[:MOST_FORMER]) if not (hit.whose in ANSWERING or hit.passage)
    ]
    at = _column(first, "at", np.int64)
    pairs = _comparable(first, former, at)
    if not pairs.any():
        return []
    words = _compare_words(first, asked, former)
    probability = 1.0 / (1.0 + np.exp(-_log_odds(first, former, at, words)))
    earlier, later = np.nonzero(pairs)
    likely = probability[pairs]
    changes: list[Change] = []
    least = LEAST_CHANGE
    for place in np.argsort(-likely, kind="stable")[:MOST_COMPARED].tolist():
        change = Change(former[earlier[place]], int(later[place]), float(likely[place]))
        if change.probability < least:
            break
        one, other = first[change.earlier], first[change.later]
        if not _is_of_another(one, other, asked):
            least = max(least, LEAST_SHARE * change.probability)
            changes.append(change)
    return _with_last(changes, at)


def _with_last(changes: Sequence[Change], at: Instants) -> list[Change]:
    """The changes, and that of two about as likely ones of one hit the last replaced what the other one told."""
    likely = {(change.earlier, change.later): change.probability for change in changes}
    for change, other in permutations(changes, 2):
        pair = change.later, other.later
        is_last = change.earlier == other.earlier and at[pair[0]] < at[pair[1]] and pair[0] < MOST_FORMER
        if is_last and other.probability >= LEAST_OF_LAST * change.probability:
            likely[pair] = max(likely.get(pair, 0.0), min(change.probability, other.probability))
    return [Change(*pair, likely[pair]) for pair in sorted(likely)]


def _column(hits: Sequence[ComparedHit], name: str, kind: type[np.generic] = np.float64) -> np.ndarray[Any, Any]:
    return np.array(list(map(attrgetter(name), hits)), kind)


def _is_of_another(earlier: ComparedHit, later: ComparedHit, asked: frozenset[str]) -> bool:
    """Whether one of the hits tells of another thing than the one asked for, of which the other hit tells, or the
    later one is not meant: "the south gate" beside "the north gate", run 18 beside run 17.

    So is what tells of somebody of whom neither the question nor the earlier hit speaks ("my brother moved").
    One lacks a word of the question that the other one has. Where that is a number, they are of two things; else
    where it has a word of its own in the same place of the sentence. Where a verb tells of a change the sentences
    differ: there only a word beside one that both have counts, "the sugar supplier" and "the flour supplier".
    """
    other = later.voice.other
    if other and stem(other, later.language) not in earlier.stems | asked:
        return True
    lacks = earlier.stems & asked - later.stems, later.stems & asked - earlier.stems
    if later.voice.unmeant or earlier.stems == later.stems or any(map(_has_digit, chain.from_iterable(lacks))):
        return True
    of_two = _stands_beside if later.voice.verbs else _stands_for
    for one, another, lacking in zip((earlier, later), (later, earlier), lacks, strict=True):
        own = another.stems - one.stems - asked
        if lacking and own and of_two(one, another, lacking, own):
            return True
    return False


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _stands_for(one: ComparedHit, other: ComparedHit, lacking: AbstractSet[str], own: AbstractSet[str]) -> bool:
    """Whether a word of the other hit's own stands in it where the first one has a word that the other lacks."""
    roots, others = one.roots, other.roots
    for kind, start, end, begin, until in SequenceMatcher(None, roots, others, autojunk=False).get_opcodes():
        if kind == "replace" and end - start <= SLOT_LENGTH and until - begin <= SLOT_LENGTH:
            in_slot = roots[start : min(end, start + SLOT)], others[begin : min(until, begin + SLOT)]
            if not (lacking.isdisjoint(in_slot[0]) or own.isdisjoint(in_slot[1])):
                return True
    return False


def _stands_beside(one: ComparedHit, other: ComparedHit, lacking: AbstractSet[str], own: AbstractSet[str]) -> bool:
    """Whether a word of both stands beside a lacking one in the first hit, and beside an own one in the other."""
    for side in (1, -1):
        named = {after for word, after in pairwise(one.roots[::side]) if word in lacking and after in other.stems}
        if any(after in named and word in own for word, after in pairwise(other.roots[::side])):
            return True
    return False


def _comparable(first: Sequence[ComparedHit], former: Sequence[int], at: Instants) -> Flags:
    """For each of the former hits a row: which of all hits are later words of the same voice."""
    voices: dict[Whose, int] = {}
    numbers = [-1 if hit.passage else voices.setdefault(hit.whose, len(voices)) for hit in first]
    voice = np.array(numbers, np.intp)
    comparable: Flags = (at - at[former][:, None] >= SECOND) & (voice == voice[former][:, None])
    return comparable


def read_features(
    first: Sequence[ComparedHit], former: Sequence[int], at: Instants, words: _Words
) -> dict[str, Numbers]:
    """The features by name: of each former hit in rows, of each hit in columns, or of both."""
    days = (at - at[former][:, None]) / DAY
    gives, attribute = _column(first, "gives_kind", np.bool_), _column(first, "attribute", np.bool_)
    verbs, own, unreal = _column(first, "voice.verbs"), _column(first, "voice.own"), _column(first, "voice.unreal")
    of_one = (words.asked + words.rarest > 0.0) | (attribute[former][:, None] & attribute)
    places, total, likeness = np.arange(1, len(first) + 1), _column(first, "total"), _column(first, "likeness")
    is_unlike, behind = np.isnan(likeness), total - total.max()
    like, many = np.where(is_unlike, 0.0, likeness), np.array([len(hit.stems) for hit in first])
    lateness = np.empty(len(at))  # the place of each hit in the order of time, in [0, 1]
    lateness[np.argsort(at, kind="stable")] = np.arange(len(at)) / max(1, len(at) - 1)
    of_earlier = {
        "earlier_rank": 1.0 / places,
        "earlier_total": behind,
        "earlier_own": own,
        "earlier_unreal": unreal,
    }
    return {
        **{name: values[former][:, None] for name, values in of_earlier.items()},
        "later_rank": 1.0 / places,
        "later_total": behind,
        "later_likeness": like,
        "later_unlike": is_unlike,
        "later_unreal": unreal,
        "verbs": np.minimum(MOST_COUNTED, verbs),
        "changes": np.minimum(MOST_COUNTED, _column(first, "voice.changes")),
        "lateness": lateness,
        "asked_share": words.asked_share,
        "brief": np.minimum(1.0, 20.0 / (1.0 + many)),
        "asked": np.minimum(4.0, words.asked) / 4.0,
        "rarest": words.rarest,
        "alike": words.alike,
        "lost": words.lost,
        "gained": words.gained,
        "both_give": gives[former][:, None] & gives,
        "attribute": attribute[former][:, None] & attribute,
        "gap": np.minimum(1.0, days / 200),
        "near": (days < 1 / 12) & ~(of_one & (verbs > 0)),
    }


def _log_odds(first: Sequence[ComparedHit], former: Sequence[int], at: Instants, words: _Words) -> Numbers:
    """The log odds that each hit, in columns, tells how the subject of each former one, in rows, is now."""
    intercept, weights = _weights()
    odds = np.full((len(former), len(first)), intercept)
    for name, values in read_features(first, former, at, words).items():
        odds += getattr(weights, name) * values
    return odds


class _Words(NamedTuple):
    """The words of the hits: for each former hit, in rows, and each hit, in columns, how many asked words both
    have, how rare the rarest other word of both is, the share of the words of the longer one that both have, and
    the shares of the question's words that only the former, or only the other one has; for each hit the share of
    the question's words that it has. Shares of the question are weighed by rarity among the hits."""

    asked: Numbers
    rarest: Numbers
    alike: Numbers
    lost: Numbers
    gained: Numbers
    asked_share: Numbers


def _compare_words(hits: Sequence[ComparedHit], asked: Collection[str], former: Sequence[int]) -> _Words:
    """No product of matrices: the library would call several threads for it, which costs more than it brings."""
    said = list(chain.from_iterable([hit.stems for hit in hits]))
    numbers = count()
    number = defaultdict(numbers.__next__, zip(asked, numbers, strict=False))
    stems = np.fromiter(map(number.__getitem__, said), np.intp, len(said))
    many = np.array([len(hit.stems) for hit in hits], np.intp)
    owner = np.repeat(np.arange(len(hits)), many)
    starts = np.cumsum(many) - many
    holding = np.bincount(stems, minlength=len(number))
    rarity = np.log(1.0 + (len(hits) - holding + 0.5) / (holding + 0.5))
    of_question = len(asked)
    every = float(rarity[:of_question][holding[:of_question] > 0].sum())
    in_question = stems < of_question
    found = np.bincount(owner, rarity[stems] * in_question, len(hits))
    held = np.zeros((len(former), len(number)))
    for row, place in enumerate(former):
        held[row, stems[starts[place] : starts[place] + many[place]]] = 1.0
    both = held.take(stems, axis=1)
    weighed = _by_hit(np.add, both * (rarity[stems] * in_question), starts, many) / (every or 1.0)
    asked_share = found / (every or 1.0)
    longer = np.maximum(np.maximum(many[former][:, None], many), 1)
    return _Words(
        asked=_by_hit(np.add, both * in_question, starts, many),
        rarest=_by_hit(np.maximum, both * (rarity[stems] * ~in_question), starts, many)
        / float(rarity.max(initial=1.0)),
        alike=_by_hit(np.add, both, starts, many) / longer,
        lost=asked_share[former][:, None] - weighed,
        gained=asked_share - weighed,
        asked_share=asked_share,
    )


def _by_hit(gather: np.ufunc, rows: Numbers, starts: Places, many: Places) -> Numbers:
    """For each row its values gathered by hit: those of each hit are this many, from its start on."""
    gathered = np.zeros((len(rows), len(many)))
    filled = np.flatnonzero(many)
    if len(filled):
        gathered[:, filled] = gather.reduceat(rows, starts[filled], axis=1)
    return gathered
