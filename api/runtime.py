"""The composition root: settings in, an open store and embedder out. The command line and REST both use it."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from orchestration.deps import Deps
from schemas.settings import Settings, StoreSettings
from schemas.temporal import Instant
from substrate.connection import Connection
from substrate.embedded import EmbeddedEngine
from substrate.embeddings import open_embedder
from substrate.graph_schema import Graphs

YOUNG_OBJECTS = 50_000


class Runtime(NamedTuple):
    """What an edge holds while it is open. `engine` is None when a server is configured."""

    settings: Settings
    deps: Deps
    engine: EmbeddedEngine | None


def now() -> Instant:
    """The clock, read at the edge: microseconds since 1970."""
    return time.time_ns() // 1000


@asynccontextmanager
async def running(settings: Settings) -> AsyncIterator[Runtime]:
    """Open the store and the embedder, and close both at the end.

    Raises EngineFault when the embedded engine cannot start, Unavailable when the server does not answer.
    """
    embedder = await asyncio.to_thread(open_embedder, settings.embedding)
    engine: EmbeddedEngine | None = None
    connection: Connection | None = None
    try:
        await embedder.ready()
        engine = await _start_engine(settings.store)
        connection = _connect(settings.store, engine)
        graphs = Graphs(connection, model=embedder.model, dimension=embedder.dimension)
        if engine is not None:
            _watch(engine, connection, graphs)
        await connection.ping()
        _settle()
        yield Runtime(settings, Deps(connection, graphs, embedder), engine)
    finally:
        if connection is not None:
            await connection.close()
        if engine is not None:
            await engine.stop()
        await embedder.aclose()


@asynccontextmanager
async def opened_store(store: StoreSettings) -> AsyncIterator[tuple[Connection, EmbeddedEngine | None]]:
    """The store alone, without an embedder, for as long as it is needed. Raises as `running` does."""
    engine = await _start_engine(store)
    connection = _connect(store, engine)
    try:
        yield connection, engine
    finally:
        await connection.close()
        if engine is not None:
            await engine.stop()


def _settle() -> None:
    """What is loaded by now stays: the collector need not walk it again at each of its rounds.

    A stream is some thousand short-lived values without cycles; the usual threshold of 700 would stop the
    service dozens of times for each.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 20, 20)


async def _start_engine(store: StoreSettings) -> EmbeddedEngine | None:
    if store.server_url() is not None:
        return None
    engine = EmbeddedEngine(store.data)
    await engine.start()
    return engine


def _connect(store: StoreSettings, engine: EmbeddedEngine | None) -> Connection:
    if engine is not None:
        return Connection(f"unix://{engine.socket}", timeout_ms=store.query_timeout_ms)
    password = store.password.get_secret_value() if store.password else None
    return Connection(
        store.server_url() or "", timeout_ms=store.query_timeout_ms, credentials=(store.username, password)
    )


def _watch(engine: EmbeddedEngine, connection: Connection, graphs: Graphs) -> None:
    """When the engine is lost, start it again in the background; the caller is told to come back."""
    revivals: set[asyncio.Task[None]] = set()

    async def revive() -> None:
        if await engine.ensure():
            graphs.forget()

    async def in_background() -> None:
        if not engine.alive() and not revivals:
            task = asyncio.create_task(revive())
            revivals.add(task)
            task.add_done_callback(_finished)

    def _finished(task: asyncio.Task[None]) -> None:
        revivals.discard(task)
        if not task.cancelled():
            task.exception()  # seen: the next request meets the same lost engine and says so

    connection.revive = in_background
