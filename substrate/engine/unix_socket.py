"""The engine's unix socket: where it is, whether the engine serves there, and which process listens.

The socket lies in the data directory. Where that path is too long for a socket it lies in a private
directory of its own, and `engine.where` in the data directory says so.
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

# sun_path holds 104 bytes on macOS and 108 on Linux, the closing NUL included.
SOCKET_PATH_LIMIT: Final = 103
PING_LIMIT_S: Final = 2.0

MACOS_SOL_LOCAL: Final = 0
MACOS_LOCAL_PEERPID: Final = 2


class Pulse(enum.Enum):
    """What the socket said to a PING."""

    READY = enum.auto()
    LOADING = enum.auto()
    SILENT = enum.auto()


async def ping(socket: Path) -> Pulse:
    """Ask the engine at `socket` whether it serves; never raises for an engine that is not there."""
    try:
        async with asyncio.timeout(PING_LIMIT_S):
            reader, writer = await asyncio.open_unix_connection(str(socket))
            try:
                writer.write(b"PING\r\n")
                answer = await reader.readline()
            finally:
                writer.close()
    except (OSError, ValueError):
        return Pulse.SILENT
    if not answer:
        return Pulse.SILENT
    return Pulse.LOADING if answer.startswith(b"-LOADING") else Pulse.READY


def socket_of(directory: Path) -> Path:
    """Where the engine of `directory` listens: in it, or where `engine.where` says."""
    return Path(keeper.socket_in(str(directory)))


def remove_socket(directory: Path) -> None:
    """Remove the socket and, where it has one, its private directory. Only for the holder of the lock."""
    socket = socket_of(directory)
    if socket.is_socket():
        socket.unlink()
    if socket.parent != directory:
        with contextlib.suppress(OSError):
            socket.parent.rmdir()
    (directory / "engine.where").unlink(missing_ok=True)


def place_socket(directory: Path) -> Path:
    """Choose where the engine of `directory` is to listen, and record it. Only for the holder of the lock."""
    inside, record = directory / "engine.sock", directory / "engine.where"
    if _fits(inside):
        record.unlink(missing_ok=True)
        return inside
    known = socket_of(directory)
    # Clients of an engine that crashed hold its path, so the new one must listen at the same.
    if known != inside and _fits(known) and _is_private(known.parent):
        return known
    home = Path(tempfile.mkdtemp(prefix="substrate-"))
    if not _fits(home / "engine.sock"):
        home.rmdir()
        home = Path(tempfile.mkdtemp(prefix="substrate-", dir="/tmp"))
    write_private(record, str(home / "engine.sock"))
    return home / "engine.sock"


def signal_listener(socket: Path, sign: signal.Signals) -> bool:
    """Signal the process that the kernel names as the listener at `socket`; False when there is none."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as link:
        link.settimeout(PING_LIMIT_S)
        try:
            link.connect(str(socket))
            pid = _listener_pid(link)
            if pid > 1:
                os.kill(pid, sign)
            else:
                # The engine lives in another process namespace (a container), where signals do not reach.
                link.sendall(b"SHUTDOWN NOSAVE\r\n")
        except OSError:
            return False
    return True


def listens(socket: Path) -> bool:
    """Whether a process listens at `socket`."""
    with sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(socket))
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


def write_private(path: Path, text: str) -> None:
    """Put `text` in place of the file at `path`, readable by its owner only."""
    draft = path.with_name(path.name + ".new")
    draft.unlink(missing_ok=True)
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(os.fsencode(text))
    draft.replace(path)


def _listener_pid(link: sockets.socket) -> int:
    if hasattr(sockets, "SO_PEERCRED"):
        ucred = link.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", ucred)[0])
    return link.getsockopt(MACOS_SOL_LOCAL, MACOS_LOCAL_PEERPID)


def _fits(socket: Path) -> bool:
    return len(os.fsencode(socket)) <= SOCKET_PATH_LIMIT


def _is_private(home: Path) -> bool:
    try:
        found = home.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
