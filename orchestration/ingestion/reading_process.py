"""The process in which files are read. It takes them from standard input, one task after another, and answers.

It opens no store and has no key. The operating system bounds its memory and processor time: what a parser makes of
a file that was built to harm it ends this process, and no other.
"""

from __future__ import annotations

import math
import os
import pickle
import resource
import sys
from datetime import tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from orchestration.ingestion.formats.files import read_files
from orchestration.ingestion.formats.parsed import FileSet
from orchestration.ingestion.formats.unpacking import is_archive, make_file, unpack
from orchestration.ingestion.intake import Intake, parse_readable, parse_strictly
from schemas.errors import InvalidRequest

HEAD_BYTES: Final = 8
"""Each task and each answer is sent behind its length."""
MAX_UNPACKED: Final = 256 << 20
"""The most bytes in an archive that was sent; one on this machine may have more."""
EXIT_MEMORY: Final = 77
NICENESS: Final = 10
"""Questions and writes go first where processors are few."""


class Bounds(NamedTuple):
    """The bytes of memory and seconds of processor time that reading may take, and the bytes of its answer."""

    memory: int
    seconds: int
    answer: int

    @staticmethod
    def of(size: int) -> Bounds:
        """The bounds for files of so many bytes.

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


def read(task: FilesToRead) -> FilesRead:
    """Read and parse the files. Raises InvalidRequest as `parse_readable` and `unpack` do."""
    if task.raw is None:
        files = read_files(Path(task.path), task.form, task.citizen_id, task.zone)
    else:
        stem = task.path.rpartition("/")[2]
        inside = (
            unpack(task.path, task.raw, most=MAX_UNPACKED)
            if is_archive(task.raw)
            else (make_file(task.path, task.raw),)
        )
        files = FileSet(stem.rpartition(".")[0] or stem, inside, task.citizen_id, task.zone)
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
    os.nice(NICENESS)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while head := sys.stdin.buffer.read(HEAD_BYTES):
        answer = _answer(pickle.loads(sys.stdin.buffer.read(int.from_bytes(head))))
        answers.write(len(answer).to_bytes(HEAD_BYTES) + answer)
        answers.flush()
