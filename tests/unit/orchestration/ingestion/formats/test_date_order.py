"""Which number of a date is the day."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ingestion.written_times import DateOrder, Numbers, order_of


@pytest.mark.parametrize(
    ("dates", "order"),
    [
        ([(25, 12, 24)], ("dmy", True)),
        ([(1, 2, 25), (1, 13, 25)], ("mdy", True)),
        ([(2024, 3, 1)], ("ymd", True)),
        ([(3, 1, 25), (4, 1, 25), (1, 2, 25)], ("dmy", True)),
        ([(1, 2, 25), (5, 1, 25), (4, 1, 25)], ("dmy", True)),
        ([(1, 2, 25)], ("dmy", False)),
        ([], ("dmy", False)),
    ],
)
def test_a_day_above_twelve_or_the_order_of_the_file_tells(
    dates: list[tuple[int, int, int]], order: tuple[str, bool]
) -> None:
    assert order_of([Numbers(*one) for one in dates], month_first=False) == DateOrder(*order)


def test_without_any_sign_the_caller_decides() -> None:
    assert order_of([Numbers(1, 2, 25)], month_first=True) == DateOrder("mdy", is_certain=False)
    assert Numbers(1, 2, 25).in_order("mdy") == (2025, 1, 2)


@given(st.dates(date(2010, 1, 1), date(2030, 1, 1)), st.booleans(), st.booleans())
def test_a_month_of_days_in_a_row_always_tells(first: date, is_day_first: bool, is_newest_first: bool) -> None:
    days = [first + timedelta(days=number) for number in range(31)]
    written = [
        Numbers(*((day.day, day.month) if is_day_first else (day.month, day.day)), day.year % 100)
        for day in (reversed(days) if is_newest_first else days)
    ]
    assert order_of(written, month_first=not is_day_first).order == ("dmy" if is_day_first else "mdy")
