"""The sync client: each method runs the method of the async client on an event loop in a thread of its own.

It therefore works where another loop runs, such as in a notebook.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

from anyio.from_thread import start_blocking_portal
from typing_extensions import Self, Unpack

from substrate_client._calls import SyncCalls
from substrate_client.async_client import AsyncSubstrate
from substrate_client.transport import P, R, block_on

if TYPE_CHECKING:
    from substrate_client.async_client import WatchFields
    from substrate_client.models import ChangePage


class _Executor(ThreadPoolExecutor):
    """Runs blocking work of the loop, and keeps `open_client` alive as long as the thread of the loop.

    A program may end without `close`. Python must not collect the open portal then: its exit would wait for the
    thread of the loop, which has stopped by that time.
    """

    def __init__(self, open_client: ExitStack) -> None:
        super().__init__()
        self._open_client = open_client

    def submit(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        # In an `atexit` handler no thread can start: the work runs in the thread of the loop.
        if threading.main_thread().is_alive():
            return super().submit(work, *args, **kwargs)
        done: Future[R] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  (the future passes it on, as from a thread)
            done.set_exception(error)
        return done


def _make_loop(open_client: ExitStack) -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    loop.set_default_executor(_Executor(open_client))
    return loop


class Substrate(SyncCalls):
    """Client of a service at `base_url` with the key `api_key`; both default to the environment.

    Raises the errors of `substrate_client.errors`. Use it in `with`, or close it with `close`.
    """

    _awaited: ClassVar[type[AsyncSubstrate]] = AsyncSubstrate
    """The class of the client whose methods are waited for."""

    def __init__(self, base_url: str | None = None, api_key: str | None = None) -> None:
        self._open(self._awaited(base_url, api_key))

    def _open(self, opening: AbstractAsyncContextManager[AsyncSubstrate]) -> None:
        self._stack = ExitStack()
        options = {"loop_factory": partial(_make_loop, self._stack)}
        try:
            self._portal = self._stack.enter_context(
                start_blocking_portal(backend_options=options, name="substrate")
            )
            self._client = self._stack.enter_context(self._portal.wrap_async_context_manager(opening))
        except BaseException:
            self._stack.close()
            raise
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, and the engine of an embedded one; a second time does nothing."""
        self._closed = True
        self._stack.close()

    def watch(
        self, citizen_id: str | None = None, *, after: str | None = None, **asked: Unpack[WatchFields]
    ) -> Iterator[ChangePage]:
        """As `AsyncSubstrate.watch`: the pages of what changes, without end."""
        pages = cast(AsyncSubstrate, self._client).watch(citizen_id, after=after, **asked)
        while True:
            yield self._portal.call(pages.__anext__)

    apply = block_on(AsyncSubstrate.apply)
    hear = block_on(AsyncSubstrate.hear)
    ingest = block_on(AsyncSubstrate.ingest)
    ingest_file = block_on(AsyncSubstrate.ingest_file)
    save_mirror = block_on(AsyncSubstrate.save_mirror)
    validate_link = block_on(AsyncSubstrate.validate_link)
