"""An engine that loads its data: whether it still does, how far it is, and how long that may take.

While it loads, the engine may leave a PING without an answer for minutes, because it makes every vector index
anew. Its log then says that it has begun and is not ready; the time that is left is reckoned from the size of its
files and from how quickly they were loaded before.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from pathlib import Path
from typing import Final, NamedTuple

from substrate.engine.unix_socket import listens, write_private

BEGUN: Final = b" just started"
READY: Final = b"Ready to accept connections"
TAIL_BYTES: Final = 256 << 10
FIRST_RATE: Final = float(1 << 20)
"""Bytes a second, until a load was measured here: 110,000 memories with two vectors each, on one busy core."""
LEAST_BYTES: Final = 1 << 20
"""A smaller store says nothing of the rate."""
INFO_LIMIT_S: Final = 2.0


class Loading(NamedTuple):
    """What is known of an engine that loads: for how long it does and still may, and how far it says it is."""

    seconds: float
    left_s: int | None
    percent: float | None = None

    def said(self) -> str:
        """In words."""
        known = [f"for {_duration(self.seconds)} so far"]
        if self.percent is not None:
            known.append(f"{self.percent:.0f} %")
        if self.left_s is not None:
            known.append(f"about {_duration(self.left_s)} left")
        return f"the engine is loading its data and makes its indexes anew ({', '.join(known)})"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def begun_and_not_ready(directory: Path) -> bool:
    """Whether the engine that was started last in this directory has not said yet that it is ready."""
    try:
        with (directory / "engine.log").open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - TAIL_BYTES))
            tail = log.read()
    except OSError:
        return False
    return tail.rfind(BEGUN) > tail.rfind(READY)


def loads(directory: Path, socket: Path) -> bool:
    """Whether an engine listens there that has begun to load and is not ready."""
    return begun_and_not_ready(directory) and listens(socket)


async def progress(directory: Path, socket: Path) -> Loading:
    """How far the engine is, by its own word where it answers, else by its files."""
    seconds = await asyncio.to_thread(_since_start, directory)
    info = await _info(socket)
    if info.get("loading") == "1" and float(info.get("loading_loaded_perc", "0")) > 0:
        return Loading(seconds, int(info["loading_eta_seconds"]), float(info["loading_loaded_perc"]))
    return Loading(seconds, await asyncio.to_thread(_left, directory, seconds))


def note(directory: Path) -> None:
    """Keep how long the load took that has just ended, for the estimate of the next one."""
    size, seconds = _size(directory), _since_start(directory)
    if size >= LEAST_BYTES:
        # An estimate is no reason to fail: on a full disk the next one is rougher.
        with contextlib.suppress(OSError):
            write_private(directory / "engine.loaded", json.dumps({"bytes": size, "seconds": round(seconds, 1)}))


def _left(directory: Path, seconds: float) -> int | None:
    """Seconds that are left, if the load goes as it went before; None when it takes longer than that."""
    left = _size(directory) / _rate(directory) - seconds
    return math.ceil(left) if left > 0 else None


def _rate(directory: Path) -> float:
    try:
        before = json.loads((directory / "engine.loaded").read_bytes())
        return max(1.0, float(before["bytes"]) / max(0.1, float(before["seconds"])))
    except (OSError, ValueError, KeyError, TypeError):
        return FIRST_RATE


def _size(directory: Path) -> int:
    found = 0
    for file in (directory / "engine-aof").glob("*"):
        with contextlib.suppress(OSError):
            found += file.stat().st_size
    return found


def _since_start(directory: Path) -> float:
    """Seconds since the engine was started: its configuration is written anew each time."""
    try:
        return max(0.0, time.time() - (directory / "engine.conf").stat().st_mtime)
    except OSError:
        return 0.0


async def _info(socket: Path) -> dict[str, str]:
    """What the engine says of its loading; nothing when it does not answer soon."""
    try:
        async with asyncio.timeout(INFO_LIMIT_S):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(b"INFO persistence\r\n")
                size = int((await reader.readline())[1:])
                said = (await reader.readexactly(size)).decode()
            finally:
                writer.close()
    except (OSError, ValueError, EOFError):
        return {}
    return dict(line.split(":", 1) for line in said.split("\r\n") if ":" in line)
