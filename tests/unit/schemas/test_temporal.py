"""Time: closed-open periods, scopes, and instants that lose nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schemas.temporal import (
    BEGINNING_OF_TIME,
    END_OF_TIME,
    AskedMoment,
    EndMoment,
    Moment,
    Period,
    Scope,
    open_end,
    to_datetime,
    to_instant,
)

MOMENT: TypeAdapter[datetime] = TypeAdapter(Moment)
END: TypeAdapter[datetime] = TypeAdapter(EndMoment)
ASKED: TypeAdapter[datetime] = TypeAdapter(AskedMoment)
storable = st.integers(BEGINNING_OF_TIME + 1, END_OF_TIME - 1)
small = st.integers(-6, 6)


@st.composite
def short_periods(draw: st.DrawFn) -> Period:
    start = draw(small)
    return Period(start, start + draw(st.integers(1, 6)))


@pytest.mark.parametrize(("instant", "inside"), [(9, False), (10, True), (19, True), (20, False)])
def test_a_period_is_closed_open(instant: int, inside: bool) -> None:
    assert Period(10, 20).contains(instant) is inside
    assert Period(10, 20).overlaps(Period(instant, instant + 1)) is inside


@given(short_periods(), short_periods())
def test_periods_overlap_exactly_when_they_share_an_instant(one: Period, other: Period) -> None:
    shared = any(one.contains(instant) and other.contains(instant) for instant in range(-6, 13))
    assert one.overlaps(other) is other.overlaps(one) is shared


@given(short_periods(), small, small)
def test_a_scope_of_one_moment_sees_what_contains_the_moment(period: Period, valid: int, known: int) -> None:
    scope = Scope.at(valid, known)
    assert scope.valid.overlaps(period) is period.contains(valid)
    assert scope.known.overlaps(period) is period.contains(known)


@pytest.mark.parametrize(
    ("as_of", "known_at", "scope"),
    [
        (None, None, Scope.current(9)),
        (3, None, Scope.at(3, 3)),
        (None, 5, Scope.at(9, 5)),
        (3, 5, Scope.at(3, 5)),
        (0, 0, Scope.at(0, 0)),
    ],
)
def test_as_of_alone_sets_both_axes_and_known_at_the_second(
    as_of: int | None, known_at: int | None, scope: Scope
) -> None:
    assert Scope.resolve(as_of, known_at, 9) == scope
    as_of_time, known = (None if instant is None else to_datetime(instant) for instant in (as_of, known_at))
    assert Scope.resolve_datetimes(as_of_time, known, 9) == scope


@given(storable)
def test_an_instant_becomes_a_datetime_and_the_same_instant_again(instant: int) -> None:
    moment = to_datetime(instant)
    assert moment.utcoffset() == timedelta(0)
    assert to_instant(moment) == instant


@given(storable, st.integers(-14 * 60, 14 * 60))
def test_a_datetime_in_any_zone_names_the_same_instant(instant: int, offset: int) -> None:
    moment = to_datetime(instant).astimezone(timezone(timedelta(minutes=offset)))
    assert to_instant(moment) == instant
    assert MOMENT.validate_python(moment) == to_datetime(instant)


@given(storable, storable)
def test_instants_are_ordered_as_their_datetimes(one: int, other: int) -> None:
    assert (one < other) is (to_datetime(one) < to_datetime(other))


@pytest.mark.parametrize(
    ("instant", "moment"),
    [
        (0, datetime(1970, 1, 1, tzinfo=UTC)),
        (1, datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
        (-1, datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)),
        (1_000_000_000_000_000, datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)),
    ],
)
def test_an_instant_counts_microseconds_since_1970(instant: int, moment: datetime) -> None:
    assert to_instant(moment) == instant
    assert to_datetime(instant) == moment


@pytest.mark.parametrize("bound", [BEGINNING_OF_TIME, END_OF_TIME])
def test_the_bounds_of_time_are_exact_as_doubles(bound: int) -> None:
    assert int(float(bound)) == bound
    assert float(bound) != float(bound - 1)
    assert float(bound) != float(bound + 1)


@pytest.mark.parametrize(
    ("instant", "storable"),
    [
        (BEGINNING_OF_TIME, False),
        (BEGINNING_OF_TIME + 1, True),
        (0, True),
        (END_OF_TIME - 1, True),
        (END_OF_TIME, False),
    ],
)
def test_a_moment_lies_between_the_bounds(instant: int, storable: bool) -> None:
    moment = to_datetime(instant)
    if storable:
        assert MOMENT.validate_python(moment) == moment
    else:
        with pytest.raises(ValidationError, match="1685 and 2255"):
            MOMENT.validate_python(moment)


@pytest.mark.parametrize("moment", [datetime(1, 1, 1), datetime(9999, 12, 31)])  # noqa: DTZ001  (no zone)
def test_the_ends_of_the_calendar_are_no_moments(moment: datetime) -> None:
    with pytest.raises(ValidationError, match="1685 and 2255"):
        MOMENT.validate_python(moment)


def test_only_an_open_end_has_no_datetime() -> None:
    assert open_end(END_OF_TIME) is None
    assert open_end(END_OF_TIME - 1) == to_datetime(END_OF_TIME - 1)


@pytest.mark.parametrize(
    ("known_from", "known_to", "seen"),
    [
        (None, None, True),
        (None, 11, True),
        (None, 10, False),
        (19, None, True),
        (20, None, True),
        (21, None, False),
        (12, 13, True),
    ],
)
def test_history_sees_what_was_held_between_two_instants_and_what_changed_at_the_first(
    known_from: int | None, known_to: int | None, seen: bool
) -> None:
    scope = Scope.history(known_from, known_to)
    assert scope.known.overlaps(Period(10, 20)) is seen


@given(storable)
def test_history_sees_every_valid_time(start: int) -> None:
    scope = Scope.history(None, None)
    assert scope.valid.overlaps(Period(start))
    assert scope.valid.overlaps(Period(start, start + 1))
    assert scope.known.overlaps(Period(start))


@pytest.mark.parametrize("digits", [".1234567", ".0000001", ",123456789", ".123456001"])
def test_digits_beyond_the_microsecond_are_refused(digits: str) -> None:
    with pytest.raises(ValidationError, match="to the microsecond"):
        MOMENT.validate_python(f"2025-07-20T14:30:00{digits}Z")


@pytest.mark.parametrize("digits", ["", ".1", ".123456", ".123456000", ".000000000"])
def test_digits_that_lose_nothing_are_taken(digits: str) -> None:
    assert MOMENT.validate_python(f"2025-07-20T14:30:00{digits}Z").second == 0


def test_ages_count_from_the_moment_asked_about_and_from_now_for_a_range() -> None:
    assert Scope.at(11, 20).moment(20) == 11
    assert Scope.history(None, None).moment(20) == 20


def test_the_last_moment_of_a_question_is_its_instant_the_end_of_its_range_or_now() -> None:
    assert Scope.at(11, 20).last_moment(30) == Scope.at(11, 5).last_moment(30) == 11
    assert Scope.current(30).last_moment(30) == 30
    assert Scope.history(10, 15).last_moment(30) == Scope.history(10, 15).last_moment(12) == 15
    assert Scope.history(10, None).last_moment(30) == 30


@given(st.dates(date(1700, 1, 1), date(2250, 1, 1)))
def test_a_date_is_its_first_moment_as_a_start_its_last_where_it_is_asked_about_and_the_next_as_an_end(
    day: date,
) -> None:
    for given_day in (day, day.isoformat()):
        start, end, asked = (each.validate_python(given_day) for each in (MOMENT, END, ASKED))
        assert start.date() == asked.date() == day
        assert start + timedelta(days=1) == end == asked + timedelta(microseconds=1)


@given(storable.map(to_datetime))
def test_a_time_is_itself_whatever_it_is_for(moment: datetime) -> None:
    for each in (MOMENT, END, ASKED):
        assert each.validate_python(moment) == each.validate_python(moment.isoformat()) == moment


@pytest.mark.parametrize("text", ["2026-02-30", "9999-12-31", "26-02-03", "2026-3-31"])
def test_what_is_no_date_that_can_be_stored_is_refused(text: str) -> None:
    for each in (END, ASKED):
        with pytest.raises(ValidationError):
            each.validate_python(text)
