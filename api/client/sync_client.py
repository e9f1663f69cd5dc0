"""The sync client: each method runs the method of the async client on an event loop in a thread of its own.

It therefore works where another loop runs, such as in a notebook.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, ExitStack
from functools import partial, wraps
from pathlib import Path
from typing import Any, Concatenate, Self

from anyio.from_thread import start_blocking_portal

from api.client.async_client import AsyncSubstrate


def _block_on[**P, R](
    method: Callable[Concatenate[AsyncSubstrate, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Substrate, P], R]:
    @wraps(method)
    def block(self: Substrate, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._closed:
            raise RuntimeError("the client is closed; make another")
        result: R = self._portal.call(partial(method, self._client, *args, **kwargs))
        return result

    return block


class _Executor(ThreadPoolExecutor):
    """Runs blocking work of the loop, and keeps `open_client` alive as long as the thread of the loop.

    A program may end without `close`. Python must not collect the open portal then: its exit would wait for the
    thread of the loop, which has stopped by that time.
    """

    def __init__(self, open_client: ExitStack) -> None:
        super().__init__()
        self._open_client = open_client

    def submit[**P, R](self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
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


class Substrate:
    """Client of a service at `base_url` with the key `api_key`; both default to the environment.

    Raises the errors of `schemas.errors`. Use it in `with`, or close it with `close`.
    """

    def __init__(self, base_url: str | None = None, api_key: str | None = None) -> None:
        self._open(AsyncSubstrate(base_url, api_key))

    @classmethod
    def embedded(cls, path: Path | str, *, embedding: str | None = None) -> Self:
        """A client without a service: the engine runs in this process, on the directory `path`.

        `embedding` as in the setting of this name. Raises EngineFault when the engine cannot start.
        """
        client = cls.__new__(cls)
        client._open(AsyncSubstrate.embedded(path, embedding=embedding))
        return client

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

    retrieve = _block_on(AsyncSubstrate.retrieve)
    wake = _block_on(AsyncSubstrate.wake)
    resonate = _block_on(AsyncSubstrate.resonate)
    perspectives = _block_on(AsyncSubstrate.perspectives)
    associate = _block_on(AsyncSubstrate.associate)
    identity = _block_on(AsyncSubstrate.identity)
    identity_diff = _block_on(AsyncSubstrate.identity_diff)

    remember = _block_on(AsyncSubstrate.remember)
    supersede = _block_on(AsyncSubstrate.supersede)
    correct = _block_on(AsyncSubstrate.correct)
    retract = _block_on(AsyncSubstrate.retract)
    resolve = _block_on(AsyncSubstrate.resolve)
    undo = _block_on(AsyncSubstrate.undo)
    get = _block_on(AsyncSubstrate.get)
    history = _block_on(AsyncSubstrate.history)
    list_memories = _block_on(AsyncSubstrate.list_memories)

    relate = _block_on(AsyncSubstrate.relate)
    supersede_link = _block_on(AsyncSubstrate.supersede_link)
    correct_link = _block_on(AsyncSubstrate.correct_link)
    unrelate = _block_on(AsyncSubstrate.unrelate)
    resolve_link = _block_on(AsyncSubstrate.resolve_link)
    undo_link = _block_on(AsyncSubstrate.undo_link)
    get_link = _block_on(AsyncSubstrate.get_link)
    link_history = _block_on(AsyncSubstrate.link_history)
    list_links = _block_on(AsyncSubstrate.list_links)

    apply = _block_on(AsyncSubstrate.apply)
    receipt = _block_on(AsyncSubstrate.receipt)

    hear = _block_on(AsyncSubstrate.hear)
    ingest = _block_on(AsyncSubstrate.ingest)
    ingest_file = _block_on(AsyncSubstrate.ingest_file)
    list_citizens = _block_on(AsyncSubstrate.list_citizens)
    state = _block_on(AsyncSubstrate.state)
    state_history = _block_on(AsyncSubstrate.state_history)
    energy = _block_on(AsyncSubstrate.energy)
    set_state = _block_on(AsyncSubstrate.set_state)
    write_context = _block_on(AsyncSubstrate.write_context)
    agent_log = _block_on(AsyncSubstrate.agent_log)
    imagine = _block_on(AsyncSubstrate.imagine)
    predictions = _block_on(AsyncSubstrate.predictions)
    calibration = _block_on(AsyncSubstrate.calibration)
    tell_feedback = _block_on(AsyncSubstrate.tell_feedback)
    list_feedback = _block_on(AsyncSubstrate.list_feedback)
    take_back_feedback = _block_on(AsyncSubstrate.take_back_feedback)
    appetite = _block_on(AsyncSubstrate.appetite)
    intend = _block_on(AsyncSubstrate.intend)
    situation = _block_on(AsyncSubstrate.situation)
    rules = _block_on(AsyncSubstrate.rules)
    check_rules = _block_on(AsyncSubstrate.check_rules)
    streams = _block_on(AsyncSubstrate.streams)
    stream = _block_on(AsyncSubstrate.stream)
    replay = _block_on(AsyncSubstrate.replay)
    offers = _block_on(AsyncSubstrate.offers)
    answer_offer = _block_on(AsyncSubstrate.answer_offer)
    revaluations = _block_on(AsyncSubstrate.revaluations)
    revaluate = _block_on(AsyncSubstrate.revaluate)
    save_mirror = _block_on(AsyncSubstrate.save_mirror)
    dissonances = _block_on(AsyncSubstrate.dissonances)
    erase_memory = _block_on(AsyncSubstrate.erase_memory)
    erase_episode = _block_on(AsyncSubstrate.erase_episode)
    erase_citizen = _block_on(AsyncSubstrate.erase_citizen)
    erase_collective = _block_on(AsyncSubstrate.erase_collective)
    list_collectives = _block_on(AsyncSubstrate.list_collectives)
    share = _block_on(AsyncSubstrate.share)
    contest = _block_on(AsyncSubstrate.contest)
    withdraw_contest = _block_on(AsyncSubstrate.withdraw_contest)
    list_contested = _block_on(AsyncSubstrate.list_contested)
    agreement = _block_on(AsyncSubstrate.agreement)

    live = _block_on(AsyncSubstrate.live)
    health = _block_on(AsyncSubstrate.health)
    validate_link = _block_on(AsyncSubstrate.validate_link)
    sweep = _block_on(AsyncSubstrate.sweep)
    quality = _block_on(AsyncSubstrate.quality)
    repair = _block_on(AsyncSubstrate.repair)
    quarantine = _block_on(AsyncSubstrate.quarantine)
    list_quarantines = _block_on(AsyncSubstrate.list_quarantines)
    get_quarantine = _block_on(AsyncSubstrate.get_quarantine)
    release_quarantine = _block_on(AsyncSubstrate.release_quarantine)
    retract_quarantine = _block_on(AsyncSubstrate.retract_quarantine)
    list_policies = _block_on(AsyncSubstrate.list_policies)
    get_policy = _block_on(AsyncSubstrate.get_policy)
    set_policy = _block_on(AsyncSubstrate.set_policy)
    remove_policy = _block_on(AsyncSubstrate.remove_policy)
    upkeep_runs = _block_on(AsyncSubstrate.upkeep_runs)
    upkeep_run = _block_on(AsyncSubstrate.upkeep_run)
    run_upkeep = _block_on(AsyncSubstrate.run_upkeep)
    undo_upkeep = _block_on(AsyncSubstrate.undo_upkeep)
    own_upkeep = _block_on(AsyncSubstrate.own_upkeep)
    set_own_upkeep = _block_on(AsyncSubstrate.set_own_upkeep)
    create_key = _block_on(AsyncSubstrate.create_key)
    list_keys = _block_on(AsyncSubstrate.list_keys)
    change_key = _block_on(AsyncSubstrate.change_key)
    revoke_key = _block_on(AsyncSubstrate.revoke_key)
