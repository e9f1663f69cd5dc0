"""The embedded engine: one redis-server with FalkorDB per data directory, whoever opens it.

Who holds what:
- `engine.lock` is locked by the engine itself. The process that starts redis-server takes the lock, hands
  the locked descriptor to it and closes its own: the lock is free exactly when no engine runs.
- `engine.users` is locked, shared, by every process that uses the directory. Whoever leaves and can turn
  that into an exclusive lock was the last one, and stops the engine; otherwise it goes on for the others.
- Whoever finds the lock free starts the engine, be it the first one or one of several whose engine died.
- An engine whose starter was killed goes on serving; the next process to open the directory connects to it. When
  nobody does, the engine's keeper (`substrate.engine.keeper`) ends it after `LEASE_S`. Whoever starts an engine,
  or finds one, sees that it has a keeper.
- An engine that loads is never stopped: whoever leaves it, leaves it to its keeper.
- Only our own child, or the process that the kernel names as the listener on our socket, is ever signalled.
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
from substrate.engine import loading as engine_loading
from substrate.engine.data_directory import close_to_others
from substrate.engine.loading import Loading
from substrate.engine.locks import POLL_S, lock_within, try_lock
from substrate.engine.process import Launch, file_fault, launch, see_to_keeper, start_fault
from substrate.engine.unix_socket import Pulse, listens, ping, remove_socket, signal_listener, socket_of

LEASE_S: Final = 5.0
"""How long an engine goes on without users, after its last one was killed or left while it loaded."""
TOLD_AFTER_S: Final = 1.0
LEAVE_GRACE_S: Final = 2.0
STOP_GRACE_S: Final = 10.0
KILL_GRACE_S: Final = 5.0
LOOKS: Final = 3


class EmbeddedEngine:
    """The engine of one data directory, as one process uses it.

    `patience_s` is how long an engine that is not loading may leave us without an answer; `lease_s`, how long one
    that we start goes on without users. `restarts` counts how often this process started it again after it had
    ended; `loading` says how far it is, while we wait for it, and `waiting` is told each time. `fault` says why
    the last attempt to start it failed.
    """

    def __init__(self, directory: Path, *, patience_s: float = 10.0, lease_s: float = LEASE_S) -> None:
        self.directory = directory.expanduser().absolute()
        self.loading: Loading | None = None
        self.waiting: Callable[[Loading], None] = lambda loading: None
        self._patience_s = patience_s
        self._lease_s = lease_s
        self._users: int | None = None
        self._launch: Launch | None = None
        self._flight: asyncio.Task[bool] | None = None
        self._stopping = False
        self.restarts = 0
        self.fault: SubstrateError | None = None

    @property
    def socket(self) -> Path:
        """The unix socket of the engine; it stays the same over a restart after a crash."""
        return socket_of(self.directory)

    @property
    def owner(self) -> bool:
        """Whether this process started the engine that now runs."""
        return self._launch is not None and self._launch.running

    def alive(self) -> bool:
        """Whether a process listens on the socket; it may still be loading."""
        return listens(self.socket)

    async def ended(self) -> None:
        """Return when the engine that runs now has ended; at once when none runs."""
        try:
            reader, writer = await asyncio.open_unix_connection(self.socket)
        except OSError:
            return
        try:
            # Nothing is asked, so nothing comes but the end.
            await reader.read()
        except OSError:
            return
        finally:
            writer.close()

    async def start(self) -> None:
        """Use the directory: connect to its engine, or start it. Returns when the engine answers queries.

        An engine that loads is waited for however long it takes. Raises EngineFault when the directory cannot be
        used, the engine ends instead of starting, or an engine holds the lock and neither loads nor answers.
        """
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
            raise self._mute_fault()
        try:
            await self.ensure()
        except asyncio.CancelledError:
            await self.stop()
            raise
        except SubstrateError:
            # The engine is left alone: if it still loads, the next one to open the directory finds it.
            self._leave()
            raise

    async def ensure(self) -> bool:
        """See that the engine answers, and start it again if it died; returns whether this process did.

        Callers share one attempt, which goes on when one of them is cancelled.
        Raises what `start` raises; Unavailable also when the engine was not started or is being stopped.
        """
        if self._users is None or self._stopping:
            raise Unavailable("The embedded engine is stopped.", remedy="Start the service again.")
        if self._flight is None:
            self._flight = asyncio.create_task(self._reach())
            self._flight.add_done_callback(self._landed)
        return await asyncio.shield(self._flight)

    async def stop(self) -> None:
        """Leave the directory; stops the engine if no other process uses it. Nothing acknowledged is lost.

        An engine that loads is left to its keeper: the next one to open the directory need not wait from the
        beginning. Raises EngineFault when the engine survives even SIGKILL.
        """
        self._stopping = True
        if self._flight is not None:
            await asyncio.wait([self._flight])
        if self._users is None:
            return
        try:
            if await _is_last(self._users) and not await self._goes_on_loading():
                if self.directory.exists():
                    await self._end_engine()
                await asyncio.to_thread(self._drop_stray)
        except OSError as error:
            raise file_fault(self.directory, error) from error
        finally:
            self._leave()

    async def _goes_on_loading(self) -> bool:
        """Whether the engine loads, and not only for a moment more."""
        give_up = time.monotonic() + LEAVE_GRACE_S
        while await self._loads():
            if time.monotonic() > give_up:
                return True
            await asyncio.sleep(POLL_S)
        return False

    async def _loads(self) -> bool:
        return await asyncio.to_thread(engine_loading.loads, self.directory, self.socket)

    def _leave(self) -> None:
        if self._users is not None:
            os.close(self._users)
        self._users = self._launch = None

    def _landed(self, flight: asyncio.Task[bool]) -> None:
        self._flight = None
        # Looked at here so that an attempt whose callers are all gone does not complain at exit.
        if not flight.cancelled():
            flight.exception()

    async def _reach(self) -> bool:
        try:
            started = await self._reached()
        except SubstrateError as error:
            self.fault = error
            raise
        finally:
            self.loading = None
        self.fault = None
        return started

    async def _reached(self) -> bool:
        started: Launch | None = None
        tell_at = time.monotonic() + TOLD_AFTER_S
        quiet_until = time.monotonic() + self._patience_s
        while not self._stopping:
            pulse = await ping(self.socket)
            if pulse is Pulse.READY:
                await self._settle(started)
                return started is not None and started.running
            if started is None:
                started = await self._launch_if_free()
            elif not started.running:
                raise await asyncio.to_thread(start_fault, started)
            if started is not None or pulse is Pulse.LOADING or await self._loads():
                quiet_until = time.monotonic() + self._patience_s
                tell_at = await self._tell_waiting(tell_at)
            if time.monotonic() > quiet_until:
                raise self._mute_fault()
            await asyncio.sleep(POLL_S)
        raise Unavailable("The embedded engine is being stopped.", remedy="Start the service again.")

    async def _settle(self, started: Launch | None) -> None:
        """Of an engine that answers now: keep how long its load took, if it is ours; see that it has a keeper."""
        if started is not None:
            await asyncio.to_thread(engine_loading.note, self.directory)
            return
        try:
            await asyncio.to_thread(see_to_keeper, self.directory, self._lease_s)
        except OSError as error:
            raise file_fault(self.directory, error) from error

    async def _tell_waiting(self, tell_at: float) -> float:
        """Tell how far the engine is, when it is time to; when it is time again."""
        if time.monotonic() < tell_at:
            return tell_at
        self.loading = await engine_loading.progress(self.directory, self.socket)
        self.waiting(self.loading)
        return time.monotonic() + TOLD_AFTER_S

    def _mute_fault(self) -> EngineFault:
        return EngineFault(
            f"An engine holds the lock of {self.directory} but does not answer.",
            remedy=f"Find its process with `fuser {self.directory / 'engine.lock'}`, stop it, and try again.",
        )

    async def _launch_if_free(self) -> Launch | None:
        """Start the engine if the lock is free; None when an engine runs (or another process starts one)."""
        try:
            made = await asyncio.to_thread(self._take_and_launch)
        except OSError as error:
            raise file_fault(self.directory, error) from error
        if made is not None:
            self._launch = made
        return made

    def _take_and_launch(self) -> Launch | None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = try_lock(self.directory / "engine.lock", fcntl.LOCK_EX)
        if lock is None:
            return None
        try:
            self._drop_stray()
            return launch(self.directory, lock, self._lease_s)
        finally:
            os.close(lock)

    def _drop_stray(self) -> None:
        """End our engine if it outlived its lock, as it does when the directory is removed under it."""
        if self._launch is not None:
            try:
                self._launch.process.wait(timeout=1)
            except subprocess.TimeoutExpired:
                self._launch.process.kill()

    async def _end_engine(self) -> None:
        lock = await self._ended_by(signal.SIGTERM, STOP_GRACE_S)
        if lock is None:
            lock = await self._ended_by(signal.SIGKILL, KILL_GRACE_S)
        if lock is None:
            raise self._mute_fault()
        try:
            remove_socket(self.directory)
            await asyncio.to_thread(checksums.Sums(self.directory).look, last=True)
        finally:
            os.close(lock)

    async def _ended_by(self, sign: signal.Signals, grace_s: float) -> int | None:
        """Signal the engine, as soon as it can be told, and wait for its lock; None when it does not end."""
        told = False
        give_up = time.monotonic() + grace_s
        while True:
            lock = try_lock(self.directory / "engine.lock", fcntl.LOCK_EX)
            if lock is not None or time.monotonic() > give_up:
                return lock
            told = told or await asyncio.to_thread(self._tell, sign)
            await asyncio.sleep(POLL_S)

    def _tell(self, sign: signal.Signals) -> bool:
        if self._launch is not None and self._launch.running:
            self._launch.process.send_signal(sign)
            return True
        return signal_listener(self.socket, sign)


async def _is_last(users: int) -> bool:
    # The keeper looks at the lock for a moment now and then: who finds it held looks again.
    for _ in range(LOOKS):
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            await asyncio.sleep(POLL_S)
        else:
            return True
    return False
