"""Tells day and month apart in dates such as 1/2/25, over all dates of a file: one alone often fits both. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


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
    has_day_first, has_month_first = (
        any(date.first > 12 for date in dates),
        any(date.second > 12 for date in dates),
    )
    if has_day_first != has_month_first:
        return DateOrder("dmy" if has_day_first else "mdy", is_certain=True)
    turns = {order: _turns(dates, order) for order in ("dmy", "mdy")}
    if turns["dmy"] != turns["mdy"]:
        return DateOrder(min(turns, key=lambda order: turns[order]), is_certain=True)
    return DateOrder("mdy" if month_first else "dmy", is_certain=False)


def _turns(dates: Sequence[Numbers], order: str) -> int:
    """Count the dates that break the order of the file, which may begin with the oldest or with the newest."""
    days = [date.in_order(order) for date in dates]
    falls = sum(later < earlier for earlier, later in pairwise(days))
    rises = sum(later > earlier for earlier, later in pairwise(days))
    return min(falls, rises)
