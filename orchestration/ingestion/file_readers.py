"""Reads files in processes of their own, a few at a time, in fair turns.

Such a process opens no store and has no key. The operating system bounds its memory and processor time: what a
parser makes of a file that was built to harm it ends this process, and no other. It ends when its caller leaves,
when the time is over, or when the readers stop. One that read a small file waits for the next: a process takes
half a second to start, and 70 MB.
"""

from __future__ import annotations

import asyncio
import io
import math
import os
import pickle
import resource
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from contextlib import aclosing
from datetime import tzinfo
from pathlib import Path
from typing import Any, Final, NamedTuple

from orchestration.ingestion.formats import Intake, parse_readable, parse_strictly
from orchestration.ingestion.formats.files import Unpacked, is_archive, make_file, read_files, unpack
from orchestration.ingestion.formats.reader import FileSet
from schemas.errors import InvalidRequest, SubstrateError, Unavailable
from substrate.connection.turns import ActiveTenants, Turns

HEAD_BYTES: Final = 8
"""Each task and each answer is sent behind its length."""
MAX_UNPACKED: Final = 256 << 20
"""The most bytes in an archive that was sent; one on this machine may have more."""
AT_ONCE: Final = 3
SHARED: Final = 2
"""One tenant reads one file at a time, and leaves two turns to the others."""
PATIENCE: Final = 3
"""Seconds that may pass for each second of processor time that is allowed, on a busy machine."""
SMALL_BYTES: Final = 1 << 20
"""A process that had more than this to read or to answer keeps its memory, and so is not used again."""
EXIT_MEMORY: Final = 77
REMEDY: Final = "Nothing was stored. Divide the file, or export it anew."
_PROGRAM: Final = f"from {__name__} import main; main()"
_ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}
_LIBRARIES: Final = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME")  # the rest may hold keys
_ROOMS: Final = (
    "orchestration.ingestion.",
    "schemas.",
    "datetime.",
    "dateutil.tz.",
    "pydantic_core._pydantic_core.",
)


class Bounds(NamedTuple):
    """The bytes of memory and seconds of processor time that reading may take, and the bytes of its answer."""

    memory: int
    seconds: int
    answer: int

    @staticmethod
    def of(size: int) -> Bounds:
        """The bounds for files of this many bytes.

        The interpreter takes 120 MiB, dense JSON 40 times its bytes. A book of 500 pages, maybe of 1 MB, takes
        20 s, mails with many addresses 8 s a MB. A service holds an answer as objects, 5 times as large.
        """
        return Bounds((512 << 20) + 64 * size, 20 + size // (100 << 10), (64 << 20) + 8 * size)


class FilesToRead(NamedTuple):
    """Files, by `path` or as the bytes that were sent, and how to read them: as `ingest` and `FileSet` say."""

    path: str
    size: int
    raw: bytes | None = None
    form: str | None = None
    citizen_id: str | None = None
    zone: tzinfo | None = None
    strict: bool = False


class FilesRead(NamedTuple):
    """What was read: the name of the file set, the names of its files, and what they hold."""

    name: str
    files: tuple[str, ...]
    intake: Intake


class FileReaders:
    """The processes that read files for one service, or for one command."""

    def __init__(self) -> None:
        self._turns = Turns(AT_ONCE, SHARED, ActiveTenants())
        self._idle: list[Process] = []
        self._busy: set[Process] = set()
        self._stopped = False

    async def read(self, task: FilesToRead) -> FilesRead:
        """Read the files when the turn of the tenant comes.

        Raises InvalidRequest when they cannot be read, or not within the bounds; Unavailable when this stops.
        """
        async with self._turns.turn():
            process = await self._process()
            self._busy.add(process)
            answer, is_over = b"", False
            try:
                async with asyncio.timeout(PATIENCE * Bounds.of(task.size).seconds):
                    answer = await _exchange(process, task)
            except TimeoutError:
                is_over = True
            finally:
                self._busy.discard(process)
                if answer and max(task.size, len(answer)) < SMALL_BYTES and not self._stopped:
                    self._idle.append(process)
                elif process.returncode is None:
                    process.kill()
                    await process.wait()
        if not answer:
            status = await process.wait()
            raise self._refusal(task, -signal.SIGXCPU if is_over else status)
        if len(answer) < SMALL_BYTES:
            return _read_answer(answer)
        return await asyncio.to_thread(_read_answer, answer)

    def stop(self) -> None:
        """End all reading at once, and begin no more."""
        self._stopped = True
        for process in (*self._busy, *self._idle):
            if process.returncode is None:
                process.kill()

    async def aclose(self) -> None:
        """End all processes, and wait until they are gone."""
        self.stop()
        while self._idle:
            await self._idle.pop().wait()

    async def _process(self) -> Process:
        """A process that waits for a task. Raises Unavailable after `stop`."""
        if self._stopped:
            raise Unavailable("the service is stopping", remedy="Send the file again.")
        while self._idle:
            if (process := self._idle.pop()).returncode is None:
                return process
        kept = {name: os.environ[name] for name in _LIBRARIES if name in os.environ}  # noqa: TID251  # no settings
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-c", _PROGRAM),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=SMALL_BYTES,
            start_new_session=True,  # Ctrl-C is for the command, which ends this
            env={**kept, **_ENVIRONMENT, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )

    def _refusal(self, task: FilesToRead, status: int) -> SubstrateError:
        if self._stopped:
            return Unavailable("the service is stopping", remedy="Send the file again.")
        bounds = Bounds.of(task.size)
        # The system kills what is too large for the machine; libraries in C and Rust abort or fail without memory.
        if status in (EXIT_MEMORY, -signal.SIGKILL, -signal.SIGABRT, -signal.SIGSEGV):
            why = f"takes more than {bounds.memory >> 20:,} MiB of memory"
        elif status == -signal.SIGXCPU:
            why = f"takes more than {bounds.seconds:,} s of processor time"
        else:
            why = f"ended without an answer ({status})"
        return InvalidRequest(f"{task.path}: reading it {why}", remedy=REMEDY)


async def read_once(task: FilesToRead) -> FilesRead:
    """Read files in a process that is there for these alone. Raises as `FileReaders.read`."""
    async with aclosing(FileReaders()) as readers:
        return await readers.read(_with_pipe(task))


def _with_pipe(task: FilesToRead) -> FilesToRead:
    """The task, with the bytes where the path names a pipe, or what this process alone has open."""
    path = Path(task.path)
    if path.is_dir() or not path.exists() or (path.is_file() and path.parts[1:2] not in (("dev",), ("proc",))):
        return task
    raw = path.read_bytes()
    return task._replace(raw=raw, size=len(raw))


async def _exchange(process: Process, task: FilesToRead) -> bytes:
    """Send the task; return the answer, or nothing when the process ends.

    Raises InvalidRequest for too long an answer.
    """
    tasks, answers = process.stdin, process.stdout
    if tasks is None or answers is None:
        return b""
    sent = pickle.dumps(task, pickle.HIGHEST_PROTOCOL)
    try:
        tasks.write(len(sent).to_bytes(HEAD_BYTES))
        tasks.write(sent)
        await tasks.drain()
        size = int.from_bytes(await answers.readexactly(HEAD_BYTES))
        if size > (most := Bounds.of(task.size).answer):
            raise InvalidRequest(f"{task.path}: reading it gives more than {most >> 20:,} MiB", remedy=REMEDY)
        return await answers.readexactly(size)
    except (ConnectionError, asyncio.IncompleteReadError):
        await process.wait()  # killed now, it would not tell why it ends
        return b""


class _Unpickler(pickle.Unpickler):
    """Makes values of the kinds that parsers return, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        found = super().find_class(module, name) if f"{module}.".startswith(_ROOMS) else None
        if not isinstance(found, type) or found.__module__ != module:  # what a module imports is not its own
            raise pickle.UnpicklingError(f"{module}.{name} is no value of a file")
        return found


def _read_answer(answer: bytes) -> FilesRead:
    """Raises InvalidRequest for a refusal."""
    said = _Unpickler(io.BytesIO(answer)).load()
    if not isinstance(said, FilesRead):
        detail, remedy, faults = said
        raise InvalidRequest(detail, remedy=remedy, faults=faults)
    return said


def read(task: FilesToRead) -> FilesRead:
    """Read and parse the files. Raises InvalidRequest as `parse_readable` and `unpack` do."""
    if task.raw is None:
        files = read_files(Path(task.path), task.form, task.citizen_id, task.zone)
    else:
        stem = task.path.rpartition("/")[2]
        inside = Unpacked((make_file(task.path, task.raw),))
        if is_archive(task.raw):
            inside = unpack(task.path, task.raw, most=MAX_UNPACKED)
        name = stem.rpartition(".")[0] or stem
        files = FileSet(name, inside.files, task.citizen_id, task.zone, others=inside.others)
    intake = (parse_strictly if task.strict else parse_readable)(task.form, files)
    return FilesRead(files.name, tuple(file.name for file in files.files), intake)


def _answer(task: FilesToRead) -> bytes:
    bounds = Bounds.of(task.size)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = math.ceil(used.ru_utime + used.ru_stime) + bounds.seconds
    for kind, most in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_DATA, bounds.memory)):
        hard = resource.getrlimit(kind)[1]  # who started the service may have set one, which cannot be raised
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    try:
        return pickle.dumps(read(task), pickle.HIGHEST_PROTOCOL)
    except InvalidRequest as error:
        return pickle.dumps((error.detail, error.remedy, error.faults))
    except MemoryError:
        os._exit(EXIT_MEMORY)  # at once: whatever else is done now may need memory too


def main() -> None:
    """Answer tasks until standard input ends. What is printed meanwhile goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    os.nice(10)  # questions and writes go first where processors are few
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while head := sys.stdin.buffer.read(HEAD_BYTES):
        answer = _answer(pickle.loads(sys.stdin.buffer.read(int.from_bytes(head))))
        answers.write(len(answer).to_bytes(HEAD_BYTES) + answer)
        answers.flush()
