"""Free space on the disk of the store: told before it is short, and writes refused before the engine has none.

An engine that cannot write its log ends, and nothing is read any more. So some space is kept for what it writes by
itself, and for writes that are under way.
"""

from __future__ import annotations

import logging
import shutil
import time
from pathlib import Path
from typing import Final

from schemas.errors import StorageFull

logger = logging.getLogger(__name__)

WARN_BYTES: Final = 512 << 20
KEPT_BYTES: Final = 16 << 20
BELIEVED_S: Final = 0.2
REMEDY: Final = "Free some space there and send it again; nothing was changed."


class Space:
    """The free space of the disk that holds `directory`, as of the last moments."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._free = WARN_BYTES
        self._seen = -BELIEVED_S
        self._short = False

    def free(self) -> int:
        """Bytes that are free; as many as before where the disk does not say."""
        moment = time.monotonic()
        if moment - self._seen >= BELIEVED_S:
            self._seen = moment
            self._free = free_at(self.directory, self._free)
            if (short := self._free < WARN_BYTES) and not self._short:
                logger.warning("%s", told(self._free))
            self._short = short
        return self._free

    def check(self) -> None:
        """Raises StorageFull when no more may be written."""
        if (free := self.free()) < KEPT_BYTES:
            raise StorageFull(
                f"the disk of the store has {free >> 20} MiB left, {KEPT_BYTES >> 20} are kept: reads go on",
                remedy=REMEDY,
            )


def notes(directory: Path) -> tuple[str, ...]:
    """What to tell of the disk of a directory, while it is short."""
    free = free_at(directory, WARN_BYTES)
    return (told(free),) if free < WARN_BYTES else ()


def free_at(directory: Path, otherwise: int = 0) -> int:
    """Bytes that are free on the disk of a directory; `otherwise` where the disk does not say."""
    try:
        return shutil.disk_usage(directory).free
    except OSError:
        return otherwise


def told(free: int) -> str:
    """That space is short, in words."""
    said = "writes are refused" if free < KEPT_BYTES else f"below {KEPT_BYTES >> 20} MiB writes are refused"
    return f"the disk of the store has {free >> 20} MiB left: {said}"
