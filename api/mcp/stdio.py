"""Standard input and output of a server, which never keep the process from its end.

A thread that waits for a line, or for somebody to read one, cannot be called back: who cancelled the server would
wait for it. Here one thread reads and one writes, and the process ends without them. Meanwhile file 0 is empty and
file 1 is standard error, so that nothing but the protocol reads or writes the wire.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

from mcp.server.stdio import stdio_server

CHUNK_BYTES: Final = 1 << 16


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """The two streams of the protocol's messages, on standard input and output."""
    with (
        _replace_descriptor(0, os.open(os.devnull, os.O_RDONLY)) as wire_in,
        _replace_descriptor(1, os.dup(2)) as wire_out,
    ):
        # The SDK asks of its files no more than what these two have.
        lines: Any = LineReader(wire_in)
        output: Any = TextWriter(wire_out, lines.end)
        async with stdio_server(lines, output) as streams:
            yield streams


@contextmanager
def _replace_descriptor(standard: int, instead: int) -> Iterator[int]:
    """The file that was `standard` under another number, and `instead` in its place; it is never closed."""
    wire = os.dup(standard)
    os.dup2(instead, standard)
    os.close(instead)
    try:
        yield wire
    finally:
        os.dup2(wire, standard)


class LineReader:
    """The lines of a file, one at a time, however long the next one takes."""

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
        """No more lines behind those that are there: nobody hears an answer."""
        self._ending = asyncio.ensure_future(self._lines.put(None))

    def _read(self) -> None:
        with suppress(RuntimeError, CancelledError):  # the loop is closed: nobody listens
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
    """A file to which texts are written in their order, however slowly it is read.

    `lost` is called when nobody will read it; what is written then is gone.
    """

    def __init__(self, file: int, lost: Callable[[], None]) -> None:
        self._file = file
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._texts: queue.SimpleQueue[tuple[bytes, asyncio.Future[None]]] = queue.SimpleQueue()
        threading.Thread(target=self._write, name="output", daemon=True).start()

    async def write(self, text: str) -> None:
        """Return when the text is written, or nobody will read it."""
        written: asyncio.Future[None] = self._loop.create_future()
        self._texts.put((text.encode(), written))
        await written

    async def flush(self) -> None:
        """Nothing: what was written is out."""

    def _write(self) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            while True:
                text, written = self._texts.get()
                if not _write_all(self._file, text):
                    self._loop.call_soon_threadsafe(self._lost)
                self._loop.call_soon_threadsafe(_set_done, written)


def _set_done(written: asyncio.Future[None]) -> None:
    if not written.done():
        written.set_result(None)


def _write_all(file: int, text: bytes) -> bool:
    """Whether the text was written; nobody will read it if not."""
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
