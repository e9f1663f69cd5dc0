"""A proxy between service and engine that cuts connections before it forwards a statement, or before the reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from enum import Enum
from pathlib import Path

CHUNK = 1 << 16


class Cut(Enum):
    """When a connection is cut: before the engine gets the statement, or after it has run it but not replied."""

    BEFORE = "before"
    AFTER = "after"


class Proxy:
    """A proxy for the unix socket of an engine. `decide` is called with each piece that a client sends."""

    def __init__(self, engine: Path) -> None:
        self.cuts = {Cut.BEFORE: 0, Cut.AFTER: 0}
        self.decide: Callable[[bytes], Cut | None] = lambda piece: None
        self._engine = engine
        self._links: set[asyncio.Task[None]] = set()

    def cut_next(self, where: Cut, marker: bytes, times: int = 1) -> None:
        """Cut the first `times` connections on which a piece contains the marker."""
        left = times

        def decide(piece: bytes) -> Cut | None:
            nonlocal left
            if left == 0 or marker not in piece:
                return None
            left -= 1
            return where

        self.decide = decide

    async def _serve(self, client: asyncio.StreamReader, answer: asyncio.StreamWriter) -> None:
        link = asyncio.current_task()
        if link is not None:
            self._links.add(link)
            link.add_done_callback(self._links.discard)
        try:
            engine, ask = await asyncio.open_unix_connection(self._engine)
        except OSError:
            answer.close()
            return
        unheard = asyncio.Event()
        ways = [
            asyncio.create_task(self._forth(client, ask, unheard)),
            asyncio.create_task(_back(engine, answer, unheard)),
        ]
        try:
            # Cancelled at the end; the stream's own callback would report it as an error.
            with suppress(asyncio.CancelledError):
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            # Closed before the wait, because the end of the proxy may cancel the wait.
            ask.close()
            answer.close()
            await asyncio.gather(*ways, return_exceptions=True)

    async def _forth(
        self, client: asyncio.StreamReader, ask: asyncio.StreamWriter, unheard: asyncio.Event
    ) -> None:
        while piece := await client.read(CHUNK):
            cut = self.decide(piece)
            if cut is not None:
                self.cuts[cut] += 1
            if cut is Cut.BEFORE:
                return
            if cut is Cut.AFTER:
                unheard.set()
            ask.write(piece)
            await ask.drain()


async def _back(engine: asyncio.StreamReader, answer: asyncio.StreamWriter, unheard: asyncio.Event) -> None:
    while (piece := await engine.read(CHUNK)) and not unheard.is_set():
        answer.write(piece)
        await answer.drain()


@asynccontextmanager
async def proxy(engine: Path, at: Path) -> AsyncIterator[Proxy]:
    """Open a proxy that listens at the unix socket `at` for the engine at the unix socket `engine`."""
    made = Proxy(engine)
    server = await asyncio.start_unix_server(made._serve, at)
    try:
        yield made
    finally:
        server.close()
        for link in list(made._links):
            link.cancel()
        await asyncio.gather(*made._links, return_exceptions=True)
