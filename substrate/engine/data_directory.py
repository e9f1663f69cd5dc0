"""The data directory: its rights, the locks and small files in it, and the free space on its disk.

An engine that cannot write its log ends, and then nothing can be read either. So some space is reserved for the
log and for writes under way: below `RESERVED_BYTES` writes are refused, below `WARN_BYTES` a warning is logged.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import shutil
import stat
import time
from pathlib import Path
from typing import Final

from schemas.errors import EngineFault, StorageFull

logger = logging.getLogger(__name__)

POLL_S: Final = 0.005
WARN_BYTES: Final = 512 << 20
RESERVED_BYTES: Final = 16 << 20
_OWNER_ONLY: Final = 0o700
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_DISK_FOLDER: Final = "lost+found"
_ENGINE_PREFIX: Final = "engine"
"""The prefix of the names of all files of an engine."""
_MEASURED_EVERY_S: Final = 0.2


def close_to_others(directory: Path) -> None:
    """Remove all rights of other users to the directory, and log a warning if they had one. A directory that holds
    files, but none of an engine, is not changed. Raises EngineFault when other users may write to such a
    directory, OSError when the directory cannot be read."""
    status = directory.stat()
    if not status.st_mode & _OTHERS:
        return
    names = {path.name for path in directory.iterdir()} - {_DISK_FOLDER}
    if not names or any(name.startswith(_ENGINE_PREFIX) for name in names):
        if status.st_uid == os.geteuid():
            directory.chmod(_OWNER_ONLY)
        if stat.S_IMODE(directory.stat().st_mode) & _OTHERS:
            logger.warning("%s is open to other users and has another owner, who must close it", directory)
        else:
            logger.warning("%s was open to other users; now only its owner may use it", directory)
    elif status.st_mode & _OTHERS_WRITE:
        raise EngineFault(
            f"the data directory {directory} cannot be used: others may write to it, and it holds other files",
            remedy=f"Set SUBSTRATE_DATA to a directory of its own, or run `chmod 700 {directory}`.",
        )


def try_lock(path: Path, mode: int = fcntl.LOCK_EX) -> int | None:
    """Open and lock `path`, and return its descriptor; None when another process holds the lock. Close the
    descriptor to release the lock; the kernel does so when the process ends. Raises OSError when the file cannot
    be opened, or its file system has no locks."""
    # fcntl, not filelock: filelock unlocks before it closes, which would take the lock from the engine too.
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
    """Like `try_lock`, but retried for up to `seconds`. Raises OSError as `try_lock` does."""
    give_up = time.monotonic() + seconds
    while True:
        handle = try_lock(path, mode)
        if handle is not None or time.monotonic() > give_up:
            return handle
        await asyncio.sleep(POLL_S)


def write_private(path: Path, text: str) -> None:
    """Replace the file at `path` by one that only its owner may read. Raises OSError."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(os.fsencode(text))
    draft.replace(path)


class DiskSpace:
    """Free space on the disk of `directory`, measured at most five times a second."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._free = WARN_BYTES
        self._measured_at = -_MEASURED_EVERY_S
        self._low = False

    def free(self) -> int:
        """Return the free bytes; the last known number when they cannot be read."""
        now = time.monotonic()
        if now - self._measured_at >= _MEASURED_EVERY_S:
            self._measured_at = now
            self._free = free_bytes(self.directory, self._free)
            low = self._free < WARN_BYTES
            if low and not self._low:
                logger.warning("%s", describe_low_space(self._free))
            self._low = low
        return self._free

    def check(self) -> None:
        """Raises StorageFull when there is too little space for another write."""
        if (free := self.free()) < RESERVED_BYTES:
            raise StorageFull(
                f"the disk of the store has {free >> 20} MiB left of {RESERVED_BYTES >> 20} reserved; reads go on",
                remedy="Free some space there and send it again; nothing was changed.",
            )


def space_notes(directory: Path) -> tuple[str, ...]:
    """Return a note about the disk of a directory when its space is low, else an empty tuple."""
    free = free_bytes(directory, WARN_BYTES)
    return (describe_low_space(free),) if free < WARN_BYTES else ()


def free_bytes(directory: Path, fallback: int = 0) -> int:
    """Return the free bytes on the disk of a directory; `fallback` when they cannot be read."""
    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return fallback


def describe_low_space(free: int) -> str:
    limit = "" if free < RESERVED_BYTES else f"below {RESERVED_BYTES >> 20} MiB "
    return f"the disk of the store has {free >> 20} MiB left: {limit}writes are refused"
