"""Who may look into the data directory: its owner alone."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Final

from schemas.errors import EngineFault

logger = logging.getLogger(__name__)

CLOSED: Final = 0o700
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_OF_A_DISK: Final = "lost+found"
_OF_A_STORE: Final = "engine"
"""What every name begins with that an engine gives to its files."""


def close_to_others(directory: Path) -> None:
    """Take from others every right to the directory, and say so when they had one.

    A directory of other things stays as it is. Raises EngineFault where others may write to such a one, OSError
    when it cannot be read.
    """
    found = directory.stat()
    if not found.st_mode & _OTHERS:
        return
    names = {path.name for path in directory.iterdir()} - {_OF_A_DISK}
    if not names or any(name.startswith(_OF_A_STORE) for name in names):
        _close(directory, found)
    elif found.st_mode & _OTHERS_WRITE:
        raise EngineFault(
            f"The data directory {directory} cannot be used: others may write to it, and it holds other things.",
            remedy=f"Set SUBSTRATE_DATA to a directory of its own, or run `chmod 700 {directory}`.",
        )


def _close(directory: Path, found: os.stat_result) -> None:
    if found.st_uid == os.geteuid():
        directory.chmod(CLOSED)
    if stat.S_IMODE(directory.stat().st_mode) & _OTHERS:
        logger.warning("%s is open to others, and not ours to close", directory)
    else:
        logger.warning("%s was open to others; it is for its owner alone now", directory)
