"""The composition root: opens the store and the models that the settings name. Every door uses it."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, NamedTuple

from orchestration.features.registry import FEATURES
from schemas.errors import SubstrateError
from schemas.settings import EmbeddingSettings, Settings, StoreSettings
from schemas.temporal import Instant
from substrate.connection.pool import Connection
from substrate.engine import append_log
from substrate.engine.data_directory import DiskSpace
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.unix_socket import Loading
from substrate.graphs.parking import Parking
from substrate.graphs.registry import Graphs
from substrate.inference.embeddings import Embedder, open_embedder
from substrate.inference.language import open_language_model
from substrate.inference.rerankers import open_reranker
from substrate.store import api_keys, erasure
from substrate.store.stream_notes import NoteBuffer

if TYPE_CHECKING:
    from pathlib import Path

    from orchestration.dependencies import Deps
    from orchestration.feature import Keeper


logger = logging.getLogger(__name__)

type OnLoading = Callable[[Loading], None]

QUERY_TIMEOUT_MS = 1000
"""A query that takes longer is given up, and named in `degraded`."""
GC_THRESHOLD = 200_000
NOTES_STORED_EVERY_S = 60.0
"""What was noted since is lost when this process is killed."""
MIN_PAUSE_S, MAX_PAUSE_S = 0.5, 30.0
"""Pause between two attempts to restart an engine that does not start. A request in between tries at once."""


class Runtime(NamedTuple):
    """The open store and models. `engine` is None when a server is configured, `keeper` without mirrors."""

    settings: Settings
    deps: Deps
    engine: EmbeddedEngine | None
    keeper: Keeper | None = None

    async def moment(self) -> Instant:
        """The moment of a write or a question, by the clock of the engine's host."""
        return await self.deps.connection.now()


def now() -> Instant:
    """The clock of this process, in microseconds since 1970: for the expiry of keys, and for measurements.

    Writes and questions take their moment from the engine (`Connection.now`), so that two services agree on it.
    """
    return time.time_ns() // 1000


@asynccontextmanager
async def open_runtime(settings: Settings, on_loading: OnLoading | None = None) -> AsyncIterator[Runtime]:
    """Open the store and the models; close them when the context ends.

    `on_loading` is called repeatedly with the progress while an embedded engine loads.
    Raises EngineFault when the embedded engine cannot start, Unavailable when the server does not answer.
    """
    from orchestration.dependencies import Deps  # noqa: PLC0415  (what only checks or copies a store asks nothing)

    engine: EmbeddedEngine | None = None
    connection: Connection | None = None
    graphs: Graphs | None = None
    model = None
    opening = asyncio.create_task(_open_embedder(settings.embedding))
    try:
        if settings.embedding.choice().strip() != "local":
            await opening  # what can be chosen wrongly is refused before an engine starts
        model = await asyncio.to_thread(open_language_model, settings.language_model)
        reranker = await asyncio.to_thread(open_reranker, settings.language_model.reranker)
        # The local model loads while the engine starts.
        engine = await _start_engine(settings.store, on_loading)
        embedder = await opening
        connection = _connect(settings.store, engine)
        connection.keep_at_most(settings.store.cache_mb)
        graphs = Graphs(
            connection, model=embedder.model, dimension=embedder.dimension, likeness=settings.store.likeness
        )
        graphs.parking = Parking(connection, settings.store.park_folder())
        await connection.ping()
        keeper = None if settings.store.mirror is None else FEATURES.make_keeper(settings.store.mirror)
        deps = Deps(
            connection,
            graphs,
            embedder,
            language_model=model,
            appraisal=settings.store.appraisal,
            private_webhooks=settings.server.webhooks_private,
            names=settings.store.names == "on",
            reranker=reranker,
            directory=None if engine is None else engine.directory,
            most_memories=settings.store.most_memories,
            most_bytes=settings.store.most_bytes,
            mirror=None if keeper is None else keeper.directory,
            erased=_erase_elsewhere if keeper is None else keeper.erased,
            features=FEATURES,
            notes=NoteBuffer(days=settings.store.stream_notes_days),
        )
        async with nullcontext() if keeper is None else keeper.keep(deps):
            await _finish_erasures(deps.connection, engine, deps)
            await keep_revocations(connection, engine)
            restarting = nullcontext() if engine is None else _restart_on_exit(engine, deps)
            async with restarting, _keep_notes(deps):
                with _tuned_gc():
                    yield Runtime(settings, deps, engine, keeper)
    finally:
        if graphs is not None:
            await graphs.close()
        if connection is not None:
            await connection.close()
        if engine is not None:
            await engine.stop()
        if model is not None:
            await model.aclose()
        await asyncio.wait([opening])  # its own error was raised where it was awaited, or another one was
        if not opening.cancelled() and opening.exception() is None:
            await opening.result().aclose()


async def _open_embedder(settings: EmbeddingSettings) -> Embedder:
    embedder = await asyncio.to_thread(open_embedder, settings)
    try:
        return await embedder.ready()
    except BaseException:
        await embedder.aclose()
        raise


@asynccontextmanager
async def open_store(
    store: StoreSettings, on_loading: OnLoading | None = None
) -> AsyncIterator[tuple[Connection, EmbeddedEngine | None]]:
    """Open the store alone, without models. Raises and reports as `open_runtime` does."""
    engine = await _start_engine(store, on_loading)
    connection = _connect(store, engine)
    Parking(connection, store.park_folder())
    try:
        await _finish_erasures(connection, engine)
        await keep_revocations(connection, engine)
        yield connection, engine
    finally:
        await connection.close()
        if engine is not None:
            await engine.stop()


async def _erase_elsewhere(deps: Deps, graph: str | None, directory: Path) -> None:
    """Reach the mirror that an interrupted erasure noted, where no setting names one."""
    keeper = deps.features.make_keeper(directory)
    if keeper is not None:
        await keeper.erased(deps, graph, directory)


async def _finish_erasures(
    connection: Connection, engine: EmbeddedEngine | None, deps: Deps | None = None
) -> None:
    """Finish interrupted erasures and removals of graphs. A failure is logged; the store opens anyway."""
    directory = None if engine is None else engine.directory
    try:
        finished = 0
        await erasure.take_former_notes(connection)
        if await erasure.read_notes(connection):
            # All that writes comes with it: most commands open a store in which nothing was interrupted.
            from orchestration.writing.erasure import ErasedStore, finish_broken_off  # noqa: PLC0415

            finished = await finish_broken_off(ErasedStore(connection, directory, FEATURES, deps))
        await append_log.rewrite_after_deletions(connection)
    except SubstrateError as error:
        logger.error("an interrupted erasure could not be finished: %s %s", error.detail, error.remedy)
        return
    if finished:
        logger.warning("%d interrupted erasures were finished", finished)


async def keep_revocations(connection: Connection, engine: EmbeddedEngine | None) -> None:
    """Write beside the store which keys are revoked and how far each is trusted: an older backup does not know."""
    if engine is None:
        return
    try:
        await api_keys.save_revoked_keys(connection, engine.directory)
    except (SubstrateError, OSError, ValueError) as error:
        logger.error("the revoked keys could not be written to %s: %s", engine.directory, error)


@asynccontextmanager
async def _keep_notes(deps: Deps) -> AsyncIterator[None]:
    """Within the context, store the notes of streams every minute, and at its end."""
    task = asyncio.create_task(_store_notes_often(deps))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        await _store_notes(deps)


async def _store_notes_often(deps: Deps) -> None:
    while True:
        await asyncio.sleep(NOTES_STORED_EVERY_S)
        await _store_notes(deps)


async def _store_notes(deps: Deps) -> None:
    """A failure is logged: the notes wait for the next time."""
    from orchestration.mind.stream_notes import store_notes  # noqa: PLC0415  (as `Deps`)

    try:
        await store_notes(deps)
    except SubstrateError as error:
        logger.warning("%d notes of streams were not stored: %s", len(deps.notes), error.detail)


@contextmanager
def _tuned_gc() -> Iterator[None]:
    """Within the context, exclude all objects loaded so far from garbage collection, and collect less often.

    A stream makes some thousand values without cycles: the usual threshold of 700 would stop the service dozens of
    times for each. Of records that are kept for a while only, most are gone again before they are looked through.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


async def _start_engine(store: StoreSettings, on_loading: OnLoading | None) -> EmbeddedEngine | None:
    if store.server_url() is not None:
        return None
    engine = EmbeddedEngine(store.data)
    if on_loading is not None:
        engine.waiting = on_loading
    await engine.start()
    return engine


def _connect(store: StoreSettings, engine: EmbeddedEngine | None) -> Connection:
    if engine is not None:
        connection = Connection(f"unix://{engine.socket}", timeout_ms=QUERY_TIMEOUT_MS)
        connection.room = DiskSpace(engine.directory).check
        return connection
    password = store.password.get_secret_value() if store.password else None
    return Connection(
        store.server_url() or "",
        timeout_ms=QUERY_TIMEOUT_MS,
        credentials=(store.username, password),
        acknowledge=store.ack,
        read_from=store.read,
    )


@asynccontextmanager
async def _restart_on_exit(engine: EmbeddedEngine, deps: Deps) -> AsyncIterator[None]:
    """Within the context, restart the engine at once whenever it ends, even when no request comes."""
    restart = asyncio.Event()

    async def revive() -> None:
        if not engine.alive():
            restart.set()

    deps.connection.revive = revive
    watcher = asyncio.create_task(_watch_engine(engine, deps, restart))
    try:
        yield
    finally:
        deps.connection.revive = None
        watcher.cancel()
        await asyncio.wait([watcher])


async def _watch_engine(engine: EmbeddedEngine, deps: Deps, restart: asyncio.Event) -> None:
    pause = MIN_PAUSE_S
    while True:
        ends = [asyncio.create_task(engine.ended()), asyncio.create_task(restart.wait())]
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
        restart.clear()
        deps.graphs.forget()
        try:
            if await engine.ensure():
                engine.restarts += 1
                logger.warning("the engine had ended; it was started again")
                await _finish_erasures(deps.connection, engine, deps)
            pause = MIN_PAUSE_S
        except SubstrateError as error:
            logger.error("the engine ended and cannot be started: %s %s", error.detail, error.remedy)
            with suppress(TimeoutError):
                await asyncio.wait_for(restart.wait(), pause)
            pause = min(2 * pause, MAX_PAUSE_S)
