"""Locks on files of the data directory, which the kernel takes from a process however it ends."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from pathlib import Path
from typing import Final

POLL_S: Final = 0.005


def try_lock(path: Path, mode: int = fcntl.LOCK_EX) -> int | None:
    """Open and lock `path`; None when another holds it. Close the descriptor to let go."""
    # fcntl, not filelock: that one unlocks before it closes, which would take the lock from the engine too.
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    return handle


async def lock_within(path: Path, mode: int, seconds: float) -> int | None:
    """What `try_lock` gives, tried again for so many seconds."""
    give_up = time.monotonic() + seconds
    while True:
        handle = try_lock(path, mode)
        if handle is not None or time.monotonic() > give_up:
            return handle
        await asyncio.sleep(POLL_S)
