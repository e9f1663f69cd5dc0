"""The engine's unix socket: its path, the state of the engine behind it, and signals to that engine.

The socket is in the data directory. When that path is too long for a socket, it is in a private directory of its
own, and the file `engine.where` in the data directory holds its path.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import os
import signal
import socket as sockets
import stat
import struct
import tempfile
from pathlib import Path
from typing import Final

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
