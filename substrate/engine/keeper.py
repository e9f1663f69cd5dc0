"""Ends an engine that nobody uses any more: a small process of its own beside each engine.

Every process that uses a data directory holds a shared lock on `engine.users`, which the kernel takes from it
however it ends. When nobody has held it for a while and the engine neither loads nor writes its files anew, the
engine is told to end.

- The keeper is started before its engine, so that no engine is without one, whenever its starter is killed. It
  holds `engine.keeper` as long as it lives: whoever opens a directory where nobody does brings another.
- It goes only when no engine runs and it holds `engine.lock`, so that nobody starts one meanwhile.
- It opens the files once and keeps its connection: an engine whose directory was removed is ended too.
- It records what the engine's files hold (`substrate.engine.checksums`): nobody who writes waits for that.

It needs nothing but locks on files and a socket, so that it works the same on Linux and macOS. Whoever starts it
gives it the standard library alone: it stays as small as Python is.
"""

from __future__ import annotations

import fcntl
import os
import socket as sockets
import sys
import time
from collections.abc import Callable
from typing import Final

from substrate.engine.checksums import Sums

FIRST_PAUSE_S: Final = 0.02
LOOK_EVERY_S: Final = 1.0
ANSWER_LIMIT_S: Final = 2.0
END_LIMIT_S: Final = 15.0
END_STEP_S: Final = 0.02

NAME: Final = b"CLIENT SETNAME keeper\r\n"
NAMED: Final = b"+OK\r\n"
# What was acknowledged is in the log of the engine, which writes no snapshot.
END: Final = b"SHUTDOWN NOSAVE NOW FORCE\r\n"
BUSY: Final = (
    b"\r\nloading:1",
    b"\r\nasync_loading:1",
    b"\r\naof_rewrite_in_progress:1",
    b"\r\nrdb_bgsave_in_progress:1",
)


class Keeper:
    """What watches over the engine of `directory`, which may be without users for `lease_s` seconds.

    `held` is the descriptor of `engine.keeper`, locked. Raises OSError when the directory is not there.
    """

    def __init__(self, directory: str, lease_s: float, held: int) -> None:
        self._lease_s = lease_s
        self._held = held
        self._users = _opened(directory, "engine.users")
        self._lock = _opened(directory, "engine.lock")
        self._line = _Line(directory, self._lock)
        self._sums = Sums(directory)

    def keep(self, sleep: Callable[[float], None] = time.sleep) -> None:
        """Return when the engine has ended, by itself or because nobody used it."""
        try:
            self._watch(sleep)
            self._sums.look(last=True)
        finally:
            self._line.close()
            # Whoever gets the engine's lock next must find that nobody keeps it: that one is let go last.
            for handle in (self._held, self._users, self._lock):
                os.close(handle)

    def _watch(self, sleep: Callable[[float], None]) -> None:
        unused_since: float | None = None
        pause = FIRST_PAUSE_S
        while not self._ended():
            sleep(min(pause, self._lease_s))
            # Connected as soon as the engine listens: the directory may be removed a moment later.
            pause = LOOK_EVERY_S if self._line.connect() else min(2 * pause, LOOK_EVERY_S)
            self._sums.look()
            if not _taken(self._users):
                unused_since = None
                continue
            now = time.monotonic()
            unused_since = now if unused_since is None else unused_since
            # The lock is held until the engine is gone: whoever opens the directory meanwhile waits for that.
            if now - unused_since >= self._lease_s and self._line.rests():
                self._end(sleep)
            fcntl.flock(self._users, fcntl.LOCK_UN)

    def _end(self, sleep: Callable[[float], None]) -> None:
        self._line.send(END)
        give_up = time.monotonic() + END_LIMIT_S
        while not self._ended() and time.monotonic() < give_up:
            sleep(END_STEP_S)

    def _ended(self) -> bool:
        """Whether no engine runs, nor is started; its lock is ours then."""
        return _taken(self._lock)


class _Line:
    """A connection to the engine that holds `lock`; it outlives the name of the socket."""

    def __init__(self, directory: str, lock: int) -> None:
        self._directory = directory
        self._lock = lock
        self._link: sockets.socket | None = None
        self._asked = False

    def connect(self) -> bool:
        """Connect, unless we are; whether we are. Not to the engine of another directory of this name."""
        if self._link is not None:
            return True
        if not self._is_ours():
            return False
        link = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        link.settimeout(ANSWER_LIMIT_S)
        try:
            link.connect(socket_in(self._directory))
        except OSError:
            link.close()
            return False
        self._link = link
        return self.send(NAME)

    def rests(self) -> bool:
        """Whether the engine says that it neither loads nor writes its files anew.

        One that does not answer may load. What it answers late is taken for the answer to the next question.
        """
        if not self._asked:
            self._asked = self.send(b"INFO persistence\r\n")
        said = self._answer() if self._asked else b""
        return b"\r\nloading:0" in said and not any(sign in said for sign in BUSY)

    def send(self, words: bytes) -> bool:
        """Whether the words were sent."""
        try:
            if self._link is not None:
                self._link.sendall(words)
        except OSError:
            self.close()
        return self._link is not None

    def _answer(self) -> bytes:
        """All that the engine says until it rests; empty when it does not answer in time."""
        said = b""
        try:
            while self._link is not None and not _whole(said):
                part = self._link.recv(1 << 16)
                said += part
                if not part:
                    self.close()
        except TimeoutError:
            return b""
        except OSError:
            self.close()
        self._asked = False
        return said

    def close(self) -> None:
        """Let go of the connection."""
        if self._link is not None:
            self._link.close()
        self._link, self._asked = None, False

    def _is_ours(self) -> bool:
        try:
            found = os.stat(os.path.join(self._directory, "engine.lock"))
        except OSError:
            return False
        return os.path.samestat(found, os.fstat(self._lock))


def socket_in(directory: str) -> str:
    """Where the engine of `directory` listens: in it, or where `engine.where` says."""
    try:
        with open(os.path.join(directory, "engine.where"), "rb") as file:
            recorded = file.read()
    except FileNotFoundError:
        recorded = b""
    # A crash of the machine can leave the record empty or full of zeros.
    if recorded.startswith(b"/") and b"\0" not in recorded:
        return os.fsdecode(recorded)
    return os.path.join(directory, "engine.sock")


def _whole(said: bytes) -> bool:
    """Whether it is a whole answer to a question: an error, or a text with its length before it."""
    head, found, text = said.removeprefix(NAMED).partition(b"\r\n")
    return bool(found) and (not head.startswith(b"$") or len(text) >= int(head[1:]) + 2)


def _opened(directory: str, name: str) -> int:
    return os.open(os.path.join(directory, name), os.O_RDWR | os.O_CLOEXEC)


def _taken(handle: int) -> bool:
    """Lock the file for us alone; whether no other holds it."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def main() -> None:
    """Keep the engine of the directory that the command line names."""
    directory, lease_s, held = sys.argv[-3:]
    Keeper(directory, float(lease_s), int(held)).keep()
