"""The store of a server that speaks already: `initialize` is answered at once, the tools wait for the store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from api.client import AsyncSubstrate
from schemas.errors import Fault, SubstrateError, Unavailable

type SetStatus = Callable[[str], None]
type OpenClient = Callable[[SetStatus], AbstractAsyncContextManager[AsyncSubstrate]]
type Report = Callable[[float, str], Awaitable[None]]

MAX_WAIT_S: Final = 25.0
"""How long a tool waits for the store: hosts give up after thirty seconds, or after sixty."""
REPORT_INTERVAL_S: Final = 2.0
OPENING: Final = "the store is being opened"


class BackgroundStore:
    """Opens a store in a task of its own, and holds it.

    `failed` is told each time that it cannot be opened; whoever asks next tries again. `fault` is what keeps it
    closed.
    """

    def __init__(self, open_store: OpenClient, failed: Callable[[SubstrateError], None]) -> None:
        self.fault: SubstrateError | None = None
        self._open = open_store
        self._failed = failed
        self._said = OPENING
        self._closing = asyncio.Event()
        self._client: asyncio.Future[AsyncSubstrate] | None = None
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """The store is opened, or open."""
        self._begin()
        try:
            yield
        finally:
            await self._end()

    async def client(self, report: Report) -> AsyncSubstrate:
        """The client of the open store; `report` is told meanwhile, after how many seconds, for what it waits.

        Raises what keeps the store closed, Unavailable when it takes too long for whoever waits.
        """
        opening = self._client
        if opening is None or (opening.done() and opening.exception() is not None):
            opening = self._begin()
        waited = 0.0
        while not (await asyncio.wait([opening], timeout=REPORT_INTERVAL_S))[0]:
            waited += REPORT_INTERVAL_S
            if waited >= MAX_WAIT_S:
                raise Unavailable(self._said, remedy="Nothing was done. Try again in a minute.")
            await report(waited, self._said)
        return opening.result()

    def _begin(self) -> asyncio.Future[AsyncSubstrate]:
        opening: asyncio.Future[AsyncSubstrate] = asyncio.get_running_loop().create_future()
        self._client, self._said = opening, OPENING
        self._task = asyncio.create_task(self._hold(opening))
        return opening

    async def _hold(self, opening: asyncio.Future[AsyncSubstrate]) -> None:
        try:
            async with self._open(self._say) as client:
                self.fault = None
                opening.set_result(client)
                await self._closing.wait()
        except Exception as error:
            if opening.done():
                raise
            fault = error if isinstance(error, SubstrateError) else Fault(f"the store cannot be opened: {error}")
            self.fault = fault
            opening.set_exception(fault)
            opening.exception()  # it is told to `failed`, whether a tool asks or not
            self._failed(fault)

    def _say(self, said: str) -> None:
        self._said = said

    async def _end(self) -> None:
        self._closing.set()
        if self._task is None or self._client is None:
            return
        if not self._client.done():
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
