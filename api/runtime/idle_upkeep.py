"""The upkeep of a service: it notes for whom requests come, does upkeep while no request is answered, and gives
memory back."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import time
from collections import Counter
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

from api.runtime.opening import StoreHolder
from orchestration.dependencies import Deps
from orchestration.features.registry import FEATURES
from orchestration.upkeep import ordered_runs
from orchestration.upkeep.job import Job
from orchestration.upkeep.ordered_runs import Order, Reaches, anywhere
from orchestration.upkeep.rounds import OnRun, Pace, Rounds, RoundSettings, make_holder
from orchestration.upkeep.runner import Watch
from orchestration.upkeep.sweep import SweepJob
from schemas.errors import SubstrateError
from schemas.settings import UpkeepSettings
from schemas.upkeep.runs import Run, RunsAnswer, RunsQuery
from substrate.connection.turns import TENANT, UPKEEP
from substrate.store import lease
from substrate.store.column_reading import check_sample

logger = logging.getLogger(__name__)

NOTED_EVERY_S: Final = 2.0
GIVEN_BACK_EVERY_S: Final = 30.0
"""What the allocator keeps for later grows without this. To give it back takes a few milliseconds, in which other
threads go on."""
LOOKED_EVERY_S: Final = 5.0
PARKED_EVERY_S: Final = 60.0
DAY_S: Final = 86_400
LONGEST_WAIT_S: Final = 0.5
"""Upkeep waits so long at most for a moment without requests: then it does one more step of some milliseconds."""
MANY_YOUNG: Final = 50_000
"""This many objects, made since the last collection and kept, take some ten milliseconds to look through."""
MOST_COUNTED: Final = 100_000
"""The requests of so many graphs are counted; then all are counted anew."""
PAUSE_S: Final = 0.005
"""After an answer: the caller may have a next question at once."""
SHARE: Final = 2.0
"""Seconds of rest for each second of work in idle time, and a quarter of it for runs that somebody waits for."""
JOBS: Final[Sequence[Job]] = (SweepJob(), *FEATURES.jobs)
"""The jobs of upkeep, in the order in which they run."""


class Traffic:
    """The requests that this process answers now, and the graphs that requests have named lately. `answered`: how
    many were about each graph since the process started.

    What answers leave in memory is looked through for garbage while there is no request: at its threshold the
    collector would stop one for fifty milliseconds or more.
    """

    def __init__(self) -> None:
        self._states: dict[int, dict[str, Any]] = {}
        self._named: set[str] = set()
        self.answered = Counter[str]()
        self._quiet = asyncio.Event()
        self._quiet.set()

    @property
    def count(self) -> int:
        """How many requests are being answered."""
        return len(self._states)

    @contextmanager
    def request(self, state: dict[str, Any]) -> Iterator[None]:
        """Count a request as being answered within the context. `state` has its `caller` when that is known."""
        self._states[id(state)] = state
        self._quiet.clear()
        try:
            yield
        finally:
            del self._states[id(state)]
            self._named |= (named := _graphs_of(state))
            self.answered.update(named)
            if len(self.answered) > MOST_COUNTED:
                self.answered.clear()
            if not self._states:
                self._quiet.set()
                if gc.get_count()[0] > MANY_YOUNG:
                    asyncio.get_running_loop().call_later(PAUSE_S, self._collect)

    def _collect(self) -> None:
        young, older, _ = gc.get_count()
        if young > MANY_YOUNG and not self._states:
            gc.collect(int(older > gc.get_threshold()[1]))

    def take_named(self) -> set[str]:
        """The graphs that requests have named since this was last asked, and those of the requests under way."""
        under_way = list(map(_graphs_of, self._states.values()))
        named = self._named.union(*under_way)
        self._named = set()
        return named

    async def quiet(self) -> None:
        """Return when no request is being answered, at the latest after `LONGEST_WAIT_S`."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), LONGEST_WAIT_S)


def _graphs_of(state: dict[str, Any]) -> set[str]:
    return set(getattr(state.get("caller"), "graphs", ()))


async def note_traffic[Keys](traffic: Traffic, store: StoreHolder[Keys]) -> None:
    """Write every few seconds which graphs got requests, for the upkeep of all services. Ends when cancelled."""
    while True:
        await asyncio.sleep(NOTED_EVERY_S)
        named = traffic.take_named()
        if named and store.runtime is not None:
            try:
                kept_ms = max(
                    lease.FORGOTTEN_MS, int(DAY_S * 1000 * (store.runtime.settings.store.park_after or 0))
                )
                await lease.note_requests(store.runtime.deps.connection, named, kept_ms)
            except SubstrateError as error:
                logger.warning("the requests to %d graphs were not noted: %s", len(named), error.detail)


async def work_each_second[Keys](store: StoreHolder[Keys]) -> None:
    """Do what features do beside requests, such as sending the messages of webhooks. Ends when cancelled."""
    while True:
        await asyncio.sleep(1.0)
        try:
            if store.runtime is not None:
                await FEATURES.work(store.runtime.deps)
        except SubstrateError as error:
            logger.warning("work beside requests waits: %s", error.detail)
        except Exception:
            logger.exception("work beside requests waits")


async def give_memory_back() -> None:
    """Give free memory back to the system now and then, where the allocator can (glibc). Ends when cancelled."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    while trim is not None:
        await asyncio.sleep(GIVEN_BACK_EVERY_S)
        await asyncio.to_thread(trim, 0)


async def keep_up[Keys](traffic: Traffic, store: StoreHolder[Keys], on_run: OnRun | None = None) -> None:
    """Do upkeep in idle time until cancelled. It begins when the service itself was idle for that time."""
    TENANT.set(UPKEEP)
    rounds: Rounds | None = None
    parks_at = 0.0
    while True:
        if rounds is None and store.runtime is not None:
            upkeep, deps = store.runtime.settings.upkeep, store.runtime.deps
            await asyncio.sleep(upkeep.upkeep_idle_seconds)
            # Without a directory of mirrors their job would leave a run in each graph every hour, for nothing.
            jobs = [job for job in JOBS if job.name != "mirror" or deps.mirror is not None]
            settings = RoundSettings(jobs, upkeep.named_jobs(), upkeep.upkeep_idle_seconds)
            rounds = Rounds(deps, settings, make_holder("serve"), Pace(SHARE, traffic.quiet), on_run=on_run)
        if rounds is not None:
            try:
                await rounds.round()
                await traffic.quiet()
                if store.runtime is not None and time.monotonic() >= parks_at:
                    await park_unused(store.runtime.deps, store.runtime.settings.store.park_after)
                    parks_at = time.monotonic() + PARKED_EVERY_S
                if stale := await check_sample(deps.connection):
                    logger.error("%d memories were held otherwise than they are stored: they are read anew", stale)
            except SubstrateError as error:
                logger.warning("upkeep stops for now: %s %s", error.detail, error.remedy)
            except Exception:
                logger.exception("upkeep stops for now")
        await asyncio.sleep(LOOKED_EVERY_S)


async def park_unused(deps: Deps, days: float | None) -> None:
    """Park the citizens about whom no service was asked for so many days; None: nobody."""
    if days is None or deps.graphs.parking is None:
        return
    before = await deps.connection.now() - int(days * DAY_S * 1_000_000)
    asked = await lease.last_requests(deps.connection, before)
    unused = []
    for name in await deps.graphs.existing():
        if lease.digest(name) not in asked:
            unused.append(name)
    if count := await deps.graphs.parking.park_unused(unused, before):
        logger.info("%d citizens were parked", count)


def answer_runs(runs: Iterable[Run], settings: UpkeepSettings, holder: str = "") -> RunsAnswer:
    """Runs, with the jobs that there are, and whether a service with these settings does upkeep in idle time."""
    jobs = ordered_runs.describe_jobs(JOBS, settings.named_jobs())
    return RunsAnswer(runs=tuple(runs), holder=holder, upkeep=settings.upkeep, jobs=jobs)


async def list_runs(
    query: RunsQuery, settings: UpkeepSettings, deps: Deps, reaches: Reaches = anywhere
) -> RunsAnswer:
    """The runs in graphs that somebody reaches, the newest first, and who does the upkeep now."""
    state = await lease.read(deps.connection)
    runs = await ordered_runs.list_runs(query, deps, reaches)
    return answer_runs(runs, settings, state.says if state.held else "")


def make_order(settings: UpkeepSettings, door: str, watch: Watch, on_run: OnRun | None = None) -> Order:
    """How runs are done that somebody orders through this door."""
    return Order(JOBS, settings.named_jobs(), make_holder(door, urgent=True), watch, on_run)


class OrderedRuns:
    """Runs that callers of this process have ordered. They go on when their caller has left."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def run[Result](self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of the work, which is done as upkeep."""
        task = asyncio.create_task(_as_upkeep(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Cancel what runs. It goes on where it stopped when the job is run again."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _as_upkeep[Result](work: Coroutine[Any, Any, Result]) -> Result:
    TENANT.set(UPKEEP)
    return await work
