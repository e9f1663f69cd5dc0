"""Finds the times that a question names, as periods of valid time: "in May", "7 May 2023", "last week". Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Final

from dateutil import parser
from dateutil.relativedelta import MO, relativedelta

from schemas.temporal import Period, to_instant

GRACE: Final = timedelta(days=7)
"""People tell what happened within days: a period counts as this much longer than it was."""
YEARS_BACK: Final = 25
"""A month without a year is that month in each of the last 25 years, for a question may be about an old talk."""
MAX_DATES: Final = 16
"""At most so many dates of each form are read: a month without a year alone makes 26 periods."""

_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec"
)
_DAY: Final = r"(?P<{0}>\d{{1,2}})(?:st|nd|rd|th)?"
_DATE: Final = re.compile(
    rf"(?P<lead>\b(?:in|on|of|since|by|during|until|before|after|from|early|late|mid|last|this)\s+)?"
    rf"(?:\b{_DAY.format('before')}\s+(?:of\s+)?)?\b(?P<month>{_MONTHS})\b\.?"
    rf"(?:\s+{_DAY.format('after')}\b(?!\d))?(?:,?\s+(?P<year>(?:1[6-9]|2[0-2])\d\d)\b)?"
)
_WORDS_TOO: Final = frozenset(("march", "may", "mar", "dec", "sep"))
"""Months that are also other words: they count only next to a preposition or a number."""
_ISO: Final = re.compile(r"\b((?:1[6-9]|2[0-2])\d\d)-(\d{1,2})-(\d{1,2})\b")
_YEAR: Final = re.compile(r"\b(?:in|of|since|during)\s+((?:1[6-9]|2[0-2])\d\d)\b")
_AGO: Final = re.compile(r"\b(\d{1,3}|an?|one|two|three|four|five|six)\s+(day|week|month|year)s?\s+ago\b")
_NEAR: Final = re.compile(r"\b(today|yesterday|(?:last|past|this)\s+(?:week|month|year|weekend))\b")
_COUNTS: Final = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_LENGTHS: Final = {
    "day": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
}


def find_windows(text: str, now: datetime) -> tuple[Period, ...]:
    """The periods that a text names, seen from `now`: in UTC, closed-open, each `GRACE` longer than it was.

    Of each form the first `MAX_DATES` count. A date that does not exist (31 June) or cannot be stored is skipped.
    """
    lower = text.lower()
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    spans = [*_read_dates(lower, day), *_read_relative(lower, day)]
    return tuple(dict.fromkeys(Period(to_instant(start), to_instant(end + GRACE)) for start, end in spans))


def find_time_words(text: str) -> frozenset[str]:
    """The words by which a text names dates, in lower case: `find_windows` reads them, they say nothing else."""
    lower = text.lower()
    dates = [match[0] for match in _DATE.finditer(lower) if _is_date(match)]
    years = [match[0] for pattern in (_ISO, _YEAR) for match in pattern.finditer(lower)]
    return frozenset(word for phrase in (*dates, *years) for word in re.findall(r"\w+", phrase))


def _is_date(match: re.Match[str]) -> bool:
    number = match["before"] or match["after"] or match["year"]
    return bool(number or match["lead"]) or match["month"] not in _WORDS_TOO


type _Span = tuple[datetime, datetime]


def _read_dates(text: str, day: datetime) -> Iterator[_Span]:
    named = dict.fromkeys(
        (match["before"] or match["after"], match["month"], match["year"])
        for match in _DATE.finditer(text)
        if _is_date(match)
    )
    for number, month, year in islice(named, MAX_DATES):
        years = [year] if year else range(day.year - YEARS_BACK, day.year + 1)
        for each in years:
            yield from _read_span(f"{number or 1} {month} {each}", "day" if number else "month", day)
    for date in islice(dict.fromkeys(match[0] for match in _ISO.finditer(text)), MAX_DATES):
        yield from _read_span(date, "day", day)
    for year in islice(dict.fromkeys(_YEAR.findall(text)), MAX_DATES):
        yield from _read_span(f"{year}-01-01", "year", day)


def _read_span(date: str, length: str, day: datetime) -> Iterator[_Span]:
    try:
        start = parser.parse(date, default=day.replace(month=1, day=1))
    except ValueError:
        return
    yield start, start + _LENGTHS[length]


def _read_relative(text: str, day: datetime) -> Iterator[_Span]:
    for count, length in _AGO.findall(text):
        back = _COUNTS.get(count) or int(count)
        if back < day.year - 1700 or length in ("day", "week"):
            start = day - back * _LENGTHS[length]
            yield start, start + _LENGTHS[length]
    for near in _NEAR.findall(text):
        yield _read_near(near, day)


def _read_near(near: str, day: datetime) -> _Span:
    if near in ("today", "yesterday"):
        start = day if near == "today" else day - timedelta(days=1)
        return start, start + timedelta(days=1)
    which, length = near.split()
    length = "week" if length == "weekend" else length
    begins = {
        "week": day + relativedelta(weekday=MO(-1)),
        "month": day.replace(day=1),
        "year": day.replace(month=1, day=1),
    }
    start = begins[length] if which == "this" else begins[length] - _LENGTHS[length]
    return start, start + _LENGTHS[length]
