"""The days that a phrase of time means, seen from a day: "last Tuesday", "in spring", "two weeks ago". Pure.

Times here are those of the clock on the wall, whatever its zone, and are written as UTC. A month, season or feast
without a year is the latest that has begun, and, less surely, that of each earlier year: a question may be about
an old talk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from dateutil.easter import easter
from dateutil.relativedelta import MO, relativedelta, weekday

from orchestration.question.languages import TimePhrase
from substrate.language.languages import NIGHT, UNITS

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


class Span(NamedTuple):
    """From `start` to before `end`. `weight`, in (0, 1]: how surely the phrase means it."""

    start: datetime
    end: datetime
    weight: float = 1.0


def find_spans(phrase: TimePhrase, now: datetime) -> list[Span]:
    """The spans that a phrase means when the clock shows `now`, the likeliest first.

    None for a phrase about the future, for a date that does not exist (31 June), and for years without a calendar.
    """
    rule = _RULES.get(phrase.kind)
    if rule is None:
        return []
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        spans = list(rule(phrase, day))
    except (ValueError, OverflowError):
        return []
    is_night = NIGHT in (phrase.values.get("part"), phrase.values.get("night"))
    return [span._replace(end=span.end + AFTER_MIDNIGHT) for span in spans] if is_night else spans


def days_on(ahead: int) -> Callable[[TimePhrase, datetime], Iterator[Span]]:
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


def _year(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    start = datetime(phrase.values["year"], 1, 1, tzinfo=UTC)
    yield Span(start, start + relativedelta(years=1))


def _ago(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    unit, number = UNITS[phrase.values["unit"]], phrase.values["number"]
    start = day if unit == "hour" else day - number * _LENGTHS[unit]
    yield Span(start, start + _DAY)
    if around := _AROUND.get(unit):
        yield Span(start - around, start + _DAY + around, LESS_SURELY)


def _in_the_last(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    yield Span(day - phrase.values["number"] * _LENGTHS[UNITS[phrase.values["unit"]]], day + _DAY)


def _lately(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    yield Span(day - LATELY, day + _DAY, LESS_SURELY)


def _units_before(back: int) -> Callable[[TimePhrase, datetime], Iterator[Span]]:
    def find(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
        unit = UNITS[phrase.values["unit"]]
        starts = {"week": day + relativedelta(weekday=MO(-1)), "month": day.replace(day=1)}
        starts["year"] = day.replace(month=1, day=1)
        start = starts.get(unit, day) - back * _LENGTHS[unit]
        yield _portion(Span(start, start + _LENGTHS[unit]), phrase.values)

    return find


def _weekend(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    saturday = day + relativedelta(weekday=weekday(5)(-1))
    yield Span(saturday, saturday + 2 * _DAY)


def _last_weekend(phrase: TimePhrase, day: datetime) -> Iterator[Span]:
    saturday = day + relativedelta(weekday=weekday(5)(-1))
    saturday -= timedelta(weeks=1) if day.weekday() in _WEEKEND else timedelta()
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


_RULES: Final[Mapping[str, Callable[[TimePhrase, datetime], Iterator[Span]]]] = {
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
    "lately": _lately,
    "this_unit": _units_before(0),
    "last_unit": _units_before(1),
    "weekend": _weekend,
    "last_weekend": _last_weekend,
    "weekday": _weekday,
    "last_weekday": _last_weekday,
}
