"""Which job of upkeep is due where, and when a failed one is tried again. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple, Protocol

from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.temporal import Instant

SECOND: Final = 1_000_000
"""An instant counts microseconds."""
name_of: Final = attrgetter("name")
FIRST_RETRY_S: Final = 60
MOST_RETRY_S: Final = 86_400
ENDED: Final = ("done", "undone")
UNENDED: Final = ("running", "failed")


class Periodic(Protocol):
    """What the rules need to know of a job."""

    @property
    def name(self) -> str: ...
    @property
    def levels(self) -> tuple[Level, ...]: ...
    @property
    def period_s(self) -> int: ...
    @property
    def default(self) -> bool: ...


class PastRun(Protocol):
    """What the rules need to know of a run."""

    @property
    def job(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def begun_at(self) -> Instant: ...
    @property
    def next_at(self) -> Instant | None: ...


class OwnSetting(NamedTuple):
    """What a citizen asks for itself: no upkeep in idle time at all (`off`), or other jobs. None: as it is set."""

    off: bool = False
    jobs: tuple[str, ...] | None = None


NOTHING_SAID: Final = OwnSetting()


def switched_on[J: Periodic](jobs: Sequence[J], named: Collection[str] | None) -> list[J]:
    """The jobs that run: those that are named, else those that run by default."""
    return [job for job in jobs if (job.default if named is None else job.name in named)]


def check_names(names: Collection[str] | None, known: Iterable[str]) -> None:
    """Raises InvalidRequest for a job that this release does not have."""
    known = tuple(known)
    unknown = sorted(set(names or ()).difference(known))
    if unknown:
        raise InvalidRequest(
            f"there is no job {unknown[0]!r}", remedy=f"Jobs: {', '.join(known) or 'none in this release'}."
        )


def jobs_of[J: Periodic](
    jobs: Sequence[J], level: Level, named: Collection[str] | None, own: OwnSetting = NOTHING_SAID
) -> list[J]:
    """The jobs that run in idle time in a graph of this level. What a citizen asks for itself goes first."""
    if own.off:
        return []
    chosen = switched_on(jobs, named if own.jobs is None else own.jobs)
    return [job for job in chosen if level in job.levels]


def latest_by_job[R: PastRun](runs: Iterable[R]) -> dict[str, R]:
    """The newest run of each job."""
    latest: dict[str, R] = {}
    for run in runs:
        if run.job not in latest or run.begun_at > latest[run.job].begun_at:
            latest[run.job] = run
    return latest


def due_at(latest: PastRun | None) -> Instant:
    """When a job is due again; 0: at once. A run that was broken off is due at once."""
    if latest is None or latest.status == "running" or latest.next_at is None:
        return 0
    return latest.next_at


def due_jobs[J: Periodic](jobs: Sequence[J], latest: Mapping[str, PastRun], now: Instant) -> Iterator[J]:
    """The jobs that are due now, in their order."""
    return (job for job in jobs if due_at(latest.get(job.name)) <= now)


def next_due(jobs: Sequence[Periodic], latest: Mapping[str, PastRun]) -> Instant | None:
    """When the first of the jobs is due; None without jobs."""
    return min((due_at(latest.get(job.name)) for job in jobs), default=None)


def since(runs: Iterable[PastRun], job: str) -> Instant | None:
    """When the last finished run of the job began. One that was taken back counts: it is not done again."""
    ended = [run.begun_at for run in runs if run.job == job and run.status in ENDED]
    return max(ended, default=None)


def retry_at(now: Instant, attempt: int, period_s: int) -> Instant:
    """When a run is tried again that failed `attempt` times: after a minute, then twice as long each time.

    Never later than the period of the job, nor than a day.
    """
    wait: int = min(FIRST_RETRY_S * 2 ** min(attempt - 1, 30), MOST_RETRY_S, max(period_s, 1))
    return now + wait * SECOND


def is_idle(last_request: Instant | None, now: Instant, idle_s: float) -> bool:
    """True when the last request is this many seconds ago; None: none is known. All times are of one clock."""
    return last_request is None or now - last_request >= idle_s * SECOND
