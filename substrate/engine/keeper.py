"""The keeper: a small separate process beside each engine that ends the engine when nobody uses it any more.

Every process that uses a data directory holds a shared lock on `engine.users`, which the kernel releases however
the process ends. When no process has held it for `lease_s`, and the engine neither loads nor rewrites its files,
the keeper shuts the engine down.

- The keeper is started before its engine, so that an engine has one even if its starter is killed at once. It
  holds `engine.keeper` while it runs: a process that opens a directory without a keeper starts another.
- It exits only when no engine runs and it holds `engine.lock`, so that nobody starts an engine meanwhile.
- It opens its files once and stays connected, so that it also ends an engine whose directory was removed.
- It records the checksums of the engine's files (`substrate.engine.checksums`), so that no writer waits for that.

It needs only file locks and a socket, so it works the same on Linux and macOS. It imports only the standard
library, which keeps its process small.
"""

from __future__ import annotations

import fcntl
import os
import socket as sockets
import sys
import time
from collections.abc import Callable
from typing import Final

from substrate.engine.checksums import ChecksumRecorder

FIRST_PAUSE_S: Final = 0.02
CHECK_EVERY_S: Final = 1.0
ANSWER_LIMIT_S: Final = 2.0
END_LIMIT_S: Final = 15.0
END_POLL_S: Final = 0.02

SET_NAME: Final = b"CLIENT SETNAME keeper\r\n"
NAME_REPLY: Final = b"+OK\r\n"
# Everything acknowledged is in the engine's log already, so no snapshot is written.
SHUTDOWN: Final = b"SHUTDOWN NOSAVE NOW FORCE\r\n"
BUSY: Final = (
    b"\r\nloading:1",
    b"\r\nasync_loading:1",
    b"\r\naof_rewrite_in_progress:1",
    b"\r\nrdb_bgsave_in_progress:1",
)


class Keeper:
    """Watches the engine of `directory`, which may be without users for `lease_s` seconds. `keeper_lock` is the
    descriptor of `engine.keeper`, locked. Raises OSError when the directory does not exist."""

    def __init__(self, directory: str, lease_s: float, keeper_lock: int) -> None:
        self._lease_s = lease_s
        self._keeper_lock = keeper_lock
        self._users = _open(directory, "engine.users")
        self._lock = _open(directory, "engine.lock")
        self._link = _EngineLink(directory, self._lock)
        self._checksums = ChecksumRecorder(directory)

    def keep(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Return when the engine has ended, by itself or because nobody used it."""
        try:
            self._watch(sleep)
            self._checksums.update(final=True)
        finally:
            self._link.close()
            # The engine's lock is released last: the process that gets it next must find no keeper.
            for handle in (self._keeper_lock, self._users, self._lock):
                os.close(handle)

    def _watch(self, sleep: Callable[[float], None]) -> None:
        unused_since: float | None = None
        pause = FIRST_PAUSE_S
        while not self._engine_ended():
            sleep(min(pause, self._lease_s))
            # Connect as soon as the engine listens: the directory may be removed a moment later.
            pause = CHECK_EVERY_S if self._link.connect() else min(2 * pause, CHECK_EVERY_S)
            self._checksums.update()
            if not _lock_exclusively(self._users):
                unused_since = None
                continue
            now = time.monotonic()
            unused_since = now if unused_since is None else unused_since
            # The lock is held until the engine has ended: a process that opens the directory waits for that.
            if now - unused_since >= self._lease_s and self._link.engine_is_idle():
                self._link.send(SHUTDOWN)
                give_up = time.monotonic() + END_LIMIT_S
                while not self._engine_ended() and time.monotonic() < give_up:
                    sleep(END_POLL_S)
            fcntl.flock(self._users, fcntl.LOCK_UN)

    def _engine_ended(self) -> bool:
        """True when no engine runs or is being started; this process then holds `engine.lock`."""
        return _lock_exclusively(self._lock)


class _EngineLink:
    """A connection to the engine that holds `lock`; it stays open when the socket's file is removed."""

    def __init__(self, directory: str, lock: int) -> None:
        self._directory = directory
        self._lock = lock
        self._link: sockets.socket | None = None
        self._info_requested = False

    def connect(self) -> bool:
        """Connect if not connected yet; False when that fails, or when the directory was replaced by another."""
        if self._link is not None:
            return True
        if not self._directory_is_unchanged():
            return False
        link = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        link.settimeout(ANSWER_LIMIT_S)
        try:
            link.connect(socket_path(self._directory))
        except OSError:
            link.close()
            return False
        self._link = link
        return self.send(SET_NAME)

    def engine_is_idle(self) -> bool:
        """True when the engine reports that it neither loads nor rewrites its files. False when it does not answer
        in time, because it may be loading. A late reply is used by the next call."""
        if not self._info_requested:
            self._info_requested = self.send(b"INFO persistence\r\n")
        reply = self._receive() if self._info_requested else b""
        return b"\r\nloading:0" in reply and not any(sign in reply for sign in BUSY)

    def send(self, command: bytes) -> bool:
        """Send a command; False when there is no connection."""
        try:
            if self._link is not None:
                self._link.sendall(command)
        except OSError:
            self.close()
        return self._link is not None

    def _receive(self) -> bytes:
        """The reply; empty when it does not come in time."""
        reply = b""
        try:
            while self._link is not None and not is_complete(reply):
                part = self._link.recv(1 << 16)
                reply += part
                if not part:
                    self.close()
        except TimeoutError:
            return b""
        except OSError:
            self.close()
        self._info_requested = False
        return reply

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link, self._info_requested = None, False

    def _directory_is_unchanged(self) -> bool:
        try:
            status = os.stat(os.path.join(self._directory, "engine.lock"))
        except OSError:
            return False
        return os.path.samestat(status, os.fstat(self._lock))


def socket_path(directory: str) -> str:
    """Return the path of the engine's socket: in `directory`, or the path in its file `engine.where`."""
    try:
        with open(os.path.join(directory, "engine.where"), "rb") as file:
            recorded = file.read()
    except FileNotFoundError:
        recorded = b""
    # A crash of the machine can leave the record empty or full of zeros.
    if recorded.startswith(b"/") and b"\0" not in recorded:
        return os.fsdecode(recorded)
    return os.path.join(directory, "engine.sock")


def is_complete(reply: bytes) -> bool:
    """True when a reply to INFO is complete: an error line, or a text as long as its header says."""
    head, line_end, text = reply.removeprefix(NAME_REPLY).partition(b"\r\n")
    return bool(line_end) and (not head.startswith(b"$") or len(text) >= int(head[1:]) + 2)


def _open(directory: str, name: str) -> int:
    return os.open(os.path.join(directory, name), os.O_RDWR | os.O_CLOEXEC)


def _lock_exclusively(handle: int) -> bool:
    """Try to lock the file; False when another process holds the lock."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def main() -> None:
    """Keep an engine. The last arguments: its directory, the lease in seconds, the lock's descriptor."""
    directory, lease_s, keeper_lock = sys.argv[-3:]
    Keeper(directory, float(lease_s), int(keeper_lock)).keep()
