"""Finds the times that a question names, as periods of valid time, and the order or the event it asks for. Pure.

"yesterday", "last Tuesday", "at Easter", "between March and May" are periods; "when did I last" and "the first
time" ask for the latest and the earliest; "before the trip" and "on my birthday" name an event, whose time some
memory tells. The words of each language stand in its file (`substrate/language`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain, islice, pairwise
from typing import Final, Literal, NamedTuple

from orchestration.question.calendar import LESS_SURELY, Span, find_spans
from orchestration.question.languages import QuestionLanguage, TimePhrase, languages, single_blanks
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Period, to_instant
from substrate.language.languages import UNITS
from substrate.language.text import stop_words

MAX_PHRASES: Final = 16
"""Of this many different phrases of time the periods are read; the words of all of them are left out."""
NEARBY: Final = timedelta(days=28)
"""What was before or after a time was within so long of it."""
MAX_TOLD: Final = timedelta(days=4)
"""A message that says "on Friday" tells of that day; one that says "in June" tells of nothing so sharp."""
_TOLD: Final = frozenset(("yesterday", "day_before_yesterday", "date", "ago", "weekend", "last_weekend", "weekday",
                          "last_weekday", "feast"))  # fmt: skip
_ISO: Final = re.compile(r"\b((?:1[6-9]|2[0-2])\d\d)-(\d{1,2})-(\d{1,2})\b")

type Seeking = Literal["latest", "earliest"]
type Side = Literal["before", "after", "on"]


class NamedPeriod(NamedTuple):
    """A period that a question names. `weight`, in (0, 1]: how surely it is meant."""

    period: Period
    weight: float = 1.0


class Event(NamedTuple):
    """An event by whose time a question names its own: before it, after it, or on its day.

    `away`: how long before or after; None where the question does not say. `birthday`: it is one.
    """

    text: str
    side: Side
    away: timedelta | None = None
    birthday: bool = False


class Times(NamedTuple):
    """What a text says of time.

    `periods`: those it names, the likeliest first. `rest`: the text without the phrases that name them; the text
    itself if no word would be left. `alone`: it names a time and no subject ("what happened yesterday?").
    `general`: it names no subject, with a time or without.
    """

    periods: tuple[NamedPeriod, ...] = ()
    rest: str = ""
    alone: bool = False
    general: bool = False
    seeking: Seeking | None = None
    event: Event | None = None


class _Found(NamedTuple):
    """A phrase and what it means. `bare`: one word that is also another, and means a time only beside others."""

    start: int
    end: int
    spans: Sequence[Span]
    bare: bool = False


def read_times(text: str, now: datetime) -> Times:
    """What a text says of time, seen from `now` in its zone: a day begins at midnight there.

    A date that does not exist (31 June), one that cannot be stored and a time in the future name no period, and
    their words stay in the text.
    """
    known = languages()
    phrases = _distinct(chain.from_iterable(language.find_phrases(text) for language in known))
    local = now.replace(tzinfo=UTC)
    named = [each for each in _find_all(text, phrases, local) if each.spans]
    named = list(_join_ranges(text, [_relate(text, each, local, known) for each in named], known))
    named = [each for each in named if not each.bare]
    meanings = dict.fromkeys(tuple(each.spans) for each in named)
    spans = dict.fromkeys(chain.from_iterable(islice(meanings, MAX_PHRASES)))
    periods = [_to_period(span, now.tzinfo or UTC) for span in spans]
    event = None if any(each.spans for each in named) else _find_event(text, known)
    rest = _cut(text, named)
    general = any(_is_general(rest, language) for language in known)
    alone = bool(named) and (rest == text or general)
    found = tuple(each for each in periods if each)
    seeking = _find_seeking(text, known)
    return Times(found, rest, alone, alone or general, seeking, event)


def read_told_times(text: str, sent: datetime) -> list[Period]:
    """The days that a message of the moment `sent` tells of: "yesterday" is the day before it was sent."""
    text = single_blanks(text)
    local = sent.replace(tzinfo=UTC)
    phrases = _distinct(chain.from_iterable(language.find_phrases(text) for language in languages()))
    told = [phrase for phrase in phrases if phrase.kind in _TOLD and not phrase.bare]
    firsts = [spans[0] for phrase in told if (spans := find_spans(phrase, local))]
    sharp = (_to_period(span, sent.tzinfo or UTC) for span in firsts if span.end - span.start <= MAX_TOLD)
    return [each.period for each in sharp if each]


def _distinct(phrases: Iterable[TimePhrase]) -> list[TimePhrase]:
    """The phrases in order; of those that overlap the longest, of equally long ones that of the first language."""
    kept: list[TimePhrase] = []
    for phrase in sorted(phrases, key=lambda phrase: (phrase.start, phrase.start - phrase.end)):
        if not kept or phrase.start >= kept[-1].end:
            kept.append(phrase)
        elif phrase.end - phrase.start > kept[-1].end - kept[-1].start:
            kept[-1] = phrase
    return kept


def _find_all(text: str, phrases: Sequence[TimePhrase], now: datetime) -> list[_Found]:
    """All phrases with what they mean, a date such as 2025-03-07 among them, in order."""
    known: dict[tuple[object, ...], Sequence[Span]] = {}
    found: list[_Found] = []
    for phrase in phrases:
        # A text may repeat one phrase thousands of times, and a month alone means some thirty spans.
        meaning = (phrase.kind, phrase.feast, *sorted(phrase.values.items()))
        if meaning not in known:
            known[meaning] = find_spans(phrase, now)
        found.append(_Found(phrase.start, phrase.end, known[meaning], phrase.bare))
    for match in _ISO.finditer(text):
        year, month, day = map(int, match.groups())
        phrase = TimePhrase("date", *match.span(), {"year": year, "month": month, "day": day})
        found.append(_Found(phrase.start, phrase.end, find_spans(phrase, now)))
    return sorted(found, key=lambda each: each.start)


def _relate(text: str, each: _Found, now: datetime, known: Sequence[QuestionLanguage]) -> _Found:
    """What the word right before the phrase makes of it: since, until, before, after."""
    before = text[max(0, each.start - 24) : each.start]
    for language in known:
        for relation in ("since", "until", "before", "after"):
            if match := language.relations[relation].search(before):
                spans = [moved for span in each.spans for moved in _moved(span, relation, now)]
                return _Found(each.start - len(match[0]), each.end, spans)
    return each


def _moved(span: Span, relation: str, now: datetime) -> Iterator[Span]:
    """The span as a beginning or an end; what is only near it is meant less surely."""
    if relation == "since":
        yield Span(span.start, max(now, span.end), span.weight)
        return
    if relation == "after":
        yield Span(span.end, span.end + NEARBY, span.weight)
    else:
        yield Span(span.start - NEARBY, span.start, span.weight)
    yield span._replace(weight=span.weight * LESS_SURELY)


def _join_ranges(text: str, named: Sequence[_Found], known: Sequence[QuestionLanguage]) -> Iterator[_Found]:
    """The phrases; "between A and B" is one."""
    joined = False
    for first, second in pairwise((*named, None)):
        if joined:
            joined = False
        elif first is not None and second is not None and (match := _range_start(text, first, second, known)):
            joined = True
            yield _Found(first.start - match, second.end, [*_ranges(first.spans, second.spans)])
        elif first is not None:
            yield first


def _range_start(text: str, first: _Found, second: _Found, known: Sequence[QuestionLanguage]) -> int | None:
    """How many signs before the first phrase the range begins; None when the two make none."""
    before, between = text[max(0, first.start - 24) : first.start], text[first.end : second.start]
    for language in known:
        opening = language.relations["between"].search(before)
        if opening and len(between) < 24 and language.relations["and"].fullmatch(between):
            return len(opening[0])
    return None


def _ranges(firsts: Sequence[Span], seconds: Sequence[Span]) -> Iterator[Span]:
    """To the end of each second span from the start of the last first one before it."""
    for second in seconds:
        earlier = [first.start for first in firsts if first.start < second.end]
        if earlier:
            yield Span(max(earlier), second.end, second.weight)


def _to_period(span: Span, zone: tzinfo) -> NamedPeriod | None:
    try:
        start, end = (to_instant(edge.replace(tzinfo=zone)) for edge in (span.start, span.end))
    except OverflowError:
        return None
    if not BEGINNING_OF_TIME < start < end < END_OF_TIME:
        return None
    return NamedPeriod(Period(start, end), span.weight)


def _cut(text: str, named: Sequence[_Found]) -> str:
    """The text without these phrases; the text itself if no word would be left."""
    kept, place = [], 0
    for each in named:
        kept.append(text[place : max(place, each.start)])
        place = max(place, each.end)
    left = re.sub(r"\s+(?=[?!.,;:]|$)", "", " ".join(" ".join((*kept, text[place:])).split()))
    return left if named and re.search(r"\w", left) else text


def _is_general(text: str, language: QuestionLanguage) -> bool:
    said = re.findall(r"\w+", text.lower())
    return bool(said) and all(word in language.general or word in stop_words() for word in said)


def _find_seeking(text: str, known: Sequence[QuestionLanguage]) -> Seeking | None:
    for language in known:
        if language.seeking["latest"].search(text):
            return "latest"
        if language.seeking["earliest"].search(text):
            return "earliest"
    return None


def _find_event(text: str, known: Sequence[QuestionLanguage]) -> Event | None:
    for language in known:
        if match := language.events["on"].search(text):
            return Event(match["event"], "on", birthday=True)
        if language.events["lasting"].search(text):
            return None
        sides: tuple[Literal["before", "after"], ...] = ("before", "after")
        for side in sides:
            if language.sides[side].search(text) and (match := language.events[side].search(text)):
                told = match["event"]
                end = language.events["ends"].search(told) if "ends" in language.events else None
                return Event(told[: end.start()] if end and end.start() else told, side, _away(match, language))
    return None


def _away(match: re.Match[str], language: QuestionLanguage) -> timedelta | None:
    """How long before or after the event, to the day; None where the text does not say."""
    unit, number = match["oneunit_0"] or match["unit_0"], match["number_0"] or "1"
    if not unit:
        return None
    lengths = {"hour": 0, "day": 1, "week": 7, "month": 30, "year": 365}
    count = int(number) if number.isdigit() else language.places["number"].get(number.lower(), 1)
    return timedelta(days=count * lengths[UNITS[language.places["unit"][unit.lower()]]])
