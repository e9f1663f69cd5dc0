"""The embedded engine: one redis-server with FalkorDB per data directory, shared by all processes that open it.

Locks and life cycle:
- `engine.lock` is held by the engine itself. The process that starts redis-server takes the lock, passes the
  locked descriptor on and closes its own, so the lock is free exactly when no engine runs.
- `engine.users` is held, shared, by every process that uses the directory. A process that leaves, and can turn
  its lock into an exclusive one, was the last and stops the engine; otherwise the engine goes on for the others.
- Any process that finds `engine.lock` free starts the engine: the first one, or one whose engine died.
- An engine whose starter was killed goes on serving, and the next process to open the directory connects to it. If
  none does, the engine's keeper (`substrate.engine.keeper`) ends it after `LEASE_S`. Whoever starts or finds an
  engine makes sure that it has a keeper.
- An engine that is loading is never stopped: a process that leaves it meanwhile leaves it to its keeper.
- Only our own child, or the process that the kernel reports as the listener on our socket, is ever signalled.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from schemas.errors import EngineFault, SubstrateError, Unavailable
from substrate.engine import checksums
from substrate.engine import unix_socket as engine_loading
from substrate.engine.data_directory import POLL_S, close_to_others, lock_within, try_lock
from substrate.engine.process import Launch, ensure_keeper, file_fault, launch, start_fault
from substrate.engine.unix_socket import (
    EngineStatus,
    Loading,
    listens,
    ping,
    remove_socket,
    signal_listener,
    socket_path,
)

LEASE_S: Final = 5.0
"""How long an engine goes on after its last user was killed, or left while the engine was loading."""
REPORT_EVERY_S: Final = 1.0
LEAVE_GRACE_S: Final = 2.0
STOP_GRACE_S: Final = 10.0
KILL_GRACE_S: Final = 5.0
LAST_USER_TRIES: Final = 3


class EmbeddedEngine:
    """The engine of one data directory, as one process uses it.

    `patience_s`: seconds for which an engine that is not loading may fail to answer. `lease_s`: seconds for which
    an engine that we start runs on without users. `restarts` counts how often this process restarted it after it
    had ended. While we wait for it, `loading` is its progress, and `waiting` is called with every new progress.
    `fault` is the error of the last attempt to start it.
    """

    def __init__(self, directory: Path, *, patience_s: float = 10.0, lease_s: float = LEASE_S) -> None:
        self.directory = directory.expanduser().absolute()
        self.loading: Loading | None = None
        self.waiting: Callable[[Loading], None] = lambda loading: None
        self._patience_s = patience_s
        self._lease_s = lease_s
        self._users: int | None = None
        self._launch: Launch | None = None
        self._attempt: asyncio.Task[bool] | None = None
        self._stopping = False
        self.restarts = 0
        self.fault: SubstrateError | None = None

    @property
    def socket(self) -> Path:
        """The unix socket of the engine; a restart after a crash does not change it."""
        return socket_path(self.directory)

    @property
    def owner(self) -> bool:
        """True when this process started the running engine."""
        return self._launch is not None and self._launch.running

    def alive(self) -> bool:
        """True when a process listens on the socket; it may still be loading."""
        return listens(self.socket)

    async def ended(self) -> None:
        """Return when the running engine has ended; at once when none runs."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.socket)
        except OSError:
            return
        try:
            # No command is sent, so the only thing to read is the end of the stream.
            await reader.read()
        except OSError:
            return
        finally:
            writer.close()

    async def start(self) -> None:
        """Connect to the engine of the directory, or start it. Returns when the engine answers queries. An engine
        that is loading is waited for without a limit. Raises EngineFault when the directory cannot be used, the
        engine ends instead of starting, or an engine holds the lock and neither loads nor answers."""
        self._stopping = False
        try:
            if self._users is None:
                await asyncio.to_thread(self.directory.mkdir, mode=0o700, parents=True, exist_ok=True)
                await asyncio.to_thread(close_to_others, self.directory)
                self._users = await lock_within(
                    self.directory / "engine.users", fcntl.LOCK_SH, STOP_GRACE_S + 2 * KILL_GRACE_S
                )
        except OSError as error:
            raise file_fault(self.directory, error) from error
        if self._users is None:
            raise self._no_answer()
        try:
            await self.ensure()
        except asyncio.CancelledError:
            await self.stop()
            raise
        except SubstrateError:
            # The engine is not stopped: if it is still loading, the next process to open the directory uses it.
            self._leave()
            raise

    async def ensure(self) -> bool:
        """Make sure that the engine answers; start it again if it died. Returns True when this process started it.
        Concurrent callers share one attempt, which continues when one of them is cancelled. Raises EngineFault as
        `start` does, and Unavailable when the engine is stopped or being stopped."""
        if self._users is None or self._stopping:
            raise Unavailable("the embedded engine is stopped", remedy="Start the service again.")
        if self._attempt is None:
            self._attempt = asyncio.create_task(self._reach())
            self._attempt.add_done_callback(self._attempt_ended)
        return await asyncio.shield(self._attempt)

    async def stop(self) -> None:
        """Leave the directory, and stop the engine if no other process uses it. Nothing acknowledged is lost. An
        engine that is loading is left to its keeper, so that the next process to open the directory does not wait
        for the whole load again. Raises EngineFault when the engine survives even SIGKILL."""
        self._stopping = True
        if self._attempt is not None:
            await asyncio.wait([self._attempt])
        if self._users is None:
            return
        try:
            if await _is_last_user(self._users) and not await self._keeps_loading():
                if self.directory.exists():
                    await self._end_engine()
                await asyncio.to_thread(self._kill_stray)
        except OSError as error:
            raise file_fault(self.directory, error) from error
        finally:
            self._leave()

    async def _keeps_loading(self) -> bool:
        """True when the engine is still loading after two seconds."""
        give_up = time.monotonic() + LEAVE_GRACE_S
        while await self._is_loading():
            if time.monotonic() > give_up:
                return True
            await asyncio.sleep(POLL_S)
        return False

    async def _is_loading(self) -> bool:
        return await asyncio.to_thread(engine_loading.is_loading, self.directory, self.socket)

    def _leave(self) -> None:
        if self._users is not None:
            os.close(self._users)
        self._users = self._launch = None

    def _attempt_ended(self, attempt: asyncio.Task[bool]) -> None:
        self._attempt = None
        # Retrieve the exception, or asyncio reports it at exit when every caller was cancelled.
        if not attempt.cancelled():
            attempt.exception()

    async def _reach(self) -> bool:
        try:
            started = await self._connect_or_launch()
        except SubstrateError as error:
            self.fault = error
            raise
        finally:
            self.loading = None
        self.fault = None
        return started

    async def _connect_or_launch(self) -> bool:
        """Return when the engine answers: True when this process launched it."""
        launched: Launch | None = None
        report_at = time.monotonic() + REPORT_EVERY_S
        give_up = time.monotonic() + self._patience_s
        while not self._stopping:
            status = await ping(self.socket)
            if status is EngineStatus.READY:
                await self._after_start(launched)
                return launched is not None and launched.running
            if launched is None:
                launched = await self._launch_if_free()
            elif not launched.running:
                raise await asyncio.to_thread(start_fault, launched)
            if launched is not None or status is EngineStatus.LOADING or await self._is_loading():
                give_up = time.monotonic() + self._patience_s
                if time.monotonic() >= report_at:
                    self.loading = await engine_loading.read_progress(self.directory, self.socket)
                    self.waiting(self.loading)
                    report_at = time.monotonic() + REPORT_EVERY_S
            if time.monotonic() > give_up:
                raise self._no_answer()
            await asyncio.sleep(POLL_S)
        raise Unavailable("the embedded engine is being stopped", remedy="Start the service again.")

    async def _after_start(self, launched: Launch | None) -> None:
        """Save how long the load took if we launched the engine; else make sure that it has a keeper."""
        if launched is not None:
            await asyncio.to_thread(engine_loading.save_rate, self.directory)
            return
        try:
            await asyncio.to_thread(ensure_keeper, self.directory, self._lease_s)
        except OSError as error:
            raise file_fault(self.directory, error) from error

    def _no_answer(self) -> EngineFault:
        return EngineFault(
            f"an engine holds the lock of {self.directory} but does not answer",
            remedy=f"Find its process with `fuser {self.directory / 'engine.lock'}`, stop it, and try again.",
        )

    async def _launch_if_free(self) -> Launch | None:
        """Start the engine if the lock is free; None when an engine runs, or another process starts one."""
        try:
            launched = await asyncio.to_thread(self._lock_and_launch)
        except OSError as error:
            raise file_fault(self.directory, error) from error
        if launched is not None:
            self._launch = launched
        return launched

    def _lock_and_launch(self) -> Launch | None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = try_lock(self.directory / "engine.lock", fcntl.LOCK_EX)
        if lock is None:
            return None
        try:
            self._kill_stray()
            return launch(self.directory, lock, self._lease_s)
        finally:
            os.close(lock)

    def _kill_stray(self) -> None:
        """End our engine if it outlived its lock: it does when its directory is removed."""
        if self._launch is not None:
            try:
                self._launch.process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                self._launch.process.kill()

    async def _end_engine(self) -> None:
        lock = await self._signal_and_wait(signal.SIGTERM, STOP_GRACE_S)
        if lock is None:
            lock = await self._signal_and_wait(signal.SIGKILL, KILL_GRACE_S)
        if lock is None:
            raise self._no_answer()
        try:
            remove_socket(self.directory)
            await asyncio.to_thread(checksums.ChecksumRecorder(self.directory).update, final=True)
        finally:
            os.close(lock)

    async def _signal_and_wait(self, sign: signal.Signals, grace_s: float) -> int | None:
        """Signal the engine as soon as it listens; returns its lock once it has ended, None when it does not."""
        signalled = False
        give_up = time.monotonic() + grace_s
        while True:
            lock = try_lock(self.directory / "engine.lock", fcntl.LOCK_EX)
            if lock is not None or time.monotonic() > give_up:
                return lock
            signalled = signalled or await asyncio.to_thread(self._signal, sign)
            await asyncio.sleep(POLL_S)

    def _signal(self, sign: signal.Signals) -> bool:
        if self._launch is not None and self._launch.running:
            self._launch.process.send_signal(sign)
            return True
        return signal_listener(self.socket, sign)


async def _is_last_user(users: int) -> bool:
    # The keeper holds this lock for a moment now and then, so one refusal proves nothing.
    for _ in range(LAST_USER_TRIES):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(POLL_S)
        else:
            return True
    return False
