"""Times and time zones as people write them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dateutil import parser, tz
from dateutil.zoneinfo import get_zonefile_instance

from schemas.errors import InvalidRequest
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, check_length, to_instant

_SOME_DAY: Final = datetime(1972, 1, 1)  # noqa: DTZ001  (dateutil fills a missing zone from it: there must be none)
_OTHER_DAY: Final = datetime(1976, 2, 2)  # noqa: DTZ001
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM: Final = 10**11


class ParsedTime(NamedTuple):
    """A time in UTC, and whether its text named a zone."""

    at: datetime
    zoned: bool


def parse_time(value: Any) -> ParsedTime:
    """Parse a time in a form that people write, or in seconds or milliseconds since 1970.

    Raises ValueError or OverflowError when the value is no time, has no day, names an unknown zone or is outside
    the years 1685 to 2255.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"it is {type_name(value)}")
    if isinstance(value, str):
        check_length(value)  # dateutil takes quadratic time
        time = _from_text(value.strip())
    else:
        time = _EPOCH + timedelta(seconds=value / 1000 if abs(value) >= _MILLISECONDS_FROM else value)
    aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
    if not BEGINNING_OF_TIME < to_instant(aware) < END_OF_TIME:
        raise ValueError("times must lie between the years 1685 and 2255")
    return ParsedTime(aware.astimezone(UTC), time.tzinfo is not None)


def _from_text(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        first, second = (parser.parse(text, default=day, tzinfos=_zone) for day in (_SOME_DAY, _OTHER_DAY))
    if first != second:
        raise ValueError("its day, month or year is missing")
    return first


def _zone(name: str | None, offset: int | None) -> tzinfo | None:
    if offset is not None:
        return tz.tzoffset(name, offset)
    if name is not None:
        raise ValueError(f"the time zone {name} is not known; write an offset such as +01:00")
    return None


def read_zone(name: str) -> tzinfo:
    """Return the time zone of this name, such as `Europe/Berlin`. Raises InvalidRequest for an unknown one."""
    zone: tzinfo | None
    try:
        zone = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        zone = get_zonefile_instance().get(name)  # for a computer without a list of its own
    if zone is None:
        raise InvalidRequest(
            f"there is no time zone {name!r}", remedy="Write it like Europe/Berlin, America/New_York or UTC."
        )
    return zone


def type_name(value: Any) -> str:
    """Return the type of a JSON value in words."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


class Numbers(NamedTuple):
    """The three numbers of a date, as they stand."""

    first: int
    second: int
    third: int

    @classmethod
    def of(cls, date: re.Match[str]) -> Numbers:
        """The numbers of the groups `a`, `b` and `c`."""
        return cls(int(date["a"]), int(date["b"]), int(date["c"]))

    def in_order(self, order: str) -> tuple[int, int, int]:
        """Return year, month and day, for an order such as `dmy`. A year below 100 is one of this century."""
        parts = dict(zip(order, self, strict=True))
        return parts["y"] + 2000 if parts["y"] < 100 else parts["y"], parts["m"], parts["d"]


class DateOrder(NamedTuple):
    """An order such as `dmy`, and whether the dates leave no other."""

    order: str
    is_certain: bool


def order_of(dates: Sequence[Numbers], *, month_first: bool) -> DateOrder:
    """Return the order of year, month and day in the dates, which stand in the order of their file.

    A number above 31 is a year, one above 12 a day. When no date tells, it is the order in which fewer dates break
    the order of the file; when both do alike, `month_first` decides.
    """
    if any(date.first > 31 for date in dates):
        return DateOrder("ymd", is_certain=True)
    has_day_first = any(date.first > 12 for date in dates)
    has_month_first = any(date.second > 12 for date in dates)
    if has_day_first != has_month_first:
        return DateOrder("dmy" if has_day_first else "mdy", is_certain=True)
    turns: dict[str, int] = {}
    for order in ("dmy", "mdy"):
        steps = list(pairwise(date.in_order(order) for date in dates))
        falls = sum(later < earlier for earlier, later in steps)
        rises = sum(later > earlier for earlier, later in steps)
        turns[order] = min(falls, rises)  # the file may begin with the oldest or with the newest
    if turns["dmy"] != turns["mdy"]:
        return DateOrder(min(turns, key=lambda order: turns[order]), is_certain=True)
    return DateOrder("mdy" if month_first else "dmy", is_certain=False)
