"""Turns at the engine: a limited number of queries at once, and a fair order for those that wait.

Keys take turns; the citizens of a key take turns; the queries of one citizen go in the order in which they came.
So with n keys waiting each gets every nth turn, however many queries one of them has sent.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, NamedTuple

RESERVED: Final = 2
"""Turns that a single tenant leaves free for the next one."""
RECENT_S: Final = 1.0
MAX_REST_S: Final = 0.5


class Tenant(NamedTuple):
    """The sender of a query: the id of its key, and the first citizen that the request names, if any."""

    key: str = ""
    citizen: str = ""


NO_TENANT: Final = Tenant()
UPKEEP: Final = Tenant("\0upkeep")
"""Upkeep: it holds one turn at a time, and only when few are held. It takes no share from a tenant's turns."""
TENANT: Final[ContextVar[Tenant]] = ContextVar("tenant", default=NO_TENANT)
"""Set at the edge, for everything that one request sends."""
_HELD: Final[ContextVar[tuple[Turns, ...]]] = ContextVar("held", default=())


def note_citizen(citizen_id: str) -> None:
    """Count the request as this citizen's, unless it named another citizen before."""
    tenant = TENANT.get()
    if not tenant.citizen:
        TENANT.set(tenant._replace(citizen=citizen_id))


class ActiveTenants:
    """The tenants that sent something within the last second. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._last_seen: dict[Tenant, float] = {}
        self._citizens: Counter[str] = Counter()

    def note(self, tenant: Tenant) -> None:
        """Count the tenant as active now, and forget those that were not active for a second. Upkeep is not
        counted: a tenant that is alone with it gets as many turns as without it."""
        if tenant == UPKEEP:
            return
        if self._last_seen.pop(tenant, None) is None:
            self._citizens[tenant.key] += 1
        now = self._last_seen[tenant] = self.clock()
        while (oldest := next(iter(self._last_seen.items())))[1] < now - RECENT_S:
            del self._last_seen[oldest[0]]
            _decrement(self._citizens, oldest[0].key)

    def count(self, tenant: Tenant) -> ActiveCount:
        """Count the active keys and citizens; the tenant itself counts as active."""
        self.note(tenant)
        return ActiveCount(len(self._citizens), self._citizens[tenant.key])


class ActiveCount(NamedTuple):
    """How many keys are active, and how many citizens of one key."""

    keys: int
    citizens: int

    @property
    def alone(self) -> bool:
        return self == (1, 1)


class Turns:
    """`at_once` turns at a time; a tenant that is alone holds at most all but `RESERVED` of them.

    When others are active, `shared` turns are divided among the keys, and the share of a key among its citizens;
    each gets at least one. A turn that took longer than `rest_beyond_s` is then followed by a rest: it is held on
    for the time beyond that limit, at most `MAX_REST_S`, so that no tenant uses the engine much more than half the
    time.
    """

    def __init__(
        self, at_once: int, shared: int, active: ActiveTenants, *, rest_beyond_s: float = math.inf
    ) -> None:
        self.at_once = at_once
        self.shared = shared
        self.rest_beyond_s = rest_beyond_s
        self._active = active
        self._held = 0
        self._held_by_key: Counter[str] = Counter()
        self._held_by_tenant: Counter[Tenant] = Counter()
        self._waiting: dict[str, dict[str, deque[asyncio.Future[None]]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def held(self) -> int:
        """How many turns are held now."""
        return self._held

    @property
    def waiting(self) -> int:
        """How many callers wait for a turn."""
        return sum(len(queue) for queues in self._waiting.values() for queue in queues.values())

    def others_active(self) -> bool:
        """True when a tenant other than the current one is active."""
        return not self._active.count(TENANT.get()).alone

    async def run[Result](self, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Run `work` when its turn comes, or at once when the caller holds a turn already; returns its result. A
        caller that is cancelled while it waits leaves the queue, and nothing is started. Work that has started
        continues when its caller is cancelled, and holds its turn to the end: the engine cannot be interrupted."""
        if self in _HELD.get():
            return await work()
        tenant = TENANT.get()
        await self._wait_for_turn(tenant)
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[Result] = loop.create_future()
        task = asyncio.Task(self._work_and_end(tenant, work, answered), loop=loop, eager_start=True)
        if task.done():
            self._task_done(task)
        else:
            self._tasks.add(task)
            task.add_done_callback(self._task_done)
        return await answered

    def _task_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        # Retrieve the exception, or asyncio reports it: the caller has it from elsewhere.
        if not task.cancelled():
            task.exception()

    async def _work_and_end[Result](
        self, tenant: Tenant, work: Callable[[], Coroutine[Any, Any, Result]], answered: asyncio.Future[Result]
    ) -> None:
        """It answers by itself: a caller that waits for the end of the task wakes a turn of the loop later."""
        _HELD.set((*_HELD.get(), self))  # in the task's own context
        begun = self._active.clock()
        try:
            result = await work()
            if not answered.done():
                answered.set_result(result)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError):
                answered.cancel()
            elif not answered.done():
                answered.set_exception(error)
            raise
        finally:
            self._rest_and_end(tenant, self._active.clock() - begun)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn and hold it inside the `with` block. A caller that holds a turn takes no second one."""
        if self in _HELD.get():
            yield
            return
        tenant = TENANT.get()
        await self._wait_for_turn(tenant)
        token = _HELD.set((*_HELD.get(), self))
        begun = self._active.clock()
        try:
            yield
        finally:
            _HELD.reset(token)
            self._rest_and_end(tenant, self._active.clock() - begun)

    async def _wait_for_turn(self, tenant: Tenant) -> None:
        if self._may_start(tenant):
            self._start(tenant)
            return
        started = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant.key, {}).setdefault(tenant.citizen, deque()).append(started)
        try:
            await started
        except asyncio.CancelledError:
            if started.cancelled():
                self._leave_queue(tenant, started)
            else:
                self._end(tenant)
            raise

    def _may_start(self, tenant: Tenant) -> bool:
        if tenant == UPKEEP:
            return self._held < self.shared and not self._held_by_tenant[tenant]
        active = self._active.count(tenant)
        key_limit, tenant_limit = self.at_once, max(1, self.at_once - RESERVED)
        if not active.alone:
            key_limit = max(1, self.shared // active.keys)
            tenant_limit = max(1, key_limit // active.citizens)
        return (
            self._held < self.at_once
            and self._held_by_key[tenant.key] < key_limit
            and self._held_by_tenant[tenant] < tenant_limit
        )

    def _start(self, tenant: Tenant) -> None:
        self._held += 1
        self._held_by_key[tenant.key] += 1
        self._held_by_tenant[tenant] += 1

    def _rest_and_end(self, tenant: Tenant, took: float) -> None:
        rest = min(took - self.rest_beyond_s, MAX_REST_S)
        if rest > 0 and not self._active.count(tenant).alone:
            asyncio.get_running_loop().call_later(rest, self._end, tenant)
        else:
            self._end(tenant)

    def _end(self, tenant: Tenant) -> None:
        self._held -= 1
        _decrement(self._held_by_key, tenant.key)
        _decrement(self._held_by_tenant, tenant)
        while self._waiting and (following := next(self._ready(), None)) is not None:
            self._serve(following)

    def _ready(self) -> Iterator[Tenant]:
        """Waiting tenants that may start, the next one first."""
        if self._held < self.at_once:
            for key, queues in self._waiting.items():
                for citizen in queues:
                    if self._may_start(Tenant(key, citizen)):
                        yield Tenant(key, citizen)

    def _serve(self, tenant: Tenant) -> None:
        """Start the tenant's oldest query, and move its key and citizen to the end of the order."""
        queues = self._waiting.pop(tenant.key)
        queue = queues.pop(tenant.citizen)
        started = queue.popleft()
        if queue:
            queues[tenant.citizen] = queue
        if queues:
            self._waiting[tenant.key] = queues
        if not started.done():
            self._start(tenant)
            started.set_result(None)

    def _leave_queue(self, tenant: Tenant, started: asyncio.Future[None]) -> None:
        queues = self._waiting.get(tenant.key, {})
        queue = queues.get(tenant.citizen, deque())
        if started not in queue:
            return
        queue.remove(started)
        if not queue:
            del queues[tenant.citizen]
        if not queues:
            del self._waiting[tenant.key]


class Pauses:
    """Lets the writes of this process to one graph wait for a moment, so that a reader finds it unchanged."""

    def __init__(self) -> None:
        self._paused: dict[str, asyncio.Event] = {}

    async def wait(self, graph: str) -> None:
        """Return when nobody pauses the writes to the graph."""
        while (paused := self._paused.get(graph)) is not None:
            await paused.wait()

    @asynccontextmanager
    async def pause(self, graph: str, most_s: float) -> AsyncIterator[None]:
        """Let the writes to the graph wait inside the `with` block, for at most this many seconds."""
        await self.wait(graph)
        paused = self._paused[graph] = asyncio.Event()

        def end() -> None:
            if not paused.is_set():
                del self._paused[graph]
                paused.set()

        timer = asyncio.get_running_loop().call_later(most_s, end)
        try:
            yield
        finally:
            timer.cancel()
            end()


def _decrement[Name](counts: Counter[Name], name: Name) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]
