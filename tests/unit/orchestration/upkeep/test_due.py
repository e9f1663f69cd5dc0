"""Which job of upkeep is due where, and when a failed one is tried again."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep.due import (
    MOST_RETRY_S,
    SECOND,
    OwnSetting,
    due_at,
    due_jobs,
    jobs_of,
    next_due,
    retry_at,
)
from schemas.memory import Level


class Timed(NamedTuple):
    name: str
    default: bool = True
    levels: tuple[Level, ...] = (Level.N1,)
    period_s: int = 60


class Past(NamedTuple):
    job: str
    status: str
    begun_at: int
    next_at: int | None = None


TAGS, SWEEP, ERASURE = Timed("tags"), Timed("sweep", levels=tuple(Level)), Timed("erasure", default=False)
JOBS = (TAGS, SWEEP, ERASURE)


@pytest.mark.parametrize(
    ("level", "named", "own", "expected"),
    [
        (Level.N1, None, OwnSetting(), ["tags", "sweep"]),
        (Level.N2, None, OwnSetting(), ["sweep"]),
        (Level.N1, ("erasure",), OwnSetting(), ["erasure"]),
        (Level.N1, (), OwnSetting(), []),
        (Level.N1, None, OwnSetting(off=True), []),
        (Level.N1, ("sweep",), OwnSetting(jobs=("tags", "erasure")), ["tags", "erasure"]),
    ],
)
def test_what_is_named_runs_and_what_erases_only_then(
    level: Level, named: tuple[str, ...] | None, own: OwnSetting, expected: list[str]
) -> None:
    assert [job.name for job in jobs_of(JOBS, level, named, own)] == expected


@pytest.mark.parametrize(
    ("latest", "due"),
    [
        (None, 0),
        (Past("tags", "running", 5), 0),
        (Past("tags", "failed", 5, 9), 9),
        (Past("tags", "done", 5, 65), 65),
        (Past("tags", "undone", 5, 65), 65),
    ],
)
def test_a_job_is_due_when_it_never_ran_was_broken_off_or_its_time_has_come(latest: Past | None, due: int) -> None:
    assert due_at(latest) == due
    runs = {} if latest is None else {"tags": latest}
    assert [job.name for job in due_jobs([TAGS], runs, due)] == ["tags"]
    assert list(due_jobs([TAGS], runs, due - 1)) == []
    assert next_due([TAGS], runs) == due


@given(st.integers(1, 200), st.integers(0, 40 * MOST_RETRY_S))
def test_each_attempt_waits_at_least_as_long_as_the_one_before_and_never_beyond_a_day(
    attempt: int, period_s: int
) -> None:
    waits = [retry_at(0, number, period_s) for number in (attempt, attempt + 1)]
    assert 0 < waits[0] <= waits[1] <= MOST_RETRY_S * SECOND
