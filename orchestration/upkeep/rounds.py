"""The rounds of upkeep: which process works, in which graphs, and in what order.

In idle time a service looks every few seconds for a graph that is idle and has a job that is due. Only then it
takes the lease of the store. Somebody who asks for a run gets the lease from it after its page.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Final, NamedTuple
from uuid import uuid4

from orchestration.dependencies import Deps
from orchestration.upkeep import due
from orchestration.upkeep.due import OwnSetting
from orchestration.upkeep.job import Job
from orchestration.upkeep.runner import Watch, run_job
from schemas.errors import Conflict, SubstrateError
from schemas.temporal import Instant
from substrate.graphs.names import GraphOf, origin_of
from substrate.store import lease, runs
from substrate.store.lease import HeldLease, Holder
from substrate.store.runs import LeaseLost, RunRecord

logger = logging.getLogger(__name__)

LOOK_AGAIN_S: Final = 3600
"""A graph is looked at again after this time also when no job is due: its citizen may ask for others."""
AFTER_FAULT_S: Final = 300
SEEN_AGAIN_S: Final = 2.0
"""During a run the last requests are read again after this time."""
LONGEST_PAUSE_S: Final = 1.0

type OnRun = Callable[[GraphOf, RunRecord, float], None]
"""Called after each run, or part of one, with its place and the seconds that it took."""


def make_holder(door: str, *, urgent: bool = False, seconds: float = lease.LEASE_S) -> Holder:
    """A holder of the lease for this process, such as `serve, process 7 on host`."""
    return Holder(uuid4().hex, f"{door}, process {os.getpid()} on {socket.gethostname()}", seconds, urgent)


class Pace:
    """Rests between pages: `share` seconds for each second of work, then until `quiet` returns."""

    def __init__(self, share: float, quiet: Callable[[], Awaitable[None]] | None = None) -> None:
        self._share = share
        self._quiet = quiet
        self._worked_since = time.monotonic()

    async def rest(self) -> None:
        worked = time.monotonic() - self._worked_since
        await asyncio.sleep(min(worked * self._share, LONGEST_PAUSE_S))
        if self._quiet is not None:
            await self._quiet()
        self._worked_since = time.monotonic()


class RoundSettings(NamedTuple):
    """`jobs`: all there are; `named`: those that run instead of the usual ones; a graph is idle after `idle_s`."""

    jobs: Sequence[Job]
    named: Collection[str] | None = None
    idle_s: float = 300.0


class Rounds:
    """The upkeep that one process does by itself. `on_run` is called after each run."""

    def __init__(
        self, deps: Deps, settings: RoundSettings, holder: Holder, pace: Pace, *, on_run: OnRun | None = None
    ) -> None:
        self.held: HeldLease | None = None
        self._deps = deps
        self._settings = settings
        self._holder = holder
        self._pace = pace
        self._on_run = on_run
        self._next: dict[str, Instant] = {}
        self._last: dict[str, Instant] = {}
        self._last_read = 0.0

    async def round(self) -> int:
        """Run what is due in the graphs that are idle; returns how many runs were begun or resumed.

        Does nothing while another process has the lease. Raises Unavailable when the engine does not answer.
        """
        now = await self._deps.connection.now()
        waiting = await self._waiting(now)
        if not waiting:
            return 0
        try:
            async with lease.hold(self._deps.connection, self._holder) as held:
                self.held = held
                return sum([await self._work_in(graph, held) for graph in waiting])
        except Conflict:
            return 0
        finally:
            self.held = None

    async def _waiting(self, now: Instant) -> list[str]:
        """The idle graphs in which a job may be due, the longest due first."""
        names = await self._deps.graphs.existing()
        for gone in self._next.keys() - set(names):
            del self._next[gone]
        candidates = [name for name in names if self._next.get(name, 0) <= now]
        if candidates:
            await self._read_requests(now)
        idle = (name for name in candidates if self._is_idle(name, now))
        return sorted(idle, key=lambda name: self._next.get(name, 0))

    async def _read_requests(self, now: Instant) -> None:
        since = now - int(self._settings.idle_s * due.SECOND)
        self._last = await lease.last_requests(self._deps.connection, since)
        self._last_read = time.monotonic()

    def _is_idle(self, graph: str, now: Instant) -> bool:
        return due.is_idle(self._last.get(lease.digest(graph)), now, self._settings.idle_s)

    async def _work_in(self, graph: str, held: HeldLease) -> int:
        """Run what is due in the graph; returns how many runs that made."""
        if held.lost or held.wanted:
            return 0
        try:
            return await self._run_due(graph, held)
        except LeaseLost:
            held.lost = True
        except SubstrateError as error:
            logger.warning("upkeep in %s: %s %s", graph, error.detail, error.remedy)
            self._next[graph] = await self._deps.connection.now() + AFTER_FAULT_S * due.SECOND
        return 0

    async def _run_due(self, graph: str, held: HeldLease) -> int:
        await self._pace.rest()
        place, store = origin_of(graph), self._deps.graph(graph)
        if not await self._deps.graphs.for_reading(graph):
            return 0
        asked = await lease.read_own(store)
        own = OwnSetting(asked.mode == "off", asked.jobs)
        chosen = due.jobs_of(self._settings.jobs, place.level, self._settings.named, own)
        latest = due.latest_by_job(await runs.read_runs(store)) if chosen else {}
        now = await self._deps.connection.now()
        count = 0
        for job in due.due_jobs(chosen, latest, now):
            if held.lost or held.wanted or not self._is_idle(graph, now):
                break
            begun = time.monotonic()
            record = await run_job(job, place, self._deps, self._watch(graph, held))
            if record is None:
                return count
            count += 1
            latest[job.name] = record
            if self._on_run is not None:
                self._on_run(place, record, time.monotonic() - begun)
        later = now + LOOK_AGAIN_S * due.SECOND
        self._next[graph] = min(due.next_due(chosen, latest) or (later if not chosen else 0), later)
        return count

    def _watch(self, graph: str, held: HeldLease) -> Watch:
        busy = False

        async def rest() -> None:
            nonlocal busy
            await self._pace.rest()
            if time.monotonic() - self._last_read > SEEN_AGAIN_S:
                now = await self._deps.connection.now()
                await self._read_requests(now)
                busy = not self._is_idle(graph, now)
                await held.renew()  # which says whether somebody else asks for the lease

        return Watch(
            held.fence, lost=lambda: held.lost, stopped=lambda: held.wanted or busy or held.lost, rest=rest
        )
