"""The processes of embedded engines below a folder, and an engine that is held open."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from substrate.engine.embedded import EmbeddedEngine


@contextmanager
def held_engine(directory: Path) -> Iterator[Path]:
    """The directory, whose engine runs meanwhile: commands join it, where each would start one and stop it."""
    engine = EmbeddedEngine(directory)
    asyncio.run(engine.start())
    try:
        yield directory
    finally:
        asyncio.run(engine.stop())


def engines_in(home: Path) -> list[int]:
    """Process ids of the redis-servers whose working directory is in `home`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            working = str((process / "cwd").readlink())
            if (process / "exe").readlink().name.startswith("redis-server") and working.startswith(str(home)):
                found.append(int(process.name))
    return found


def keepers_of(home: Path) -> list[int]:
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_keeper(pid, home)]


def is_keeper(pid: int, home: Path) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"engine.keeper" in words and os.fsencode(home) in words


@contextmanager
def engine_home() -> Iterator[Path]:
    """A folder with a short path, as a socket needs; its engines are killed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="engine-test-"))
    yield folder
    for pid in engines_in(folder):
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def a_small_disk(home: Path) -> Iterator[Path | None]:
    """A file system of eight megabytes below `home`, or None where mounting is not permitted."""
    disk = home / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    yield disk if mounted else None
    if mounted:
        for pid in engines_in(disk):
            os.kill(pid, signal.SIGKILL)
        subprocess.run(["umount", "-l", str(disk)], check=True)


def fill_disk(disk: Path) -> None:
    """Fill a file system with a file `filler`."""
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(4096))
