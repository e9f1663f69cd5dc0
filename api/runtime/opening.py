"""The store of an application while it is opened: what requests are told until it is, and after a failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from api.runtime.runtime import OnLoading, Runtime
from schemas.errors import Fault, SubstrateError, Unavailable
from substrate.engine.loading import Loading

logger = logging.getLogger(__name__)

type OpenStore[Keys] = Callable[[OnLoading], AbstractAsyncContextManager[tuple[Runtime, Keys]]]
type OnFailure = Callable[[SubstrateError], None]

DEFAULT_RETRY_S: Final = 5
"""When to ask again where nothing can be said of how long it takes."""
LOG_INTERVAL_S: Final = 10.0


class StoreHolder[Keys]:
    """Holds the store open with the keys that open it, in a task of its own.

    `failed`: the application serves while the engine loads, and this is told when the store then cannot be opened.
    Without it the application waits until the store is open. `waiting` is told how far an engine is that loads.
    """

    def __init__(self, failed: OnFailure | None = None, waiting: OnLoading | None = None) -> None:
        self.runtime: Runtime | None = None
        self.keyring: Keys | None = None
        self._failed = failed
        self._waiting = waiting
        self._fault: SubstrateError | None = None
        self._loading: Loading | None = None
        self._logged_at = -LOG_INTERVAL_S
        self._moved = asyncio.Event()
        self._closing = asyncio.Event()

    def store(self) -> tuple[Runtime, Keys]:
        """The open store. Raises what `check` does, and Unavailable before the application has started."""
        self.check()
        if self.runtime is None or self.keyring is None:
            raise Unavailable("the store is not open yet", remedy="Try again in a moment.")
        return self.runtime, self.keyring

    def check(self) -> None:
        """Raises Unavailable while the engine loads, with how long it may take; or what keeps the store closed."""
        if self._fault is not None:
            raise self._fault
        loading = self._loading
        if self.runtime is not None:
            loading = None if self.runtime.engine is None else self.runtime.engine.loading
        if loading is not None:
            raise _still_loading(loading)

    @asynccontextmanager
    async def held(self, open_store: OpenStore[Keys]) -> AsyncIterator[None]:
        """The store is open, or the engine loads and requests are told so. Raises what keeps it from opening."""
        task = asyncio.create_task(self._hold(open_store))
        try:
            await self._begun(task)
            task.add_done_callback(self._ended)
            yield
        finally:
            self._closing.set()
            task.remove_done_callback(self._ended)
            if self.runtime is None:
                task.cancel()
            await asyncio.wait([task])
        if self._fault is None and not task.cancelled():
            task.result()

    async def _begun(self, task: asyncio.Task[None]) -> None:
        """Return when the store is open, or requests can be told that the engine loads; raises what went wrong."""
        moved = asyncio.create_task(self._moved.wait())
        try:
            await asyncio.wait([task, moved], return_when=asyncio.FIRST_COMPLETED)
        finally:
            moved.cancel()
        if task.done():
            await task

    async def _hold(self, open_store: OpenStore[Keys]) -> None:
        async with open_store(self._waits) as (runtime, keyring):
            self.runtime, self.keyring, self._loading = runtime, keyring, None
            self._moved.set()
            await self._closing.wait()

    def _waits(self, loading: Loading) -> None:
        if loading.seconds - self._logged_at >= LOG_INTERVAL_S or loading.seconds < self._logged_at:
            self._logged_at = loading.seconds
            logger.info("waiting: %s", loading.said())
        if self._waiting is not None:
            self._waiting(loading)
        if self.runtime is None:
            self._loading = loading
            if self._failed is not None:
                self._moved.set()

    def _ended(self, task: asyncio.Task[None]) -> None:
        """What kept the store from opening once the application served: told to all who ask, and to `failed`."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        logger.error("the store cannot be opened: %s", error, exc_info=error)
        self._fault = error if isinstance(error, SubstrateError) else Fault(f"the store cannot be opened: {error}")
        if self._failed is not None:
            self._failed(self._fault)


def _still_loading(loading: Loading) -> Unavailable:
    error = Unavailable(loading.said(), remedy="Try again after as many seconds as Retry-After says.")
    error.retry_after = DEFAULT_RETRY_S if loading.left_s is None else max(1, loading.left_s)
    return error
