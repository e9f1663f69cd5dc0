"""Ends an engine that nobody uses any more: a small process of its own beside each engine.

Every process that uses a data directory holds a shared lock on `engine.users`, which the kernel takes from it
however it ends. When nobody has held it for a while and the engine does not load, the engine is told to end.
It needs nothing but locks on files and a socket, so that it works the same on Linux and macOS. Whoever starts it
runs it as a file, with the standard library alone: it stays as small as Python is.
"""

from __future__ import annotations

import fcntl
import os
import socket as sockets
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

LOOK_EVERY_S = 1.0
ANSWER_LIMIT_S = 2.0
END_LIMIT_S = 15.0


class Kept(NamedTuple):
    """The engine: its directory, its socket, its process, and for how long it may be without users."""

    directory: str
    socket: str
    process: int
    lease_s: float


def keep(engine: Kept, sleep: Callable[[float], None] = time.sleep) -> None:
    """Return when the engine has ended, by itself or because nobody used it."""
    unused_since: float | None = None
    while runs(engine):
        sleep(min(LOOK_EVERY_S, engine.lease_s))
        users = _locked(os.path.join(engine.directory, "engine.users"))
        try:
            if users is None or _asked(engine.socket, b"PING\r\n") != b"+PONG":
                unused_since = None
                continue
            now = time.monotonic()
            unused_since = now if unused_since is None else unused_since
            if now - unused_since >= engine.lease_s:
                # The lock is held until the engine is gone: whoever opens the directory meanwhile waits for that.
                _end(engine, sleep)
        finally:
            if users is not None:
                os.close(users)


def runs(engine: Kept) -> bool:
    """Whether the engine lives and holds its lock."""
    try:
        os.kill(engine.process, 0)
    except OSError:
        return False
    lock = _locked(os.path.join(engine.directory, "engine.lock"))
    if lock is not None:
        os.close(lock)
    return lock is None and os.path.isdir(engine.directory)


def _end(engine: Kept, sleep: Callable[[float], None]) -> None:
    # What was acknowledged is in the log of the engine, which writes no snapshot.
    _asked(engine.socket, b"SHUTDOWN NOSAVE\r\n")
    give_up = time.monotonic() + END_LIMIT_S
    while runs(engine) and time.monotonic() < give_up:
        sleep(0.05)


def _locked(path: str) -> int | None:
    """The file, locked for us alone; None when another holds it or it is not there."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _asked(socket: str, words: bytes) -> bytes:
    """The first line of the engine's answer; empty when it does not answer."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as link:
        link.settimeout(ANSWER_LIMIT_S)
        try:
            link.connect(socket)
            link.sendall(words)
            return link.recv(64).partition(b"\r\n")[0]
        except OSError:
            return b""


if __name__ == "__main__":
    keep(Kept(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
