"""Open the store of an application in the background, with an error for requests until it is open."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final

from api.runtime.runtime import OnLoading, Runtime
from schemas.errors import Fault, SubstrateError, Unavailable
from substrate.engine.unix_socket import Loading

logger = logging.getLogger(__name__)

type OpenStore[Keys] = Callable[[OnLoading], AbstractAsyncContextManager[tuple[Runtime, Keys]]]
type OnFailure = Callable[[SubstrateError], None]

DEFAULT_RETRY_S: Final = 5
"""Retry-After in seconds when the remaining time is unknown."""
LOG_INTERVAL_S: Final = 10.0


class StoreHolder[Keys]:
    """Holds the store and its keyring open, in a task of its own.

    With `on_failure` the application serves while the engine loads, and `on_failure` is called if the store cannot
    be opened. Without it the application waits until the store is open. `on_loading` is called with the progress
    while the engine loads.
    """

    def __init__(self, on_failure: OnFailure | None = None, on_loading: OnLoading | None = None) -> None:
        self.runtime: Runtime | None = None
        self.keyring: Keys | None = None
        self._on_failure = on_failure
        self._on_loading = on_loading
        self._fault: SubstrateError | None = None
        self._loading: Loading | None = None
        self._logged_at = -LOG_INTERVAL_S
        self._answerable = asyncio.Event()
        self._closing = asyncio.Event()

    def get(self) -> tuple[Runtime, Keys]:
        """The open store. Raises what `check` raises, and Unavailable before the application has started."""
        self.check()
        if self.runtime is None or self.keyring is None:
            raise Unavailable("the store is not open yet", remedy="Try again in a moment.")
        return self.runtime, self.keyring

    def check(self) -> None:
        """Raises Unavailable with an estimate while the engine loads, or the error that keeps the store closed."""
        if self._fault is not None:
            raise self._fault
        loading = self._loading
        if self.runtime is not None:
            loading = None if self.runtime.engine is None else self.runtime.engine.loading
        if loading is not None:
            error = Unavailable(loading.describe(), remedy="Try again after as many seconds as Retry-After says.")
            error.retry_after = DEFAULT_RETRY_S if loading.left_s is None else max(1, loading.left_s)
            raise error

    @asynccontextmanager
    async def hold_open(self, open_store: OpenStore[Keys]) -> AsyncIterator[None]:
        """Open the store, and keep it open within the context. Raises the error that prevents opening.

        With `on_failure` the context begins as soon as the engine reports that it loads.
        """
        task = asyncio.create_task(self._hold(open_store))
        try:
            await self._wait_until_answerable(task)
            task.add_done_callback(self._report_failure)
            yield
        finally:
            self._closing.set()
            task.remove_done_callback(self._report_failure)
            if self.runtime is None:
                task.cancel()
            await asyncio.wait([task])
        if self._fault is None and not task.cancelled():
            task.result()

    async def _wait_until_answerable(self, task: asyncio.Task[None]) -> None:
        """Wait until the store is open, or requests can be answered with the progress of the engine."""
        answerable = asyncio.create_task(self._answerable.wait())
        try:
            await asyncio.wait([task, answerable], return_when=asyncio.FIRST_COMPLETED)
        finally:
            answerable.cancel()
        if task.done():
            await task

    async def _hold(self, open_store: OpenStore[Keys]) -> None:
        async with open_store(self._note_progress) as (runtime, keyring):
            self.runtime, self.keyring, self._loading = runtime, keyring, None
            self._answerable.set()
            await self._closing.wait()

    def _note_progress(self, loading: Loading) -> None:
        if loading.seconds - self._logged_at >= LOG_INTERVAL_S or loading.seconds < self._logged_at:
            self._logged_at = loading.seconds
            logger.info("waiting: %s", loading.describe())
        if self._on_loading is not None:
            self._on_loading(loading)
        if self.runtime is None:
            self._loading = loading
            if self._on_failure is not None:
                self._answerable.set()

    def _report_failure(self, task: asyncio.Task[None]) -> None:
        """Keep the error of a store that could not be opened, for requests and for `on_failure`."""
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        logger.error("the store cannot be opened: %s", error, exc_info=error)
        self._fault = error if isinstance(error, SubstrateError) else Fault(f"the store cannot be opened: {error}")
        if self._on_failure is not None:
            self._on_failure(self._fault)
