"""The store of an MCP server opens in the background: `initialize` is answered at once, tools wait for it."""

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
"""How long a tool waits for the store: hosts give up after thirty or sixty seconds."""
REPORT_INTERVAL_S: Final = 2.0
OPENING: Final = "the store is being opened"


class BackgroundStore:
    """Opens a store in a task of its own, and keeps it open.

    `on_failure` is called each time it cannot be opened; the next call of `client` tries again. `fault` is the
    last error, None once the store is open.
    """

    def __init__(self, open_store: OpenClient, on_failure: Callable[[SubstrateError], None]) -> None:
        self.fault: SubstrateError | None = None
        self._open = open_store
        self._on_failure = on_failure
        self._status = OPENING
        self._closing = asyncio.Event()
        self._client: asyncio.Future[AsyncSubstrate] | None = None
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def open_in_background(self) -> AsyncIterator[None]:
        """Start opening the store; close it when the context ends."""
        self._start()
        try:
            yield
        finally:
            await self._end()

    async def client(self, report: Report) -> AsyncSubstrate:
        """Wait for the client of the open store. Meanwhile `report` is called with the seconds and the status.

        Raises the error that keeps the store closed, and Unavailable after `MAX_WAIT_S`.
        """
        opening = self._client
        if opening is None or (opening.done() and opening.exception() is not None):
            opening = self._start()
        waited = 0.0
        while not (await asyncio.wait([opening], timeout=REPORT_INTERVAL_S))[0]:
            waited += REPORT_INTERVAL_S
            if waited >= MAX_WAIT_S:
                raise Unavailable(self._status, remedy="Nothing was done. Try again in a minute.")
            await report(waited, self._status)
        return opening.result()

    def _start(self) -> asyncio.Future[AsyncSubstrate]:
        opening: asyncio.Future[AsyncSubstrate] = asyncio.get_running_loop().create_future()
        self._client, self._status = opening, OPENING
        self._task = asyncio.create_task(self._hold(opening))
        return opening

    async def _hold(self, opening: asyncio.Future[AsyncSubstrate]) -> None:
        try:
            async with self._open(self._set_status) as client:
                self.fault = None
                opening.set_result(client)
                await self._closing.wait()
        except Exception as error:
            if opening.done():
                raise
            fault = error if isinstance(error, SubstrateError) else Fault(f"the store cannot be opened: {error}")
            self.fault = fault
            opening.set_exception(fault)
            opening.exception()  # marks it as retrieved: `on_failure` reports it even when no tool waits
            self._on_failure(fault)

    def _set_status(self, status: str) -> None:
        self._status = status

    async def _end(self) -> None:
        self._closing.set()
        if self._task is None or self._client is None:
            return
        if not self._client.done():
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
