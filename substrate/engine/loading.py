"""An engine that is loading its data: how to detect that, its progress, and the estimated time left.

While it loads, the engine may not answer a PING: it builds the indexes of words and ids anew, and the vector index
of a graph that has no vector sets, which takes minutes for 100,000 memories. Its text log then shows that it has
started and is not ready. The time left is estimated from the size of its files and the rate of the previous load.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from pathlib import Path
from typing import Final, NamedTuple

from substrate.engine.data_directory import write_private
from substrate.engine.unix_socket import listens

STARTED: Final = b" just started"
READY: Final = b"Ready to accept connections"
TAIL_BYTES: Final = 256 << 10
DEFAULT_RATE: Final = float(1 << 20)
"""Bytes a second, used until a load was measured: that of a graph with a vector index, on one busy core. With
vector sets it is many times as much, so the first estimate is too long rather than too short."""
MEASURED_FROM_BYTES: Final = 1 << 20
"""A smaller store does not give a useful rate."""
INFO_LIMIT_S: Final = 2.0


class Loading(NamedTuple):
    """Progress of a load: seconds so far, estimated seconds left, and the engine's own percentage (0 to 100)."""

    seconds: float
    left_s: int | None
    percent: float | None = None

    def describe(self) -> str:
        details = [f"for {_duration(self.seconds)} so far"]
        if self.percent is not None:
            details.append(f"{self.percent:.0f} %")
        if self.left_s is not None:
            details.append(f"about {_duration(self.left_s)} left")
        return f"the engine is loading its data and rebuilds its indexes ({', '.join(details)})"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def is_loading(directory: Path, socket: Path) -> bool:
    """True when an engine listens at `socket`, and the last one started has not logged yet that it is ready."""
    try:
        with (directory / "engine.log").open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - TAIL_BYTES))
            tail = log.read()
    except OSError:
        return False
    return tail.rfind(STARTED) > tail.rfind(READY) and listens(socket)


async def read_progress(directory: Path, socket: Path) -> Loading:
    """Return the progress that the engine reports; an estimate from its files when it does not answer."""
    seconds = await asyncio.to_thread(_seconds_since_start, directory)
    info = await _read_info(socket)
    if info.get("loading") == "1" and float(info.get("loading_loaded_perc", "0")) > 0:
        return Loading(seconds, int(info["loading_eta_seconds"]), float(info["loading_loaded_perc"]))
    return Loading(seconds, await asyncio.to_thread(_estimate_left, directory, seconds))


def save_rate(directory: Path) -> None:
    """Save the size and duration of the load that has just ended, for the next estimate."""
    size, seconds = _log_bytes(directory), _seconds_since_start(directory)
    if size >= MEASURED_FROM_BYTES:
        # An estimate is no reason to fail: on a full disk the next one is rougher.
        with contextlib.suppress(OSError):
            write_private(directory / "engine.loaded", json.dumps({"bytes": size, "seconds": round(seconds, 1)}))


def _estimate_left(directory: Path, seconds: float) -> int | None:
    """Seconds left at the rate of the previous load; None when the load already takes longer than that."""
    try:
        before = json.loads((directory / "engine.loaded").read_bytes())
        rate = max(1.0, float(before["bytes"]) / max(0.1, float(before["seconds"])))
    except (OSError, ValueError, KeyError, TypeError):
        rate = DEFAULT_RATE
    left = _log_bytes(directory) / rate - seconds
    return math.ceil(left) if left > 0 else None


def _log_bytes(directory: Path) -> int:
    size = 0
    for file in (directory / "engine-aof").glob("*"):
        with contextlib.suppress(OSError):
            size += file.stat().st_size
    return size


def _seconds_since_start(directory: Path) -> float:
    """Seconds since the engine was started; its configuration is rewritten at each start."""
    try:
        return max(0.0, time.time() - (directory / "engine.conf").stat().st_mtime)
    except OSError:
        return 0.0


async def _read_info(socket: Path) -> dict[str, str]:
    """The fields of `INFO persistence`; empty when the engine does not answer within two seconds."""
    try:
        async with asyncio.timeout(INFO_LIMIT_S):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(b"INFO persistence\r\n")
                size = int((await reader.readline())[1:])
                reply = (await reader.readexactly(size)).decode()
            finally:
                writer.close()
    except (OSError, ValueError, EOFError):
        return {}
    return dict(line.split(":", 1) for line in reply.split("\r\n") if ":" in line)
