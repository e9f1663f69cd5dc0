"""The engine's unix socket: its path, the state of the engine behind it, how its load goes on, and signals to it.

The socket is in the data directory. When that path is too long for a socket, it is in a private directory of its
own, and the file `engine.where` in the data directory holds its path.

While it loads, the engine may not answer a PING: it builds the indexes of words and ids anew, and the vector index
of a graph that has no vector sets, which takes minutes for 100,000 memories. Its text log then shows that it has
started and is not ready. The time left is estimated from the size of its files and the rate of the previous load.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import json
import math
import os
import signal
import socket as sockets
import stat
import struct
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from substrate.engine import keeper
from substrate.engine.data_directory import write_private

# sun_path holds 104 bytes on macOS and 108 on Linux, the closing NUL included.
SOCKET_PATH_LIMIT: Final = 103
PING_LIMIT_S: Final = 2.0

MACOS_SOL_LOCAL: Final = 0
MACOS_LOCAL_PEERPID: Final = 2


class EngineStatus(enum.Enum):
    """The state of an engine, as its answer to a PING shows it."""

    READY = enum.auto()
    LOADING = enum.auto()
    SILENT = enum.auto()


async def ping(socket: Path) -> EngineStatus:
    """Send a PING to the engine at `socket`; SILENT when there is no reply within two seconds."""
    try:
        async with asyncio.timeout(PING_LIMIT_S):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(b"PING\r\n")
                answer = await reader.readline()
            finally:
                writer.close()
    except (OSError, ValueError):
        return EngineStatus.SILENT
    if not answer:
        return EngineStatus.SILENT
    return EngineStatus.LOADING if answer.startswith(b"-LOADING") else EngineStatus.READY


def socket_path(directory: Path) -> Path:
    """Return the path of the socket of the engine of `directory`."""
    return Path(keeper.socket_path(str(directory)))


def remove_socket(directory: Path) -> None:
    """Remove the socket and its private directory, if it has one. Call it only while holding `engine.lock`."""
    socket = socket_path(directory)
    if socket.is_socket():
        socket.unlink()
    if socket.parent != directory:
        with contextlib.suppress(OSError):
            socket.parent.rmdir()
    (directory / "engine.where").unlink(missing_ok=True)


def place_socket(directory: Path) -> Path:
    """Choose and record the path of the socket for `directory`. Call it only while holding `engine.lock`. Raises
    OSError when the record or the private directory cannot be written."""
    inside, record = directory / "engine.sock", directory / "engine.where"
    if _fits(inside):
        record.unlink(missing_ok=True)
        return inside
    recorded = socket_path(directory)
    # Clients of an engine that crashed still use its path, so the new engine must listen at the same one.
    if recorded != inside and _fits(recorded) and _is_private(recorded.parent):
        return recorded
    private = Path(tempfile.mkdtemp(prefix="substrate-"))
    if not _fits(private / "engine.sock"):
        private.rmdir()
        private = Path(tempfile.mkdtemp(prefix="substrate-", dir="/tmp"))
    write_private(record, str(private / "engine.sock"))
    return private / "engine.sock"


def signal_listener(socket: Path, sign: signal.Signals) -> bool:
    """Signal the process that the kernel reports as the listener at `socket`; False when there is none."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as link:
        link.settimeout(PING_LIMIT_S)
        try:
            link.connect(str(socket))
            pid = _listener_pid(link)
            if pid > 1:
                os.kill(pid, sign)
            else:
                # The engine runs in another process namespace (a container), which signals do not reach.
                link.sendall(b"SHUTDOWN NOSAVE\r\n")
        except OSError:
            return False
    return True


def listens(socket: Path) -> bool:
    """True when a process listens at `socket`."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(socket))
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


def _listener_pid(link: sockets.socket) -> int:
    if hasattr(sockets, "SO_PEERCRED"):
        ucred = link.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", ucred)[0])
    return link.getsockopt(MACOS_SOL_LOCAL, MACOS_LOCAL_PEERPID)


def _fits(socket: Path) -> bool:
    return len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT


def _is_private(directory: Path) -> bool:
    try:
        status = directory.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


LOGGED_START: Final = b" just started"
LOGGED_READY: Final = b"Ready to accept connections"
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
    return tail.rfind(LOGGED_START) > tail.rfind(LOGGED_READY) and listens(socket)


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
