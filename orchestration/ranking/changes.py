"""How likely a later hit tells how it is now what an earlier one told: all pairs of hits at once. Pure.

A logistic regression (Cox, 1958) whose weights are data: `currency.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib import resources
from typing import Any, Final, NamedTuple

import numpy as np

from orchestration.question.reading import ANSWERING

MOST_READ: Final = 60
MOST_FORMER: Final = 10
"""Only so many of the best hits are compared with each other, and as what held before."""
DAY: Final = 86_400_000_000
SECOND: Final = 1_000_000
"""Both in microseconds. What is less than a second apart came by one list of commands: none is later news."""

type Numbers = np.ndarray[Any, np.dtype[np.float64]]
type Instants = np.ndarray[Any, np.dtype[np.int64]]
type Flags = np.ndarray[Any, np.dtype[np.bool_]]
type Places = np.ndarray[Any, np.dtype[np.intp]]


class Hit(NamedTuple):
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
    stems: AbstractSet[str]
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


@cache
def _weights() -> tuple[float, Features]:
    text = resources.files(__package__).joinpath("currency.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return float(table["intercept"]), Features(**table["weights"])


def find_changes(hits: Sequence[Hit], asked: Collection[str]) -> list[Change]:
    """The possible changes among the hits, best first, of a question with these stems: each earlier hit among the
    best, with each later one of the same voice."""
    first = hits[:MOST_READ]
    former = [
        place for place, hit in enumerate(first[:MOST_FORMER]) if not (hit.voice in ANSWERING or hit.passage)
    ]
    at = np.array([hit.at for hit in first], np.int64)
    pairs = _comparable(first, former, at)
    if not pairs.any():
        return []
    odds = _log_odds(first, asked, former, at)[pairs]
    earlier, later = np.nonzero(pairs)
    probabilities = 1.0 / (1.0 + np.exp(-odds))
    places = [former[row] for row in earlier.tolist()]
    return list(map(Change, places, later.tolist(), probabilities.tolist()))


def _comparable(first: Sequence[Hit], former: Sequence[int], at: Instants) -> Flags:
    """For each of the former hits a row: which of all hits are later words of the same voice."""
    voices: dict[str, int] = {}
    voice = np.array([voices.setdefault(hit.voice, len(voices)) for hit in first], np.intp)
    whole = np.array([not hit.passage for hit in first], np.bool_)
    later: Flags = at[None, :] - at[former][:, None] >= SECOND
    comparable: Flags = later & (voice[None, :] == voice[former][:, None]) & whole
    return comparable


def _log_odds(first: Sequence[Hit], asked: Collection[str], former: Sequence[int], at: Instants) -> Numbers:
    """The log odds that each hit, in columns, tells how the subject of each former one, in rows, is now."""
    intercept, weights = _weights()
    read = _read_hits(first)
    days = (at[None, :] - at[former][:, None]) / DAY
    words = _compare_words(first, asked, former)
    of_pairs = (
        weights.asked * np.minimum(4.0, words.asked) / 4.0
        + weights.shared * words.kinship
        + weights.both_give * (read.gives[former][:, None] & read.gives)
        + weights.gap * np.minimum(1.0, days / 200)
        + weights.near * (days < 1 / 12)
        + weights.same_day * (days < 1)
    )
    of_earlier = (
        weights.earlier_rank * read.rank
        + weights.earlier_total * read.total
        + weights.earlier_likeness * read.likeness
        + weights.earlier_own * read.own
        + weights.earlier_unreal * read.unreal
    )
    of_later = (
        weights.later_rank * read.rank
        + weights.later_total * read.total
        + weights.later_likeness * read.likeness
        + weights.later_unlike * read.unlike
        + weights.changes * np.minimum(3.0, read.changes) / 3.0
        + weights.lateness * _lateness(at)
        + weights.asked_share * words.asked_share
        + weights.brief * np.minimum(1.0, 20.0 / (1.0 + words.many))
        + weights.later_own * read.own
        + weights.later_unreal * read.unreal
    )
    odds: Numbers = intercept + of_earlier[former][:, None] + of_later + of_pairs
    return odds


class _Columns(NamedTuple):
    """What the features are made of, one number for each hit. `rank` is 1 / place, `total` at most 0."""

    rank: Numbers
    total: Numbers
    likeness: Numbers
    unlike: Flags
    gives: Flags
    changes: Numbers
    own: Flags
    unreal: Flags


def _read_hits(hits: Sequence[Hit]) -> _Columns:
    totals = np.array([hit.total for hit in hits], np.float64)
    return _Columns(
        rank=1.0 / np.arange(1, len(hits) + 1),
        total=totals - totals.max(),
        likeness=np.array([hit.likeness or 0.0 for hit in hits], np.float64),
        unlike=np.array([hit.likeness is None for hit in hits], np.bool_),
        gives=np.array([hit.gives_kind for hit in hits], np.bool_),
        changes=np.array([hit.changes for hit in hits], np.float64),
        own=np.array([hit.own for hit in hits], np.bool_),
        unreal=np.array([hit.unreal for hit in hits], np.bool_),
    )


def _lateness(at: Instants) -> Numbers:
    """The place of each hit in the order of time, in [0, 1]."""
    lateness = np.empty(len(at))
    lateness[np.argsort(at, kind="stable")] = np.arange(len(at)) / max(1, len(at) - 1)
    return lateness


class _Words(NamedTuple):
    """The words of the hits: for each former hit, in rows, and each hit, in columns, how many asked words
    both have, and the kinship of their other words; for each hit the share of the question's words that it has,
    weighed by rarity, and how `many` words it has in all."""

    asked: Numbers
    kinship: Numbers
    asked_share: Numbers
    many: Numbers


def _compare_words(hits: Sequence[Hit], asked: Collection[str], former: Sequence[int]) -> _Words:
    """Kinship is the cosine of two sets of stems, weighed by their rarity among the hits.

    No product of matrices: the library would call several threads for it, which costs more than it brings.
    """
    number: dict[str, int] = {stem: place for place, stem in enumerate(asked)}
    of_question = len(number)
    stems = np.array([number.setdefault(stem, len(number)) for hit in hits for stem in hit.stems], np.intp)
    many = np.array([len(hit.stems) for hit in hits], np.intp)
    owner = np.repeat(np.arange(len(hits)), many)
    ends = np.cumsum(many)
    holding = np.bincount(stems, minlength=len(number))
    rarity = np.log(1.0 + (len(hits) - holding + 0.5) / (holding + 0.5))
    rarity[holding == 0] = 0.0
    squares = rarity * rarity
    squares[:of_question] = 0.0
    length = np.sqrt(np.bincount(owner, squares[stems], len(hits)))
    in_question = stems < of_question
    held = np.zeros((len(former), len(number)))
    for row, place in enumerate(former):
        held[row, stems[ends[place] - many[place] : ends[place]]] = 1.0
    products = _sums_by_hit((held * squares)[:, stems], owner, len(hits))
    shared = _sums_by_hit(held[:, stems[in_question]], owner[in_question], len(hits))
    both = length[former][:, None] * length
    every = float(rarity[:of_question].sum())
    found = np.bincount(owner[in_question], rarity[stems[in_question]], len(hits))
    return _Words(
        asked=shared,
        kinship=np.divide(products, both, out=np.zeros_like(products), where=both > 0.0),
        asked_share=found / every if every else np.zeros(len(hits)),
        many=many.astype(np.float64),
    )


def _sums_by_hit(rows: Numbers, owner: Places, hits: int) -> Numbers:
    """For each row the sum of its values by the hit that owns each column."""
    bins = (owner + hits * np.arange(len(rows))[:, None]).ravel()
    sums: Numbers = np.bincount(bins, rows.ravel(), hits * len(rows)).reshape(len(rows), hits)
    return sums
