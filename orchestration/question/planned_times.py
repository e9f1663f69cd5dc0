"""The days that a text plans, seen from when it was said: "tomorrow", "on Friday", "every Monday". Pure.

The phrases are those by which a question names its times. "On Friday" may be the last or the next one: it is the
next where the text is known to tell of work to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from dateutil.relativedelta import MO, relativedelta, weekday

from orchestration.question.calendar import Span, days_on, find_spans
from orchestration.question.languages import TimePhrase, languages, single_blanks
from schemas.temporal import Period, to_instant
from substrate.language.languages import UNITS

MOST_PHRASES: Final = 16
SHARP: Final = timedelta(days=7)
"""A longer time, such as "next month", is no plan for a day."""
YEARS_AHEAD: Final = 1
_DAY: Final = timedelta(days=1)
_ISO: Final = re.compile(r"\b(20\d\d)-(\d\d)-(\d\d)\b")
_LENGTHS: Final = {"day": relativedelta(days=1), "week": relativedelta(weeks=1), "month": relativedelta(months=1)}


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
            planned += [PlannedTime(_to_period(span, said), recurring=True) for span in recurs(phrase, now_on)]
            continue
        rule = _ALWAYS.get(phrase.kind) or (_OF_WORK.get(phrase.kind) if is_work and not phrase.bare else None)
        spans = [] if rule is None else _spans(rule, phrase, said_on)
        planned += [PlannedTime(_to_period(span, said)) for span in spans if span.end - span.start <= SHARP]
    if is_work:
        planned += [PlannedTime(_to_period(span, said)) for span in _iso_dates(shown) if span.end > said_on]
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


def _to_period(span: Span, said: datetime) -> Period:
    zone = said.tzinfo or UTC
    return Period(to_instant(span.start.replace(tzinfo=zone)), to_instant(span.end.replace(tzinfo=zone)))


def _spans(rule: _Rule, phrase: TimePhrase, day: datetime) -> list[Span]:
    try:
        return list(rule(phrase, day))
    except (ValueError, OverflowError):
        return []


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
    length = _LENGTHS.get(UNITS[phrase.values["unit"]])
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
    for match in _ISO.finditer(text):
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


type _Rule = Callable[[TimePhrase, datetime], Iterator[Span]]
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
