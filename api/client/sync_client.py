"""The client that waits: each method is that of the client that is awaited, run on a loop of its own.

The loop has a thread of its own, so that it works where another loop runs: in a notebook, in a handler.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Self

from api.client.async_client import AsyncSubstrate


def _waiting[**P, R](
    method: Callable[Concatenate[AsyncSubstrate, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Substrate, P], R]:
    @wraps(method)
    def wait(self: Substrate, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._lane.run(method(self._awaited, *args, **kwargs))

    return wait


class _Threads(ThreadPoolExecutor):
    """Threads for what blocks. A program that ends gets no more: whoever asks then does the work itself."""

    def submit[**P, R](self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """The work, begun or done."""
        if _program_runs():
            return super().submit(work, *args, **kwargs)
        done: Future[R] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001  (it is the caller's, as it would be from a thread)
            done.set_exception(error)
        return done


def _program_runs() -> bool:
    """Whether the program has not come to its end: what is registered with `atexit` runs after it."""
    return threading.main_thread().is_alive()


class _Lane:
    """A loop in a thread, with one client held open in it: opened and closed by the same task."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_default_executor(_Threads())
        self._thread = threading.Thread(target=self._turn, name="substrate", daemon=True)
        self._thread.start()
        self._closing = asyncio.Event()
        self._held: asyncio.Future[None] | None = None

    def _turn(self) -> None:
        # By this frame the thread holds on to what is open: a program that ends without `close` destroys no task.
        self._loop.run_forever()

    def run[R](self, work: Coroutine[Any, Any, R]) -> R:
        """The result of the work."""
        if not self._thread.is_alive():
            work.close()
            raise RuntimeError("the client is closed; make another")
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def hold(self, opening: AbstractAsyncContextManager[AsyncSubstrate]) -> AsyncSubstrate:
        """The client, open until `close`."""
        try:
            return self.run(self._hold(opening))
        except BaseException:
            self._end()
            raise

    def close(self) -> None:
        """Close the client and end the thread; a second time does nothing."""
        if self._thread.is_alive():
            try:
                self.run(self._let_go())
            finally:
                self._end()

    async def _hold(self, opening: AbstractAsyncContextManager[AsyncSubstrate]) -> AsyncSubstrate:
        opened: asyncio.Future[AsyncSubstrate] = self._loop.create_future()

        async def keep() -> None:
            async with opening as client:
                opened.set_result(client)
                await self._closing.wait()

        self._held = asyncio.ensure_future(keep())
        await asyncio.wait((opened, self._held), return_when=asyncio.FIRST_COMPLETED)
        if self._held.done():
            await self._held
        return await opened

    async def _let_go(self) -> None:
        self._closing.set()
        if self._held is not None:
            await self._held

    def _end(self) -> None:
        if _program_runs():
            self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Substrate:
    """A service at `base_url`, with the key `api_key`; what is not given is read from the environment.

    Raises the errors of `schemas.errors`. Used in `with`, or closed with `close`.
    """

    def __init__(self, base_url: str | None = None, api_key: str | None = None) -> None:
        self._hold(AsyncSubstrate(base_url, api_key))

    @classmethod
    def embedded(cls, path: Path | str, *, embedding: str | None = None) -> Self:
        """The same without a service: the engine in the directory `path`, in this process and for it alone.

        `embedding` as in the setting of this name. Raises EngineFault when the engine cannot start.
        """
        client = cls.__new__(cls)
        client._hold(AsyncSubstrate.embedded(path, embedding=embedding))
        return client

    def _hold(self, opening: AbstractAsyncContextManager[AsyncSubstrate]) -> None:
        self._lane = _Lane()
        self._awaited = self._lane.hold(opening)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection, and the engine of an embedded one."""
        self._lane.close()

    retrieve = _waiting(AsyncSubstrate.retrieve)
    wake = _waiting(AsyncSubstrate.wake)
    resonate = _waiting(AsyncSubstrate.resonate)
    associate = _waiting(AsyncSubstrate.associate)
    identity = _waiting(AsyncSubstrate.identity)

    remember = _waiting(AsyncSubstrate.remember)
    supersede = _waiting(AsyncSubstrate.supersede)
    correct = _waiting(AsyncSubstrate.correct)
    retract = _waiting(AsyncSubstrate.retract)
    resolve = _waiting(AsyncSubstrate.resolve)
    undo = _waiting(AsyncSubstrate.undo)
    get = _waiting(AsyncSubstrate.get)
    history = _waiting(AsyncSubstrate.history)
    list_memories = _waiting(AsyncSubstrate.list_memories)

    relate = _waiting(AsyncSubstrate.relate)
    supersede_link = _waiting(AsyncSubstrate.supersede_link)
    correct_link = _waiting(AsyncSubstrate.correct_link)
    unrelate = _waiting(AsyncSubstrate.unrelate)
    resolve_link = _waiting(AsyncSubstrate.resolve_link)
    undo_link = _waiting(AsyncSubstrate.undo_link)
    get_link = _waiting(AsyncSubstrate.get_link)
    link_history = _waiting(AsyncSubstrate.link_history)
    list_links = _waiting(AsyncSubstrate.list_links)

    apply = _waiting(AsyncSubstrate.apply)
    receipt = _waiting(AsyncSubstrate.receipt)

    ingest = _waiting(AsyncSubstrate.ingest)
    state = _waiting(AsyncSubstrate.state)
    state_history = _waiting(AsyncSubstrate.state_history)
    set_state = _waiting(AsyncSubstrate.set_state)
    dissonances = _waiting(AsyncSubstrate.dissonances)
    erase_memory = _waiting(AsyncSubstrate.erase_memory)
    erase_episode = _waiting(AsyncSubstrate.erase_episode)
    erase_citizen = _waiting(AsyncSubstrate.erase_citizen)

    live = _waiting(AsyncSubstrate.live)
    health = _waiting(AsyncSubstrate.health)
    validate_link = _waiting(AsyncSubstrate.validate_link)
    sweep = _waiting(AsyncSubstrate.sweep)
    repair = _waiting(AsyncSubstrate.repair)
    create_key = _waiting(AsyncSubstrate.create_key)
    list_keys = _waiting(AsyncSubstrate.list_keys)
    change_key = _waiting(AsyncSubstrate.change_key)
    revoke_key = _waiting(AsyncSubstrate.revoke_key)
