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
from itertools import chain, count, pairwise
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from orchestration.question.languages import read_codes
from orchestration.question.reading import ANSWERING
from orchestration.question.tense import QUESTION_MARKS, Voice
from orchestration.ranking.texts import MOST_ROOTS, ReadText
from schemas.memory import GraphKey
from substrate.language.languages import DEFAULT_LANGUAGE
from substrate.language.text import language_of, pattern_of, stem, stop_words

MOST_READ: Final = 60
MOST_FORMER: Final = 10
"""Only this many of the best hits are compared with each other, and as what held before."""
LEAST_CHANGE: Final = 0.03
LEAST_BY_HALF: Final = 0.1
LEAST_APART: Final = 0.3
"""What is less likely is no change: of two hits that share a word, where the later one has a word of the question
or a verb of change; with one of these alone; and with neither, because a model finds all texts of a language alike
that it does not know."""
LEAST_SHARE: Final = 0.08
"""A change that is likely in a smaller share than the likeliest of its question says nothing."""
LIKELY: Final = 0.25
"""A change at least this likely is one, however little the later hit is like the question."""
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
KEYED: Final = 0.9
"""At least so likely is a change between two statements of one key: the same words but for one value."""
VALUE_LENGTH: Final = 5
KEY_LENGTH: Final = 3
"""A value has at most so many words, and a key at least."""
OPENING: Final = 6
"""Statements of one key begin alike: so many characters of their normal form."""
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
    its score. `likeness`: to the question. `stems`: of its words, in the `language` of the question. `passage`: a
    part of a long text, whose time does not say how one of its many things is now. `attribute`: it has a word for
    the attribute asked for, "moved" where one lives.
    """

    at: int
    whose: Whose
    total: float
    likeness: float | None
    text: ReadText
    voice: Voice
    stems: AbstractSet[str]
    language: str = DEFAULT_LANGUAGE
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

    The ranks and totals of both; their likeness to the question, and whether the later one has none; the words of
    the question and the rare other words that both share; verbs and other words of change in the later one; how
    late it is among all hits; the days between them, up to 200; whether these are hours, and no verb tells of a
    change of it; whether the later one is short; whether it speaks of the one who says it, or of what might be.
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
    verbs: float
    changes: float
    lateness: float
    gap: float
    near: float
    brief: float
    later_own: float
    later_unreal: float


@cache
def read_weights() -> tuple[float, Features]:
    """The intercept and the weights of `currency.toml`."""
    text = resources.files(__package__).joinpath("currency.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    return float(table["intercept"]), Features(**table["weights"])


def find_changes(hits: Sequence[ComparedHit], asked: frozenset[str]) -> list[Change]:
    """The possible changes among the hits, best first, of a question with these stems: each earlier hit among the
    best, with each later one of the same voice that may be about what is asked for at all."""
    first = hits[:MOST_READ]
    former = [
        place for place, hit in enumerate(first[:MOST_FORMER]) if not (hit.whose in ANSWERING or hit.passage)
    ]
    at = column_of(first, "at", np.int64)
    pairs = find_comparable(first, former, at)
    if not pairs.any():
        return []
    words = compare_words(first, asked, former)
    probability = 1.0 / (1.0 + np.exp(-log_odds(first, former, at, words)))
    favour_keys(probability, pairs, first, former, asked=asked)
    earlier, later = np.nonzero(pairs)
    likely = probability[pairs]
    changes, least = list[Change](), LEAST_CHANGE
    for place in np.argsort(-likely, kind="stable")[:MOST_COMPARED].tolist():
        change = Change(former[earlier[place]], int(later[place]), float(likely[place]))
        if change.probability < least:
            break
        one, other = first[change.earlier], first[change.later]
        if change.probability >= least_between(one, other, asked) and not is_of_another(one, other, asked):
            least = max(least, LEAST_SHARE * change.probability)
            changes.append(change)
    return sorted(changes)


def column_of(hits: Sequence[ComparedHit], name: str, kind: type[np.generic] = np.float64) -> np.ndarray[Any, Any]:
    """One field of all hits, by its dotted name."""
    return np.array(list(map(attrgetter(name), hits)), kind)


def least_between(earlier: ComparedHit, later: ComparedHit, asked: frozenset[str]) -> float:
    """How likely a change between two hits has to be: the less, the more they have to do with each other."""
    if later.language not in read_codes():  # its words of change are not known
        return SAID_BESIDE
    shared = not earlier.stems.isdisjoint(later.stems) or (earlier.attribute and later.attribute)
    if shared and (later.voice.verbs or later.attribute or not later.stems.isdisjoint(asked)):
        return LEAST_CHANGE
    return LEAST_BY_HALF if shared or later.voice.verbs else LEAST_APART


def is_of_another(earlier: ComparedHit, later: ComparedHit, asked: frozenset[str]) -> bool:
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
    if later.voice.unmeant or earlier.stems == later.stems or any(map(has_digit, chain.from_iterable(lacks))):
        return True
    of_two = stands_beside if later.voice.verbs else stands_for
    for one, another, lacking in zip((earlier, later), (later, earlier), lacks, strict=True):
        if lacking and (own := another.stems - one.stems - asked) and of_two(one, another, lacking, own):
            return True
    return False


def has_digit(word: str) -> bool:
    """Whether a word has a digit."""
    return any(map(str.isdigit, word))


def stands_for(one: ComparedHit, other: ComparedHit, lacking: AbstractSet[str], own: AbstractSet[str]) -> bool:
    """Whether a word of the other hit's own stands in it where the first one has a word that the other lacks."""
    roots, others = one.roots, other.roots
    for kind, start, end, begin, until in SequenceMatcher(None, roots, others, autojunk=False).get_opcodes():
        if kind == "replace" and end - start <= SLOT_LENGTH and until - begin <= SLOT_LENGTH:
            in_slot = roots[start : min(end, start + SLOT)], others[begin : min(until, begin + SLOT)]
            if not (lacking.isdisjoint(in_slot[0]) or own.isdisjoint(in_slot[1])):
                return True
    return False


def stands_beside(one: ComparedHit, other: ComparedHit, lacking: AbstractSet[str], own: AbstractSet[str]) -> bool:
    """Whether a word of both stands beside a lacking one in the first hit, and beside an own one in the other."""
    for side in (1, -1):
        named = {after for word, after in pairwise(one.roots[::side]) if word in lacking and after in other.stems}
        if any(after in named and word in own for word, after in pairwise(other.roots[::side])):
            return True
    return False


def find_comparable(first: Sequence[ComparedHit], former: Sequence[int], at: Instants) -> Flags:
    """For each of the former hits a row: which of all hits are later words of the same voice."""
    voices: dict[Whose, int] = {}
    numbers = [-1 if hit.passage else voices.setdefault(hit.whose, len(voices)) for hit in first]
    voice = np.array(numbers, np.intp)
    comparable: Flags = (at - at[former][:, None] >= SECOND) & (voice == voice[former][:, None])
    return comparable


def favour_keys(
    probability: Numbers,
    pairs: Flags,
    first: Sequence[ComparedHit],
    former: Sequence[int],
    *,
    asked: frozenset[str],
) -> None:
    """Make a change between two statements of one key likely, and drop those between one of them and a hit of
    another key that no verb tells of."""
    openings = np.array(list(map(attrgetter("text.flat"), first)), f"<U{OPENING}")
    alike = np.argwhere(pairs & (openings[former][:, None] == openings)).tolist()
    keyed = list(filter(lambda pair: have_one_key(first[former[pair[0]]], first[pair[1]], asked), alike))
    if not keyed:
        return
    rows, places = np.array(keyed).T
    known = np.isin(np.arange(len(first)), [*places, *np.array(former)[rows]])
    pairs &= ~(known | known[former][:, None]) | (column_of(first, "voice.verbs") > 0)
    pairs[rows, places] = True
    probability[rows, places] = np.maximum(KEYED, probability[rows, places])


def have_one_key(one: ComparedHit, other: ComparedHit, asked: frozenset[str]) -> bool:
    """Whether two statements have the same words but for a value, as "Ada lives in Lund" and "Ada lives in Graz".

    The question has a word of the key, and none of a value. A key names a subject and what is told of it: a value
    has no helping verb, nor follows one with words of its own ("is [led by Hugo]"), nor the name that is asked for
    ("Ada [plays chess]"), and what stands behind it is asked for. What adds to a list ("Ada likes figs", "I play
    chess too") replaces nothing.
    """
    said, others = one.text.words[:MOST_ROOTS], other.text.words[:MOST_ROOTS]
    begin = alike_until(said, others)
    end = alike_until(said[begin:][::-1], others[begin:][::-1])
    values = said[begin : len(said) - end], others[begin : len(others) - end]
    shortest, longest = sorted(map(len, values))
    if not (begin and begin + end >= KEY_LENGTH and 0 < shortest <= longest <= VALUE_LENGTH):
        return False
    roots, behind = one.roots, one.stems & {*one.roots[len(said) - end :]}
    told = behind | one.stems & {*roots[:begin]}
    valued = {*roots[begin : len(said) - end], *other.roots[begin : len(others) - end]}
    if told.isdisjoint(asked) or not valued.isdisjoint(asked) or not behind <= asked:
        return False
    last, spoken = said[begin - 1], language_of(one.text.text)
    helping, silent = spoken.telling.words["auxiliaries"], stop_words(spoken.code)
    is_name = begin > 1 and roots[begin - 1] in asked and last.capitalize() in one.text.text.split()
    is_part = last in helping and not silent.isdisjoint((*values[0][1:2], *values[1][1:2]))
    if is_name or is_part or any(map(silent.issuperset, values)) or not helping.isdisjoint(chain(*values)):
        return False
    text = f"{one.text.text} {other.text.text}"
    if pattern_of(spoken.code, "change.growing").search(text.lower()) or not {*text}.isdisjoint(QUESTION_MARKS):
        return False
    return len(told) > 1 or (one.voice.own and other.voice.own)


def alike_until(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words two texts have in common before the first that differs."""
    place = 0
    while one[place : place + 1] == other[place : place + 1] != one[:0]:
        place += 1
    return place


def log_odds(first: Sequence[ComparedHit], former: Sequence[int], at: Instants, words: _Words) -> Numbers:
    """The log odds that each hit, in columns, tells how the subject of each former one, in rows, is now."""
    intercept, weights = read_weights()
    days = (at - at[former][:, None]) / DAY
    attribute = column_of(first, "attribute", np.bool_)
    verbs, own, unreal = (
        column_of(first, "voice.verbs"),
        column_of(first, "voice.own"),
        column_of(first, "voice.unreal"),
    )
    of_one = (words.asked + words.kinship > 0.0) | (attribute[former][:, None] & attribute)
    of_pairs = (
        weights.asked * np.minimum(4.0, words.asked) / 4.0
        + weights.shared * words.kinship
        + weights.gap * np.minimum(1.0, days / 200)
        + weights.near * ((days < 1 / 12) & ~(of_one & (verbs > 0)))
    )
    places, total, likeness = np.arange(1, len(first) + 1), column_of(first, "total"), column_of(first, "likeness")
    is_unlike, behind = np.isnan(likeness), total - total.max()
    of_earlier = (
        weights.earlier_rank / places
        + weights.earlier_total * behind
        + weights.earlier_likeness * np.where(is_unlike, 0.0, likeness)
    )[former]
    of_later = (
        weights.later_rank / places
        + weights.later_total * behind
        + np.where(is_unlike, weights.later_unlike, weights.later_likeness * likeness)
        + weights.verbs * np.minimum(MOST_COUNTED, verbs)
        + weights.changes * np.minimum(MOST_COUNTED, column_of(first, "voice.changes"))
        + weights.brief * np.minimum(1.0, 20.0 / (1.0 + np.array(list(map(len, map(attrgetter("stems"), first))))))
        + weights.later_own * own
        + weights.later_unreal * unreal
    )
    lateness = np.empty(len(at))  # the place of each hit in the order of time, in [0, 1]
    lateness[np.argsort(at, kind="stable")] = np.arange(len(at)) / max(1, len(at) - 1)
    of_later += weights.lateness * lateness
    odds: Numbers = intercept + of_earlier[:, None] + of_later + of_pairs
    return odds


class _Words(NamedTuple):
    """The words of the hits: for each former hit, in rows, and each hit, in columns, how many asked words both
    have and the kinship of their other words."""

    asked: Numbers
    kinship: Numbers


def compare_words(hits: Sequence[ComparedHit], asked: Collection[str], former: Sequence[int]) -> _Words:
    """Kinship is the cosine of two sets of stems, weighed by their rarity among the hits.

    No product of matrices: the library would call several threads for it, which costs more than it brings.
    """
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
    in_question = stems < of_question
    squares = rarity[stems] ** 2 * ~in_question
    length = np.sqrt(np.bincount(owner, squares, len(hits)))
    held = np.zeros((len(former), len(number)))
    for row, place in enumerate(former):
        held[row, stems[starts[place] : starts[place] + many[place]]] = 1.0
    both = held.take(stems, axis=1)
    products = sums_by_hit(both * squares, starts, many)
    shared = sums_by_hit(both * in_question, starts, many)
    lengths = length[former][:, None] * length
    return _Words(
        asked=shared,
        kinship=np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0.0),
    )


def sums_by_hit(rows: Numbers, starts: Places, many: Places) -> Numbers:
    """For each row the sum of its values by hit: that of each hit are this many, from its start on."""
    sums = np.zeros((len(rows), len(many)))
    filled = np.flatnonzero(many)
    if len(filled):
        sums[:, filled] = np.add.reduceat(rows, starts[filled], axis=1)
    return sums
