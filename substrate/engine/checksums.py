"""The engine's log files: their commands, and running checksums, recorded beside them, to detect damage.

A log is a sequence of RESP arrays (`*2`, `$4`, ...), with comment lines (`#`) between them.

The engine's log has no checksum of its own: a truncated log, or one with a flipped bit, may load without an error.
So the keeper reads what was appended to the log once a second, and writes to the record (`engine.sums`) how many
bytes it has read and their checksum. Files are compared with the record before the engine is started. Only
complete commands that are on disk are recorded, so what the engine may cut off after a crash is never part of the
record. Commands written after the keeper's last round before a crash are not covered.

Only the standard library is imported: that keeps the keeper's process small.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

RECORD: Final = "engine.sums"
LOG: Final = "engine-aof"
LOG_MANIFEST: Final = "engine.aof.manifest"
CHUNK_BYTES: Final = 1 << 20
MAX_PREFIXES: Final = 64


class Prefix(NamedTuple):
    """The CRC-32 of the first `bytes` bytes of a file, as computed `at` (seconds since 1970)."""

    bytes: int = 0
    crc: int = 0
    at: float = 0.0


class LogFile(NamedTuple):
    """A file of the log as its manifest names it: a snapshot if `is_base`, else commands."""

    name: str
    number: int
    is_base: bool


class Damage(NamedTuple):
    """A damaged file. `intact` is the longest prefix that still matches, `latest` the last that was recorded."""

    file: str
    description: str
    intact: Prefix
    latest: Prefix


class RecordDamaged(Exception):
    """The record itself cannot be read."""


class ChecksumRecorder:
    """Reads what is appended to the log and extends the record. Call `update` regularly.

    A byte is recorded only if the previous `update` saw it too: bytes that the engine removes again at once, when
    the disk is full, are never recorded.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory)
        self._sizes: dict[str, int] = {}

    def update(self, *, final: bool = False) -> None:
        """Extend the record; with `final` (the engine has ended) to the end of each file. Skips missing files."""
        try:
            self._update(final=final)
        except (OSError, RecordDamaged):
            return  # a full disk, or a directory that was removed: the next update may succeed

    def _update(self, *, final: bool) -> None:
        # Read it each time: a process that recovers the store, or stops its engine, writes the record too.
        before = read_record(self._directory) or {}
        files = {file.name: file for file in log_files(self._directory)}
        if not files:
            return
        sizes = {name: (self._directory / LOG / name).stat().st_size for name in files}
        prefixes = {name: before.get(name, [Prefix()]) for name in files}
        for name, file in files.items():
            until = sizes[name] if final else min(sizes[name], self._sizes.get(name, 0))
            if until > prefixes[name][-1].bytes:
                extended = _extend(self._directory / LOG / name, prefixes[name][-1], until, is_base=file.is_base)
                prefixes[name] = _thin([*prefixes[name], *([extended] if extended else [])])
        self._sizes = sizes
        if prefixes != before:
            # The keeper may write while a process that holds `engine.lock` does: each has its own draft.
            write_record(self._directory, prefixes, f"{RECORD}.{'end' if final else 'new'}")


def _extend(path: Path, prefix: Prefix, until: int, *, is_base: bool) -> Prefix | None:
    """Sync the file to disk and return a longer prefix of it; None when no complete command was appended."""
    with path.open("rb") as file:
        position, crc = prefix.bytes, prefix.crc
        while position < until:
            chunk = _read_chunk(file, position, until, is_base=is_base)
            if not chunk:
                break
            position, crc = position + len(chunk), zlib.crc32(chunk, crc)
        if position == prefix.bytes:
            return None
        os.fsync(file.fileno())
    return Prefix(position, crc, round(time.time(), 3))


def _read_chunk(file: BinaryIO, position: int, until: int, *, is_base: bool) -> bytes:
    """Read about a megabyte from `position` on, to the end of a complete command; empty when there is none."""
    size = CHUNK_BYTES
    while True:
        file.seek(position)
        data = file.read(min(size, until - position))
        try:
            readable = len(data) if is_base else readable_bytes(data)
        except Unreadable as error:
            return data[: error.readable_bytes]
        if readable or position + len(data) >= until or not data:
            return data[:readable]
        size *= 4


def _thin(prefixes: list[Prefix]) -> list[Prefix]:
    """Drop the prefix closest to its neighbours when there are more than `MAX_PREFIXES`."""
    if len(prefixes) <= MAX_PREFIXES:
        return prefixes
    gaps = [after.bytes - before.bytes for before, after in zip(prefixes, prefixes[2:], strict=False)]
    closest = gaps.index(min(gaps)) + 1
    return [*prefixes[:closest], *prefixes[closest + 1 :]]


def log_files(directory: Path) -> list[LogFile]:
    """Return the files that the log's manifest names, in order; empty when there is no log."""
    try:
        manifest = (directory / LOG / LOG_MANIFEST).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return []
    return parse_manifest(manifest)


def parse_manifest(manifest: str) -> list[LogFile]:
    """The files in a manifest (`file NAME seq NUMBER type b|i` a line), in the order in which they are loaded.
    History files and lines of another form are left out."""
    files = []
    for line in manifest.splitlines():
        words = line.split()
        fields = dict(zip(words[::2], words[1::2], strict=False))
        if (
            fields.get("type") in ("b", "i")
            and fields.get("seq", "").isdigit()
            and "/" not in fields.get("file", "/")
        ):
            files.append(LogFile(fields["file"], int(fields["seq"]), fields["type"] == "b"))
    return sorted(files, key=lambda file: (not file.is_base, file.number))


def read_record(directory: Path) -> dict[str, list[Prefix]] | None:
    """Return the recorded prefixes of each file; None when there is no record yet. Raises RecordDamaged when the
    record is damaged, OSError when it cannot be read."""
    try:
        text = (directory / RECORD).read_bytes()
    except FileNotFoundError:
        return None
    return parse_record(text)


def parse_record(text: bytes) -> dict[str, list[Prefix]]:
    """Return the prefixes of each file. The first line is the CRC-32 of the rest, which is JSON. Raises
    RecordDamaged when the text has another form or checksum."""
    try:
        head, _, body = text.partition(b"\n")
        if int(head) != zlib.crc32(body):
            raise RecordDamaged
        return {name: list(map(Prefix._make, values)) for name, values in json.loads(body).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise RecordDamaged from error


def format_record(prefixes: dict[str, list[Prefix]]) -> bytes:
    """The text that `parse_record` reads."""
    body = json.dumps(prefixes, separators=(",", ":")).encode()
    return b"%d\n" % zlib.crc32(body) + body


def write_record(directory: Path, prefixes: dict[str, list[Prefix]], draft_name: str) -> None:
    """Replace the record and sync it to disk. Nobody else may write the draft meanwhile. Raises OSError."""
    draft = directory / draft_name
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(format_record(prefixes))
        file.flush()
        os.fsync(file.fileno())
    draft.replace(directory / RECORD)
    for path in (directory / LOG, directory):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def compare(directory: Path, *, thorough: bool = True) -> list[Damage]:
    """Compare the files with the record and return the damaged ones; empty when there is no record. `thorough`
    reads every byte, else only lengths are compared. Files that a running engine rewrote meanwhile are not
    reported. Raises OSError when a file cannot be read."""
    try:
        recorded = read_record(directory)
    except RecordDamaged:
        return [Damage(RECORD, f"{RECORD}, the record of checksums, cannot be read", Prefix(), Prefix())]
    if not recorded:
        return []
    files = log_files(directory)
    missing = missing_files(recorded, files)
    damages = [Damage(name, f"{name} is missing", Prefix(), recorded[name][-1]) for name in missing]
    for file in files:
        if file.name in recorded and file.name not in missing:
            damage = _compare_file(directory, file, recorded[file.name], thorough=thorough)
            damages += [damage] if damage else []
    return damages


def missing_files(recorded: dict[str, list[Prefix]], files: list[LogFile]) -> list[str]:
    """Return the recorded files that the manifest should name; a newer base replaces all files before it."""
    names = {file.name for file in files}
    newest_base = max((file.number for file in files if file.is_base), default=0)
    # Bases are named `engine.aof.NUMBER.base.rdb`.
    bases = (int(name.split(".")[-3]) for name in recorded if name.endswith(".base.rdb"))
    if newest_base > max(bases, default=0):
        return []
    return [name for name in recorded if name not in names]


def _compare_file(directory: Path, file: LogFile, prefixes: list[Prefix], *, thorough: bool) -> Damage | None:
    path = directory / LOG / file.name
    latest = prefixes[-1]
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        if file not in log_files(directory):
            return None  # rewritten since the manifest was read
        return Damage(file.name, f"{file.name} is missing", Prefix(), latest)
    if size >= latest.bytes and (not thorough or _matching_prefixes(path, prefixes)[-1:] == [latest]):
        return None
    matching = _matching_prefixes(path, prefixes) if thorough else []
    intact = matching[-1] if matching else Prefix()
    if size < latest.bytes:
        description = f"{file.name} is {latest.bytes - size:,} bytes shorter than it was"
    else:
        description = f"{file.name} differs from what was written, somewhere after byte {intact.bytes:,}"
    return Damage(file.name, description, intact, latest)


def _matching_prefixes(path: Path, prefixes: list[Prefix]) -> list[Prefix]:
    """Return the recorded prefixes, shortest first, up to the last before one that the file does not match."""
    matching: list[Prefix] = []
    crc = position = 0
    with path.open("rb") as file:
        for prefix in prefixes:
            while position < prefix.bytes:
                data = file.read(min(CHUNK_BYTES, prefix.bytes - position))
                if not data:
                    return matching
                crc, position = zlib.crc32(data, crc), position + len(data)
            if crc != prefix.crc:
                return matching
            matching.append(prefix)
    return matching


LINE_END: Final = b"\r\n"
_HEADER_LIMIT: Final = 32
"""The most bytes of the line that holds a word's length."""


class Unreadable(Exception):
    """The bytes are no command; the last complete command before them ends at `readable_bytes`."""

    def __init__(self, readable_bytes: int) -> None:
        super().__init__(f"no command at byte {readable_bytes}")
        self.readable_bytes = readable_bytes


class LogCommand(NamedTuple):
    """A command, the byte after it, and its first argument, which is the name of a graph or key."""

    end: int
    name: bytes
    key: bytes


def commands(data: bytes) -> Iterator[LogCommand]:
    """The complete commands from the start of `data`. Raises Unreadable at bytes that are no command."""
    position = 0
    while position < len(data):
        end = data.find(LINE_END, position)
        kind = data[position : position + 1]
        if end < 0 and kind in (b"*", b"#"):
            return
        if kind == b"#":
            position = end + 2
            continue
        spans = _word_spans(data, position, end)
        if spans is None:
            return
        position = spans[-1][1] + 2
        words = [data[start:stop] for start, stop in spans[:2]]
        yield LogCommand(position, words[0].upper(), words[1] if len(words) > 1 else b"")


def _word_spans(data: bytes, position: int, end: int) -> list[tuple[int, int]] | None:
    """Start and end of each word of the command at `position`; None when the command is incomplete."""
    count = _length(data, position, end, b"*")
    spans: list[tuple[int, int]] = []
    header = end + 2
    for _ in range(count):
        stop = data.find(LINE_END, header, header + _HEADER_LIMIT)
        if stop < 0 and len(data) - header < _HEADER_LIMIT:
            return None
        first = stop + 2
        last = first + _length(data, header, stop, b"$")
        if last + 2 > len(data):
            return None
        if data[last : last + 2] != LINE_END:
            raise Unreadable(position)
        spans.append((first, last))
        header = last + 2
    return spans


def _length(data: bytes, position: int, end: int, kind: bytes) -> int:
    digits = data[position + 1 : end] if end > 0 else b""
    if data[position : position + 1] != kind or not digits.isdigit() or (kind == b"*" and int(digits) == 0):
        raise Unreadable(position)
    return int(digits)


def readable_bytes(data: bytes) -> int:
    """Return the length of the complete commands at the start of `data`; MULTI to EXEC counts as one command.
    Raises Unreadable at bytes that are no command."""
    complete = 0
    in_transaction = False
    try:
        for command in commands(data):
            in_transaction = command.name == b"MULTI" or (in_transaction and command.name != b"EXEC")
            complete = complete if in_transaction else command.end
    except Unreadable as error:
        raise Unreadable(complete) from error
    return complete
