"""The days, hours and amounts to which a rule is limited, and those that an action names. Pure.

"Never on Fridays" is limited to a day, "before 9 am" to hours, "more than 100 euros" to amounts. The words stand
in the files of the languages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final, Literal, NamedTuple

from orchestration.appraisal.speech import Token
from substrate.language.languages import Language

type Bound = Literal["exactly", "over", "under"]
type Fit = Literal["holds", "fails", "untold"]

DAY_MINUTES: Final = 24 * 60
_CLOCK: Final = re.compile(r"([01]?\d|2[0-4])[:.]([0-5]\d)(am|pm)?")
_HALF_DAY: Final = re.compile(r"(1[0-2]|[1-9])(am|pm)")
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_SIGNS: Final = {"€": "euro", "$": "dollar", "£": "pound"}


class Amount(NamedTuple):
    """A number with its unit, as a stem or ''. `bound`: over or under it, or exactly this many."""

    value: float
    unit: str
    bound: Bound = "exactly"


class Hours(NamedTuple):
    """Minutes of the day from `start` to before `end`; over midnight where `end` is not after `start`.

    Not `sure`: one of two readings of an hour without its half of the day.
    """

    start: int
    end: int
    sure: bool = True

    def minutes(self) -> list[tuple[int, int]]:
        if self.start < self.end:
            return [(self.start, self.end)]
        return [(self.start, DAY_MINUTES), (0, self.end)]

    def meets(self, other: Hours) -> bool:
        return any(a < d and c < b for a, b in self.minutes() for c, d in other.minutes())


class Limits(NamedTuple):
    """What some words say of days (0 is Monday), hours and amounts. `taken`: the places of these words."""

    days: frozenset[int] = frozenset()
    hours: tuple[Hours, ...] = ()
    amounts: tuple[Amount, ...] = ()
    taken: frozenset[int] = frozenset()

    def joined(self, other: Limits) -> Limits:
        return Limits(self.days | other.days, self.hours + other.hours, self.amounts + other.amounts)

    def any(self) -> bool:
        return bool(self.days or self.hours or self.amounts)


def compare(rule: Limits, action: Limits) -> Fit:
    """Whether an action lies within the limits of a rule; `untold` where it does not say.

    It fails as soon as one of day, hour or amount lies outside.
    """
    fits: list[Fit] = []
    if rule.days:
        fits.append("untold" if not action.days else "holds" if rule.days & action.days else "fails")
    if rule.hours:
        met = {own.meets(other) for own in rule.hours for other in action.hours}
        doubted = len(met) > 1 and {hours.sure for hours in (*rule.hours, *action.hours)} != {True}
        fits.append("untold" if not met or doubted else "holds" if True in met else "fails")
    fits += [_compare_amount(amount, action.amounts) for amount in rule.amounts if amount.bound != "exactly"]
    return "fails" if "fails" in fits else "untold" if "untold" in fits else "holds"


def _compare_amount(limit: Amount, told: Sequence[Amount]) -> Fit:
    same = [amount.value for amount in told if amount.unit == limit.unit or not limit.unit]
    if not same:
        return "untold"
    over = any(value > limit.value for value in same)
    under = any(value < limit.value for value in same)
    return "holds" if (over if limit.bound == "over" else under) else "fails"


def read_limits(tokens: Sequence[Token], language: Language, today: int | None = None) -> Limits:
    """The limits that the tokens name. `today`: the weekday at which "today" is said; None leaves it out."""
    days: set[int] = set()
    hours: list[Hours] = []
    amounts: list[Amount] = []
    taken: set[int] = set()
    words = [token.text for token in tokens]
    for place in range(len(words)):
        if place in taken:
            continue
        day = _day(words, place, language, today)
        if day is not None:
            days |= day.what
            taken |= day.taken
        hour = _hours(tokens, words, place, language)
        if hour is not None:
            hours += hour.what
            taken |= hour.taken
            if hour.what[0].sure:
                continue  # a bare number after "at" may be an amount too
        amount = _amount(words, place, language)
        if amount is not None:
            amounts.append(amount.what)
            taken |= amount.taken
    return Limits(frozenset(days), tuple(hours), tuple(amounts), frozenset(taken))


def is_hour(tokens: Sequence[Token], words: Sequence[str], place: int, language: Language) -> bool:
    """Whether a time of the day or a weekday stands at the place, after a word such as "before"."""
    return place < len(words) and (
        _hours(tokens, words, place, language) is not None or _day(words, place, language, None) is not None
    )


class _Taken[T](NamedTuple):
    what: T
    taken: frozenset[int]


class _Phrase(NamedTuple):
    length: int
    start: int
    end: int


def _day(words: Sequence[str], place: int, language: Language, today: int | None) -> _Taken[frozenset[int]] | None:
    word = words[place]
    known = language.times.words["weekday"]
    for form in (word, word.removesuffix("'s"), word.removesuffix("s")):
        if form in known:
            return _Taken(frozenset((known[form],)), frozenset((place,)))
    spans = _phrase_at(words, place, _spans(language, "days"))
    if spans is not None:
        return _Taken(frozenset(range(spans.start, spans.end + 1)), frozenset(range(place, place + spans.length)))
    near = _phrase_at(words, place, _spans(language, "relative_days"))
    if near is None or today is None:
        return None
    return _Taken(frozenset(((today + near.start) % 7,)), frozenset())


def _hours(
    tokens: Sequence[Token], words: Sequence[str], place: int, language: Language
) -> _Taken[list[Hours]] | None:
    part = _phrase_at(words, place, _spans(language, "hours"))
    if part is not None:
        return _Taken([Hours(part.start * 60, part.end * 60)], frozenset(range(place, place + part.length)))
    clock = _clock(words, place, language)
    before = words[place - 1] if place else ""
    starts, length = ([], 1) if clock is None else ([clock.start], clock.length)
    if clock is None and before in language.rules["hour_leads"]:
        starts, length = _bare_hour(tokens, words, place, language)
    if not starts:
        return None
    taken = frozenset(range(place, place + length))
    if before in language.rules["earlier"]:  # "before nine" is said of the morning
        return _Taken([Hours(0, starts[0])], taken | {place - 1})
    later = before in language.rules["later"]
    found: list[Hours] = []
    for start in starts:
        found.append(Hours(start, DAY_MINUTES if later else start + 1, sure=len(starts) == 1))
    return _Taken(found, taken | {place - 1} if later else taken)


def _bare_hour(
    tokens: Sequence[Token], words: Sequence[str], place: int, language: Language
) -> tuple[list[int], int]:
    """The minutes that a number alone may mean ("at seven"), and its length with the part of the day after it."""
    value = _number(words[place], language)
    if value is None or value not in range(1, 24):
        return [], 1
    starts = [60 * int(value)] if value > 11 else [60 * int(value), 60 * int(value) + DAY_MINUTES // 2]
    plain = {*language.telling.function_words, *language.rules["common"]}
    for end in range(place + 1, len(words)):
        part = _phrase_at(words, end, _spans(language, "hours"))  # "at seven in the evening"
        if part is not None:
            inside = filter(lambda start: part.start * 60 <= start < part.end * 60, starts)
            return list(inside) or starts, end + part.length - place
        if words[end] not in plain:  # "at seven shops"; where nouns have capitals, a verb has none
            counts = words[end].isalpha() and bool(tokens[end].shape or "verbs_last" not in language.rules)
            return [] if counts and end == place + 1 else starts, 1
    return starts, 1


def _clock(words: Sequence[str], place: int, language: Language) -> _Phrase | None:
    """A time of the clock, in minutes: 7:30, 9 am, 9am, 20 Uhr."""
    word = words[place]
    after = words[place + 1] if place + 1 < len(words) else ""
    half = after if after in language.rules["half_day"] else ""
    hour, minute, late, length = 0, 0, "", 1 + bool(half)
    if (found := _HALF_DAY.fullmatch(word)) is not None:
        hour, late, length = int(found[1]), found[2], 1
    elif (found := _CLOCK.fullmatch(word)) is not None and (":" in word or half):
        hour, minute, late = int(found[1]), int(found[2]), found[3] or half
    elif half and (value := _number(word, language)) is not None and value in range(25):
        hour, late = int(value), half
    else:
        return None
    minutes = (hour % 12 + 12 * (late == "pm") if late in ("am", "pm") else hour) * 60 + minute
    return _Phrase(length, minutes, minutes) if minutes <= DAY_MINUTES else None


def _amount(words: Sequence[str], place: int, language: Language) -> _Taken[Amount] | None:
    value = _number(words[place], language)
    if value is None:
        return None
    taken = {place}
    unit, at = "", place + 1
    if place and words[place - 1] in _SIGNS:
        unit = _SIGNS[words[place - 1]]
    elif at < len(words) and words[at] in _SIGNS:
        unit = _SIGNS[words[at]]
    elif at < len(words) and words[at].isalpha():
        unit = units_of(language).get(words[at]) or language.stem(words[at])
    bound: Bound = "exactly"
    bounds: tuple[tuple[str, Bound], ...] = (
        ("most", "over"), ("least", "under"), ("more", "over"), ("less", "under"),
    )  # fmt: skip
    for name, meant in bounds:
        length = _length_before(words, place, language.rules[name])
        if length:
            taken |= set(range(place - length, place))
            bound = meant
            break
    return _Taken(Amount(value, unit, bound), frozenset(taken))


def is_ceiling(words: Sequence[str], language: Language) -> bool:
    """Whether the words set a most or a least: "at most 8" forbids more without the word "never"."""
    names = (*language.rules["most"], *language.rules["least"])
    joined = f" {' '.join(words)} "
    return any(f" {phrase} " in joined for phrase in names)


def _length_before(words: Sequence[str], place: int, phrases: Sequence[str]) -> int:
    for phrase in sorted(phrases, key=len, reverse=True):
        parts = phrase.split()
        for gap in (0, 1):  # "more than € 100"
            end = place - gap
            if (
                end >= len(parts)
                and list(words[end - len(parts) : end]) == parts
                and (not gap or words[end] in _SIGNS)
            ):
                return len(parts) + gap
    return 0


def _number(word: str, language: Language) -> float | None:
    if word.isascii() and _NUMBER.fullmatch(word):
        plain = (
            word.replace(",", "")
            if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", word)
            else word.replace(",", ".")
        )
        return float(plain) if plain.count(".") < 2 else None
    if word in Language.gather("telling.no_numbers"):
        return None  # more often an article than a number
    known = language.times.numbers.get(word)
    return None if known is None else float(known)


def _phrase_at(
    words: Sequence[str], place: int, spans: Sequence[tuple[tuple[str, ...], int, int]]
) -> _Phrase | None:
    """The longest phrase that stands at the place, with its numbers."""
    for parts, start, end in spans:
        if tuple(words[place : place + len(parts)]) == parts:
            return _Phrase(len(parts), start, end)
    return None


@cache
def _spans_of(phrases: Sequence[str]) -> tuple[tuple[tuple[str, ...], int, int], ...]:
    found = []
    for phrase in phrases:
        *parts, numbers = phrase.split()
        start, _, end = numbers.partition("-")
        found.append((tuple(parts), int(start), int(end or start)))
    return tuple(sorted(found, key=lambda each: -len(each[0])))


def _spans(language: Language, name: str) -> Sequence[tuple[tuple[str, ...], int, int]]:
    return _spans_of(tuple(language.rules[name]))


def units_of(language: Language) -> dict[str, str]:
    """The stem under which each word for a currency is known."""
    return dict(phrase.split() for phrase in language.rules["units"])
