"""Turns at the engine: so many queries at once, and whoever else waits is served in fair order.

Keys take turns; of a key its citizens take turns; what one of them asked goes in the order in which it came. So
with n keys waiting each gets every nth turn, however much one of them has asked for.
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

KEPT: Final = 2
"""So many turns are left to whoever comes next."""
RECENT_S: Final = 1.0
LONGEST_REST_S: Final = 0.5


class Asker(NamedTuple):
    """For whom a query is sent: the id of the key, and the citizen that the request named first, if any."""

    key: str = ""
    citizen: str = ""


NOBODY: Final = Asker()
ASKER: Final[ContextVar[Asker]] = ContextVar("asker", default=NOBODY)
"""Set at the edge, for all that one request sends."""
_HELD: Final[ContextVar[tuple[Turns, ...]]] = ContextVar("held", default=())


def ask_for(citizen_id: str) -> None:
    """The request is for this citizen; a request that names several counts as the first one's."""
    asker = ASKER.get()
    if not asker.citizen:
        ASKER.set(asker._replace(citizen=citizen_id))


class Company:
    """Who was about within the last `RECENT_S`. `clock` tells seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._seen: dict[Asker, float] = {}
        self._citizens: Counter[str] = Counter()

    def see(self, asker: Asker) -> None:
        """The asker is here now."""
        if self._seen.pop(asker, None) is None:
            self._citizens[asker.key] += 1
        self._seen[asker] = self.clock()
        while (first := next(iter(self._seen.items())))[1] < self._seen[asker] - RECENT_S:
            del self._seen[first[0]]
            _less(self._citizens, first[0].key)

    def of(self, asker: Asker) -> tuple[int, int]:
        """How many keys are about, and how many citizens of this key; the asker is one of them."""
        self.see(asker)
        return len(self._citizens), self._citizens[asker.key]


class Turns:
    """`at_once` turns at a time, of which one asker holds all but `KEPT` as long as nobody else is about.

    In company `shared` turns are divided among the keys, and what a key gets among its citizens; each gets at
    least one. A turn that took longer than `rest_beyond_s` is then held as much longer, so that nobody is at it
    much more than half the time.
    """

    def __init__(self, at_once: int, shared: int, company: Company, *, rest_beyond_s: float = math.inf) -> None:
        self.at_once = at_once
        self.shared = shared
        self.rest_beyond_s = rest_beyond_s
        self._company = company
        self._all = 0
        self._of_key: Counter[str] = Counter()
        self._of_asker: Counter[Asker] = Counter()
        self._waiting: dict[str, dict[str, deque[asyncio.Future[None]]]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    @property
    def held(self) -> int:
        """How many turns are held."""
        return self._all

    @property
    def waiting(self) -> int:
        """How many wait for one."""
        return sum(len(line) for lines in self._waiting.values() for line in lines.values())

    def in_company(self) -> bool:
        """Whether others than the present asker are about."""
        return self._company.of(ASKER.get()) != (1, 1)

    async def run[Answer](self, work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        """What `work` answers, begun when its turn comes. Within a turn that is held no other is waited for.

        Who is cancelled while it waits leaves the line, and nothing is begun. Work that has begun goes on without
        its caller, and holds its turn to the end: the engine cannot be stopped either.
        """
        if self in _HELD.get():
            return await work()
        asker = ASKER.get()
        await self._begin(asker)
        task = asyncio.Task(self._carried_out(asker, work), loop=asyncio.get_running_loop(), eager_start=True)
        if task.done():
            return task.result()
        self._tasks.add(task)
        task.add_done_callback(self._over)
        return await asyncio.shield(task)

    def _over(self, task: asyncio.Task[Any]) -> None:
        """Work has ended; whether well or not is the caller's to see, and nobody's when that one has left."""
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()

    async def _carried_out[Answer](self, asker: Asker, work: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        _HELD.set((*_HELD.get(), self))  # in the task's own context
        begun = self._company.clock()
        try:
            return await work()
        finally:
            self._rest(asker, self._company.clock() - begun)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a turn, when it comes, for what is done inside; who leaves gives it back at once."""
        if self in _HELD.get():
            yield
            return
        asker = ASKER.get()
        await self._begin(asker)
        token = _HELD.set((*_HELD.get(), self))
        begun = self._company.clock()
        try:
            yield
        finally:
            _HELD.reset(token)
            self._rest(asker, self._company.clock() - begun)

    async def _begin(self, asker: Asker) -> None:
        if self._may(asker):
            self._take(asker)
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(asker.key, {}).setdefault(asker.citizen, deque()).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._leave(asker, place)
            else:
                self._end(asker)
            raise

    def _may(self, asker: Asker) -> bool:
        keys, citizens = self._company.of(asker)
        of_key, of_asker = self.at_once, max(1, self.at_once - KEPT)
        if (keys, citizens) != (1, 1):
            of_key = max(1, self.shared // keys)
            of_asker = max(1, of_key // citizens)
        return self._all < self.at_once and self._of_key[asker.key] < of_key and self._of_asker[asker] < of_asker

    def _take(self, asker: Asker) -> None:
        self._all += 1
        self._of_key[asker.key] += 1
        self._of_asker[asker] += 1

    def _rest(self, asker: Asker, took: float) -> None:
        rest = min(took - self.rest_beyond_s, LONGEST_REST_S)
        if rest > 0 and self._company.of(asker) != (1, 1):
            asyncio.get_running_loop().call_later(rest, self._end, asker)
        else:
            self._end(asker)

    def _end(self, asker: Asker) -> None:
        self._all -= 1
        _less(self._of_key, asker.key)
        _less(self._of_asker, asker)
        while self._waiting and (following := next(self._able(), None)) is not None:
            self._serve(following)

    def _able(self) -> Iterator[Asker]:
        """Those who wait and may go, the next one first."""
        if self._all < self.at_once:
            for key, lines in self._waiting.items():
                for citizen in lines:
                    if self._may(Asker(key, citizen)):
                        yield Asker(key, citizen)

    def _serve(self, asker: Asker) -> None:
        lines = self._waiting.pop(asker.key)
        line = lines.pop(asker.citizen)
        place = line.popleft()
        if line:
            lines[asker.citizen] = line
        if lines:
            self._waiting[asker.key] = lines
        if not place.done():
            self._take(asker)
            place.set_result(None)

    def _leave(self, asker: Asker, place: asyncio.Future[None]) -> None:
        lines = self._waiting.get(asker.key, {})
        line = lines.get(asker.citizen, deque())
        if place not in line:
            return
        line.remove(place)
        if not line:
            del lines[asker.citizen]
        if not lines:
            del self._waiting[asker.key]


def _less[Name](counts: Counter[Name], name: Name) -> None:
    counts[name] -= 1
    if not counts[name]:
        del counts[name]
