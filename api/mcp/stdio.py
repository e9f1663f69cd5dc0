"""An MCP server on standard input and output, which does not block the end of the process.

A thread that is blocked in a read or a write cannot be cancelled, and the end of the server would wait for it.
Here one daemon thread reads and one writes, and the process ends without them. Meanwhile file descriptor 0 is
empty and 1 is standard error, so that only the protocol uses the real streams.

Its store opens in the background: `initialize` is answered at once, tools wait for it.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any, Final

from mcp.server.stdio import stdio_server

from api.client import AsyncSubstrate
from schemas.errors import Fault, SubstrateError, Unavailable

CHUNK_BYTES: Final = 1 << 16


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """The streams of the protocol's messages, on standard input and output."""
    with (
        _replace_descriptor(0, os.open(os.devnull, os.O_RDONLY)) as wire_in,
        _replace_descriptor(1, os.dup(2)) as wire_out,
    ):
        # The SDK uses no more of its files than these two offer.
        lines: Any = LineReader(wire_in)
        output: Any = TextWriter(wire_out, lines.end)
        async with stdio_server(lines, output) as streams:
            yield streams


@contextmanager
def _replace_descriptor(standard: int, replacement: int) -> Iterator[int]:
    """Replace the descriptor `standard`; yields a duplicate of the original, which is never closed."""
    wire = os.dup(standard)
    os.dup2(replacement, standard)
    os.close(replacement)
    try:
        yield wire
    finally:
        os.dup2(wire, standard)


class LineReader:
    """Reads the lines of a file in a thread, one at a time."""

    def __init__(self, file: int) -> None:
        self._file = file
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue(maxsize=1)
        self._ending: asyncio.Future[None] | None = None
        threading.Thread(target=self._read, name="lines", daemon=True).start()

    def __aiter__(self) -> LineReader:
        return self

    async def __anext__(self) -> str:
        line = await self._lines.get()
        if line is None:
            raise StopAsyncIteration
        return line

    def end(self) -> None:
        """End after the lines already read, because nobody reads the answers any more."""
        self._ending = asyncio.ensure_future(self._lines.put(None))

    def _read(self) -> None:
        with suppress(RuntimeError, CancelledError):  # the loop is closed: nobody reads the lines
            for line in _read_lines(self._file):
                self._put(line.decode(errors="replace"))
            self._put(None)

    def _put(self, line: str | None) -> None:
        putting = self._lines.put(line)
        try:
            asyncio.run_coroutine_threadsafe(putting, self._loop).result()
        except BaseException:
            putting.close()
            raise


class TextWriter:
    """Writes texts to a file in a thread, in order.

    `on_lost` is called when the reader of the file is gone; texts written from then on are lost.
    """

    def __init__(self, file: int, on_lost: Callable[[], None]) -> None:
        self._file = file
        self._on_lost = on_lost
        self._loop = asyncio.get_running_loop()
        self._texts: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="output", daemon=True).start()

    async def write(self, text: str) -> None:
        """Wait until the text is written, or lost."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._texts.put((text.encode(), written))
        await written

    async def flush(self) -> None:
        """Does nothing: `write` has written already."""

    def _write(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            while True:
                text, written = self._texts.get()
                if not _write_all(self._file, text):
                    self._loop.call_soon_threadsafe(self._on_lost)
                self._loop.call_soon_threadsafe(_set_done, written)


def _set_done(written: asyncio.Future[None]) -> None:
    if not written.done():
        written.set_result(None)


def _write_all(file: int, text: bytes) -> bool:
    """Write the text. False when the reader is gone."""
    left = memoryview(text)
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError:
        return False
    return True


def _read_lines(file: int) -> Iterator[bytes]:
    rest = b""
    while chunk := os.read(file, CHUNK_BYTES):
        *whole, rest = (rest + chunk).split(b"\n")
        yield from whole
    if rest:
        yield rest


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
