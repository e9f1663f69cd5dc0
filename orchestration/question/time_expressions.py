"""Finds the times that a question names, as periods of valid time, and the order or the event it asks for. Pure.

"yesterday", "last Tuesday", "at Easter", "between March and May" are periods; "when did I last" and "the first
time" ask for the latest and the earliest; "before the trip" and "on my birthday" name an event, whose time some
memory tells. The words of each language stand in its file (`substrate/language`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import chain, islice, pairwise
from typing import Final, Literal, NamedTuple

from dateutil.easter import easter
from dateutil.relativedelta import MO, relativedelta, weekday

from orchestration.question.languages import QuestionLanguage, TimePhrase, languages, single_blanks
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Period, to_instant
from substrate.language.languages import NIGHT, UNITS
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


class _Phrase(NamedTuple):
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
    said = re.findall(r"\w+", rest.lower())
    telling = [word for word in said if word not in stop_words()]
    general = bool(said) and any(language.general.issuperset(telling) for language in known)
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


def _find_all(text: str, phrases: Sequence[TimePhrase], now: datetime) -> list[_Phrase]:
    """All phrases with what they mean, a date such as 2025-03-07 among them, in order."""
    known: dict[tuple[object, ...], Sequence[Span]] = {}
    found: list[_Phrase] = []
    for phrase in phrases:
        # A text may repeat one phrase thousands of times, and a month alone means some thirty spans.
        meaning = (phrase.kind, phrase.feast, *sorted(phrase.values.items()))
        if meaning not in known:
            known[meaning] = find_spans(phrase, now)
        found.append(_Phrase(phrase.start, phrase.end, known[meaning], phrase.bare))
    for match in _ISO.finditer(text):
        year, month, day = map(int, match.groups())
        phrase = TimePhrase("date", *match.span(), {"year": year, "month": month, "day": day})
        found.append(_Phrase(phrase.start, phrase.end, find_spans(phrase, now)))
    return sorted(found, key=lambda each: each.start)


def _relate(text: str, each: _Phrase, now: datetime, known: Sequence[QuestionLanguage]) -> _Phrase:
    """What the word right before the phrase makes of it: since, until, before, after."""
    before = text[max(0, each.start - 24) : each.start]
    for language in known:
        for relation in ("since", "until", "before", "after"):
            if match := language.relations[relation].search(before):
                spans = [moved for span in each.spans for moved in _moved(span, relation, now)]
                return _Phrase(each.start - len(match[0]), each.end, spans)
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


def _join_ranges(text: str, named: Sequence[_Phrase], known: Sequence[QuestionLanguage]) -> Iterator[_Phrase]:
    """The phrases; "between A and B" is one."""
    joined = False
    for first, second in pairwise((*named, None)):
        if joined:
            joined = False
        elif first is not None and second is not None and (match := _range_start(text, first, second, known)):
            joined = True
            spans: list[Span] = []  # to the end of each second span from the start of the last first one before it
            for until in second.spans:
                earlier = [span.start for span in first.spans if span.start < until.end]
                spans += [Span(max(earlier), until.end, until.weight)] if earlier else []
            yield _Phrase(first.start - match, second.end, spans)
        elif first is not None:
            yield first


def _range_start(text: str, first: _Phrase, second: _Phrase, known: Sequence[QuestionLanguage]) -> int | None:
    """How many signs before the first phrase the range begins; None when the two make none."""
    before, between = text[max(0, first.start - 24) : first.start], text[first.end : second.start]
    for language in known:
        opening = language.relations["between"].search(before)
        if opening and len(between) < 24 and language.relations["and"].fullmatch(between):
            return len(opening[0])
    return None


def _to_period(span: Span, zone: tzinfo) -> NamedPeriod | None:
    try:
        start, end = (to_instant(edge.replace(tzinfo=zone)) for edge in (span.start, span.end))
    except OverflowError:
        return None
    if not BEGINNING_OF_TIME < start < end < END_OF_TIME:
        return None
    return NamedPeriod(Period(start, end), span.weight)


def _cut(text: str, named: Sequence[_Phrase]) -> str:
    """The text without these phrases; the text itself if no word would be left."""
    kept, place = [], 0
    for each in named:
        kept.append(text[place : max(place, each.start)])
        place = max(place, each.end)
    left = re.sub(r"\s+(?=[?!.,;:]|$)", "", " ".join(" ".join((*kept, text[place:])).split()))
    return left if named and re.search(r"\w", left) else text


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


YEARS_BACK: Final = 25
"""How many years back a month, season or feast without a year is looked for."""
EARLIER_YEAR: Final = 0.7
"""How surely a phrase without a year means an earlier year than the latest."""
LESS_SURELY: Final = 0.5
"""The Tuesday of the week before, where this week has one too; the days around "two weeks ago"."""
AFTER_MIDNIGHT: Final = timedelta(hours=6)
"""A night ends so long after midnight."""
LATELY: Final = timedelta(days=14)
_DAY: Final = timedelta(days=1)
_WEEKEND: Final = (5, 6)
_SEASON_STARTS: Final = (3, 6, 9, 12)
"""The first month of spring, summer, autumn and winter, as meteorologists count them."""
_AROUND: Final = {"week": timedelta(days=3), "month": timedelta(days=15), "year": timedelta(days=60)}
"""How far to each side "n weeks ago", "n months ago", "n years ago" reach."""
_LENGTHS: Final = {
    "hour": relativedelta(hours=1),
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}


type _Rule = Callable[[TimePhrase, datetime], Iterator[Span]]


class Span(NamedTuple):
    """From `start` to before `end`. `weight`, in (0, 1]: how surely the phrase means it."""

    start: datetime
    end: datetime
    weight: float = 1.0


def find_spans(phrase: TimePhrase, now: datetime) -> list[Span]:
    """The spans that a phrase means when the clock shows `now`, the likeliest first.

    None for a phrase about the future, for a date that does not exist (31 June), and for years without a calendar.
    """
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    spans = _spans_of(_RULES.get(phrase.kind), phrase, day)
    is_night = NIGHT in (phrase.values.get("part"), phrase.values.get("night"))
    return [span._replace(end=span.end + AFTER_MIDNIGHT) for span in spans] if is_night else spans


def _spans_of(rule: _Rule | None, phrase: TimePhrase, day: datetime) -> list[Span]:
    try:
        return [] if rule is None else list(rule(phrase, day))
    except (ValueError, OverflowError):
        return []


def days_on(ahead: int) -> _Rule:
    """The rule for the day this many days ahead of the day itself."""

    def find(_phrase: TimePhrase, day: datetime) -> Iterator[Span]:
        start = day + ahead * _DAY
        yield Span(start, start + _DAY)

    return find


def _date(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    values = phrase.values
    month, number = values.get("month") or values["monthnumber"], values["day"]
    for start, weight in _years(phrase, day, lambda year: datetime(year, month, number, tzinfo=UTC)):
        yield Span(start, start + _DAY, weight)


def _year(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    start = datetime(phrase.values["year"], 1, 1, tzinfo=UTC)
    yield Span(start, start + relativedelta(years=1))


def _month(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    """A month, or the three months of a season."""
    is_season = phrase.kind == "season"
    month = _SEASON_STARTS[phrase.values["season"]] if is_season else phrase.values["month"]
    for start, weight in _years(phrase, day, lambda year: datetime(year, month, 1, tzinfo=UTC)):
        yield _portion(Span(start, start + relativedelta(months=3 if is_season else 1), weight), phrase.values)


def _feast(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    first, _, length = phrase.feast.rpartition(" ")
    for start, weight in _years(phrase, day, lambda year: _feast_day(first, year)):
        yield Span(start, start + int(length) * _DAY, weight)


def _feast_day(rule: str, year: int) -> datetime:
    if rule.startswith("easter"):
        sunday = easter(year)
        return datetime(year, sunday.month, sunday.day, tzinfo=UTC) + int(rule.removeprefix("easter")) * _DAY
    if " " in rule:
        month, number, place = rule.split()
        first = datetime(year, int(month), 1, tzinfo=UTC)
        return first + relativedelta(weekday=weekday(int(place))(int(number[0])))
    month, number = rule.split("-")
    return datetime(year, int(month), int(number), tzinfo=UTC)


def _years(
    phrase: TimePhrase, day: datetime, start_in: Callable[[int], datetime]
) -> Iterator[tuple[datetime, float]]:
    """The start in the year that is named, or in the latest years in which it has come, with its weight."""
    if "year" in phrase.values:
        yield start_in(phrase.values["year"]), 1.0
        return
    weight = 1.0
    for each in range(day.year, day.year - YEARS_BACK - 1, -1):
        try:
            start = start_in(each)
        except ValueError:
            continue
        if start <= day:
            yield start, weight
            weight = EARLIER_YEAR


def _ago(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    unit, number = UNITS[phrase.values["unit"]], phrase.values["number"]
    start = day if unit == "hour" else day - number * _LENGTHS[unit]
    yield Span(start, start + _DAY)
    if around := _AROUND.get(unit):
        yield Span(start - around, start + _DAY + around, LESS_SURELY)


def _in_the_last(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    yield Span(day - phrase.values["number"] * _LENGTHS[UNITS[phrase.values["unit"]]], day + _DAY)


def _units_before(back: int) -> _Rule:
    def find(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
        unit = UNITS[phrase.values["unit"]]
        starts = {"week": day + relativedelta(weekday=MO(-1)), "month": day.replace(day=1)}
        starts["year"] = day.replace(month=1, day=1)
        start = starts.get(unit, day) - back * _LENGTHS[unit]
        yield _portion(Span(start, start + _LENGTHS[unit]), phrase.values)

    return find


def _weekend(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    """The weekend that has begun; the last one before that."""
    saturday = day + relativedelta(weekday=weekday(5)(-1))
    if phrase.kind == "last_weekend" and day.weekday() in _WEEKEND:
        saturday -= timedelta(weeks=1)
    yield Span(saturday, saturday + 2 * _DAY)


def _weekday(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    start = (day - _DAY) + relativedelta(weekday=weekday(phrase.values["weekday"])(-1))
    yield Span(start, start + _DAY)


def _last_weekday(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    """The latest before today; if this week had it, less surely that of the week before."""
    for span in _weekday(phrase, day):
        yield span
        if span.start >= day + relativedelta(weekday=MO(-1)):
            week = timedelta(weeks=1)
            yield Span(span.start - week, span.end - week, LESS_SURELY)


def _portion(span: Span, values: Mapping[str, int]) -> Span:
    """The first, second or last third of the span, if the phrase names one; of a year the first or last sixth."""
    place = values.get("portion")
    if place is None:
        return span
    third = (span.end - span.start) / 3
    start, end = span.start + place * third, span.start + (place + 1) * third
    if third > timedelta(days=100) and place == 0:
        end = start + third / 2
    if third > timedelta(days=100) and place == 2:
        start = end - third / 2
    return Span(start, end, span.weight)


_RULES: Final[Mapping[str, _Rule]] = {
    "today": days_on(0),
    "yesterday": days_on(-1),
    "day_before_yesterday": days_on(-2),
    "date": _date,
    "month": _month,
    "season": _month,
    "feast": _feast,
    "year": _year,
    "ago": _ago,
    "in_the_last": _in_the_last,
    "lately": lambda _, day: iter((Span(day - LATELY, day + _DAY, LESS_SURELY),)),
    "this_unit": _units_before(0),
    "last_unit": _units_before(1),
    "weekend": _weekend,
    "last_weekend": _weekend,
    "weekday": _weekday,
    "last_weekday": _last_weekday,
}


MOST_PHRASES: Final = 16
SHARP: Final = timedelta(days=7)
"""A longer time, such as "next month", is no plan for a day."""
YEARS_AHEAD: Final = 1
_PLANNED_ISO: Final = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")
_AHEAD: Final = {"day": relativedelta(days=1), "week": relativedelta(weeks=1), "month": relativedelta(months=1)}


class PlannedTime(NamedTuple):
    """A day, or a few, that a text plans. `recurring`: it comes back, and this is the one around the moment."""

    period: Period
    recurring: bool = False


def read_planned_times(text: str, said: datetime, now: datetime, *, is_work: bool) -> list[PlannedTime]:
    """What a text plans. Days begin at midnight in the zone of `said`; `now` has the same zone.

    `is_work`: the text tells of something to do, so that a bare "Friday" or a date is one to come.
    """
    shown = single_blanks(text)
    to_come: list[TimePhrase] = []
    for language in languages():  # "since Friday" is not to come
        since = language.relations["since"]
        found = language.find_planned(shown)
        to_come += (phrase for phrase in found if not since.search(shown[: phrase.start]))
    phrases = _longest(to_come)
    said_on, now_on = _midnight(said), _midnight(now)
    planned: list[PlannedTime] = []
    for phrase in phrases[:MOST_PHRASES]:
        if (recurs := _RECURRING.get(phrase.kind)) is not None:
            planned += [
                PlannedTime(_planned_period(span, said), recurring=True) for span in recurs(phrase, now_on)
            ]
            continue
        rule = _ALWAYS.get(phrase.kind) or (_OF_WORK.get(phrase.kind) if is_work and not phrase.bare else None)
        spans = _spans_of(rule, phrase, said_on)
        planned += [PlannedTime(_planned_period(span, said)) for span in spans if span.end - span.start <= SHARP]
    if is_work:
        planned += [PlannedTime(_planned_period(span, said)) for span in _iso_dates(shown) if span.end > said_on]
    return list(dict.fromkeys(planned))


def _longest(phrases: Sequence[TimePhrase]) -> list[TimePhrase]:
    """The phrases in order, without those that lie within a longer one."""
    kept: list[TimePhrase] = []
    for phrase in sorted(phrases, key=lambda each: (each.start - each.end, each.start)):
        if all(phrase.end <= other.start or phrase.start >= other.end for other in kept):
            kept.append(phrase)
    return sorted(kept, key=lambda each: each.start)


def _midnight(moment: datetime) -> datetime:
    """The day of a moment by the clock on the wall, written as UTC (`calendar`)."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=UTC)


def _planned_period(span: Span, said: datetime) -> Period:
    zone = said.tzinfo or UTC
    return Period(to_instant(span.start.replace(tzinfo=zone)), to_instant(span.end.replace(tzinfo=zone)))


def _this_weekday(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    """The day itself, or the next one after it."""
    start = day + relativedelta(weekday=weekday(phrase.values["weekday"])(1))
    yield Span(start, start + _DAY)


def _this_weekend(_phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    saturday = day + relativedelta(weekday=weekday(5)(1))
    yield Span(saturday, saturday + 2 * _DAY)


def _next_unit(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    if UNITS[phrase.values["unit"]] == "week":
        monday = day + _DAY + relativedelta(weekday=MO(1))
        yield Span(monday, monday + SHARP)


def _in_units(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    length = _AHEAD.get(UNITS[phrase.values["unit"]])
    if length is not None:
        start = day + phrase.values["number"] * length
        yield Span(start, start + _DAY)


def _coming(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    """A date: in the year that it names, else the next one from the day on."""
    for years in range(YEARS_AHEAD + 1):
        seen_from = day + relativedelta(years=years, month=12, day=31)
        ahead = [span for span in find_spans(phrase, seen_from) if span.end > day and span.weight == 1.0]
        if ahead:
            yield ahead[0]
            return


def _iso_dates(text: str) -> Iterator[Span]:
    for match in _PLANNED_ISO.finditer(text):
        try:
            start = datetime(*map(int, match.groups()), tzinfo=UTC)  # type: ignore[arg-type,misc]
        except ValueError:
            continue
        yield Span(start, start + _DAY)


def _each_weekday(phrase: TimePhrase, today: datetime) -> Iterator[Span]:
    """The nearest to today: the next one, or the last one if that is nearer."""
    ahead = next(_this_weekday(phrase, today)).start
    behind = ahead - timedelta(weeks=1)
    start = ahead if ahead - today <= today - behind else behind
    yield Span(start, start + _DAY)


_ALWAYS: Final[Mapping[str, _Rule]] = {
    "tomorrow": days_on(1),
    "day_after_tomorrow": days_on(2),
    "next_weekday": lambda phrase, day: _this_weekday(phrase, day + _DAY),
    "next_weekend": lambda phrase, day: _this_weekend(phrase, day + _DAY),
    "next_unit": _next_unit,
    "in_units": _in_units,
}
"""Phrases that can only mean a time to come."""
_OF_WORK: Final[Mapping[str, _Rule]] = {
    "today": days_on(0),
    "weekday": _this_weekday,
    "weekend": _this_weekend,
    "date": _coming,
}
"""Phrases that mean a time to come where the text tells of something to do."""
_RECURRING: Final[Mapping[str, _Rule]] = {"every_weekday": _each_weekday, "every_day": days_on(0)}
