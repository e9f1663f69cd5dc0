"""Time: instants, periods on the two axes, and the scope of a question.

An instant counts microseconds since 1970 in UTC. It stays below 2**53, because the engine compares indexed
numbers as doubles. Periods are closed-open: `[start, end)`.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from enum import StrEnum
from functools import lru_cache, partial
from typing import Annotated, Final, NamedTuple

from pydantic import AfterValidator, BeforeValidator, Field

type Instant = int

END_OF_TIME: Instant = 2**53 - 1
"""The open end of a period: about the year 2255."""

BEGINNING_OF_TIME: Instant = -(2**53 - 1)
"""The earliest instant that can be stored: about the year 1684."""

CLOCK_AHEAD: Final = 60_000_000
"""The clock of a graph may be ahead by this many microseconds: many writes at once move it a little."""

AFTER_ALL: Instant = END_OF_TIME + 1
"""The end of a period that contains every instant, even `END_OF_TIME` itself."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1)


MAX_TIME_TEXT: Final = 64
"""Characters of a written time: twice the longest valid form."""


class TemporalMode(StrEnum):
    """How a question looks at time (003, component 1)."""

    CURRENT = "current"
    POINT_IN_TIME = "point_in_time"
    EVOLUTION = "evolution"
    FULL_HISTORY = "full_history"


class Period(NamedTuple):
    """A closed-open period of time."""

    start: Instant
    end: Instant = END_OF_TIME

    def overlaps(self, other: Period) -> bool:
        return self.start < other.end and other.start < self.end

    def contains(self, instant: Instant) -> bool:
        return self.start <= instant < self.end


class Scope(NamedTuple):
    """The records that a question may see: one period on each axis; an instant is a period of one microsecond."""

    valid: Period
    known: Period

    @classmethod
    def at(cls, valid_at: Instant, known_at: Instant) -> Scope:
        """What was true at `valid_at`, as known at `known_at`."""
        return cls(Period(valid_at, valid_at + 1), Period(known_at, known_at + 1))

    @classmethod
    def current(cls, now: Instant) -> Scope:
        """What is true now, as last recorded, even if the clock went back since."""
        return cls(Period(now, now + 1), Period(END_OF_TIME - 1, END_OF_TIME))

    @classmethod
    def resolve(cls, as_of: Instant | None, known_at: Instant | None, now: Instant) -> Scope:
        """Scope at `as_of` as known at `known_at` (default: `as_of`); with neither, now."""
        if as_of is None and known_at is None:
            return cls.current(now)
        valid_at = now if as_of is None else as_of
        return cls.at(valid_at, valid_at if known_at is None else known_at)

    @classmethod
    def resolve_datetimes(cls, as_of: datetime | None, known_at: datetime | None, now: Instant) -> Scope:
        valid, known = (None if moment is None else to_instant(moment) for moment in (as_of, known_at))
        return cls.resolve(valid, known, now)

    @classmethod
    def history(cls, known_from: Instant | None, known_to: Instant | None) -> Scope:
        """Every record, whatever its valid time, that was believed or changed in `[known_from, known_to)`.

        A record closed at `known_from` was believed until then: the range begins one instant earlier.
        """
        start = BEGINNING_OF_TIME if known_from is None else known_from - 1
        end = AFTER_ALL if known_to is None else known_to
        return cls(Period(BEGINNING_OF_TIME, AFTER_ALL), Period(start, end))

    @property
    def is_present(self) -> bool:
        """True when it sees the last recorded knowledge, as `current` does."""
        return self.known.start == END_OF_TIME - 1

    def moment(self, now: Instant) -> Instant:
        """From when ages are counted: the instant asked about; `now` for a range."""
        return self.valid.start if self.valid.end - self.valid.start == 1 else now

    def last_moment(self, now: Instant) -> Instant:
        """The last instant asked about: of a range its end; `now` where it has none."""
        return self.moment(now if self.known.end == AFTER_ALL else self.known.end)

    def bounds(self) -> dict[str, Instant]:
        """The ends of both periods as the parameters of a query."""
        return {
            "valid_from": self.valid.start,
            "valid_to": self.valid.end,
            "known_from": self.known.start,
            "known_to": self.known.end,
        }


def to_instant(moment: datetime) -> Instant:
    """Microseconds since 1970 of an aware datetime."""
    return (moment - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=16_384)
def to_datetime(instant: Instant) -> datetime:
    """The aware UTC datetime of an instant."""
    return _EPOCH + timedelta(microseconds=instant)


def open_end(instant: Instant) -> datetime | None:
    """The datetime of a period's end; None for an open end."""
    return None if instant >= END_OF_TIME else to_datetime(instant)


def _check_storable(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if not BEGINNING_OF_TIME < to_instant(aware) < END_OF_TIME:
        raise ValueError("times must lie between the years 1685 and 2255")
    return moment


_NUMBER = re.compile(r"[-+]?\d*\.?\d*")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_BEYOND_A_MICROSECOND = re.compile(r":\d\d[.,]\d{6}\d*[1-9]")


def check_length(text: str) -> None:
    """Raises ValueError for more than 64 characters."""
    if len(text) > MAX_TIME_TEXT:
        raise ValueError(f"a time has at most {MAX_TIME_TEXT} characters, this text has {len(text):,}")


def check_digits(text: str) -> None:
    """Raises ValueError for a time finer than a microsecond."""
    if _BEYOND_A_MICROSECOND.search(text):
        raise ValueError("times are kept to the microsecond: leave out the digits after the sixth")


def _check_readable(moment: object) -> object:
    if isinstance(moment, str):
        check_length(moment)
    if isinstance(moment, int | float) or (isinstance(moment, str) and _NUMBER.fullmatch(moment.strip())):
        raise ValueError("a time is a text like 2025-07-20T14:30:00Z; a number could be seconds or anything else")
    if isinstance(moment, str):
        check_digits(moment)
    return moment


Moment = Annotated[datetime, BeforeValidator(_check_readable), AfterValidator(_check_storable)]
"""A datetime that can be stored; of a date alone its first moment. `schemas.base.Request` takes one without a zone
as UTC and notes it."""


def end_of_day(moment: object, less: timedelta = timedelta()) -> object:
    """The midnight after a date alone, `less` so much; anything else, and what is no date, as it is."""
    try:
        day = date.fromisoformat(moment) if isinstance(moment, str) and _DATE.fullmatch(moment) else moment
        if isinstance(day, date) and not isinstance(day, datetime):
            return datetime.combine(day, time(), None) + _DAY - less
    except (ValueError, OverflowError):
        return moment  # refused by the type itself, with the reason
    return moment


EndMoment = Annotated[
    Moment, BeforeValidator(end_of_day), Field(description="A date alone means its whole day: up to its end.")
]
"""The end of a period, which does not belong to it: of a date alone the midnight after."""
AskedMoment = Annotated[
    Moment,
    BeforeValidator(partial(end_of_day, less=_MICROSECOND)),
    Field(description="A date alone means its whole day: its last moment."),
]
"""A moment that is looked at: of a date alone the last, so that nothing of that day is missed."""


ALL_KNOWN: Final = to_datetime(END_OF_TIME - 1)
"""A `known_at` that sees all that is known now, whatever the clock says."""


KnownMoment = Annotated[
    AskedMoment,
    BeforeValidator(
        lambda given: ALL_KNOWN if isinstance(given, str) and given.strip().lower() == "now" else given
    ),
    Field(
        description="A time, or `now` for all that is known. A date alone means its whole day: its last moment."
    ),
]
"""The same for transaction time, where `now` means all that is known now."""


def long_date(moment: datetime) -> str:
    """A date in UTC, such as "8 May 2023"."""
    utc = moment.astimezone(UTC)
    return f"{utc.day} {utc:%B %Y}"
