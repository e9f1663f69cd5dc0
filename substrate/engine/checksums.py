"""What the engine's files are known to hold: their lengths and running checksums, kept beside them.

The engine's log has no checksum: cut short or with a bit turned it may load as if nothing had happened. So the
engine's keeper reads what was added to the log, at each of its looks, and keeps how far it has come and the
checksum of it all (`engine.sums`); whoever starts the engine compares first. Only whole commands count, and only
what is on the disk: what the engine may rightly cut off after a crash is never part of it. What was written after
the last look before a crash is not covered, but by its form.

It needs the standard library alone: the keeper stays as small as Python is.
"""

from __future__ import annotations

import json
import os
import time
import zlib
from pathlib import Path
from typing import Any, Final, NamedTuple

from substrate.engine.log_commands import Unreadable, whole_until

RECORD: Final = "engine.sums"
LOG: Final = "engine-aof"
LOG_MANIFEST: Final = "engine.aof.manifest"
PIECE: Final = 1 << 20
MARKS_KEPT: Final = 64


class Mark(NamedTuple):
    """That the first `bytes` of a file have this checksum, as was seen `at` (seconds since 1970)."""

    bytes: int = 0
    crc: int = 0
    at: float = 0.0


class Part(NamedTuple):
    """A file of the log as its manifest names it. `base`: a snapshot, else commands."""

    name: str
    number: int
    base: bool


class Damage(NamedTuple):
    """What is wrong with one file. `whole` is the last mark that still holds, `lost` the last that was made."""

    file: str
    said: str
    whole: Mark
    lost: Mark


class RecordDamaged(Exception):
    """The record itself cannot be read."""


class Sums:
    """Goes on reading what is added to the log. `look` again and again; the record is written when there is more.

    What is read was there a look ago: what the engine takes back at once, for want of space, is never counted.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self._directory = Path(directory)
        self._sizes: dict[str, int] = {}

    def look(self, *, last: bool = False) -> None:
        """Read on. `last`: the engine has ended, and all counts. Does nothing where files are gone."""
        try:
            self._look(last=last)
        except (OSError, RecordDamaged):
            return  # a full disk, a directory that was removed: the next look may do better

    def _look(self, *, last: bool) -> None:
        # Read each time: whoever recovers the store, or stops its engine, writes the record too.
        before = read_record(self._directory) or {}
        found = {part.name: part for part in parts_of(self._directory)}
        if not found:
            return
        now = {name: (self._directory / LOG / name).stat().st_size for name in found}
        marks = {name: before.get(name, [Mark()]) for name in found}
        for name, part in found.items():
            until = now[name] if last else min(now[name], self._sizes.get(name, 0))
            if until > marks[name][-1].bytes:
                read = _read_on(self._directory / LOG / name, marks[name][-1], until, base=part.base)
                marks[name] = _thinned([*marks[name], *([read] if read else [])])
        self._sizes = now
        if marks != before:
            write_record(self._directory, marks)


def _read_on(path: Path, mark: Mark, until: int, *, base: bool) -> Mark | None:
    """The next mark of a file, on disk; None when no whole command was added."""
    with path.open("rb") as file:
        crc, place = mark.crc, mark.bytes
        while place < until:
            done, crc = _piece(file, (place, crc), until, base=base)
            if done == place:
                break
            place = done
        if place == mark.bytes:
            return None
        os.fsync(file.fileno())
    return Mark(place, crc, round(time.time(), 3))


def _piece(file: Any, come: tuple[int, int], until: int, *, base: bool) -> tuple[int, int]:
    place, crc = come
    size = PIECE
    while True:
        file.seek(place)
        data = file.read(min(size, until - place))
        try:
            whole = len(data) if base else whole_until(data)
        except Unreadable as error:
            whole = error.whole
            return place + whole, zlib.crc32(data[:whole], crc)
        if whole or place + len(data) >= until or not data:
            return place + whole, zlib.crc32(data[:whole], crc)
        size *= 4


def _thinned(marks: list[Mark]) -> list[Mark]:
    """At most so many marks: where one is too many, that which stands closest between its neighbours goes."""
    if len(marks) <= MARKS_KEPT:
        return marks
    gaps = [after.bytes - before.bytes for before, after in zip(marks, marks[2:], strict=False)]
    closest = gaps.index(min(gaps)) + 1
    return [*marks[:closest], *marks[closest + 1 :]]


def parts_of(directory: Path) -> list[Part]:
    """The files that the log consists of, in their order; none where there is no log."""
    try:
        lines = (directory / LOG / LOG_MANIFEST).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    found = []
    for line in lines:
        words = line.split()
        named = dict(zip(words[::2], words[1::2], strict=False))
        if (
            named.get("type") in ("b", "i")
            and named.get("seq", "").isdigit()
            and "/" not in named.get("file", "/")
        ):
            found.append(Part(named["file"], int(named["seq"]), named["type"] == "b"))
    return sorted(found, key=lambda part: (not part.base, part.number))


def read_record(directory: Path) -> dict[str, list[Mark]] | None:
    """The marks of each file; None when nothing was recorded yet. Raises RecordDamaged, OSError."""
    try:
        text = (directory / RECORD).read_bytes()
    except FileNotFoundError:
        return None
    try:
        head, _, body = text.partition(b"\n")
        if int(head) != zlib.crc32(body):
            raise RecordDamaged
        return {name: [Mark(*mark) for mark in marks] for name, marks in json.loads(body).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise RecordDamaged from error


def write_record(directory: Path, marks: dict[str, list[Mark]]) -> None:
    """Put the record in place, on disk. Raises OSError."""
    body = json.dumps(marks, separators=(",", ":")).encode()
    draft = directory / f"{RECORD}.new"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(b"%d\n" % zlib.crc32(body) + body)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(directory / RECORD)
    _sync_names(directory)


def _sync_names(directory: Path) -> None:
    for place in (directory / LOG, directory):
        handle = os.open(place, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def compare(directory: Path, *, thorough: bool = True) -> list[Damage]:
    """What the files no longer hold of what they held; empty when all is there or nothing was recorded.

    `thorough` reads all of them, else only lengths are looked at. Files that an engine which runs has written anew
    meanwhile are looked at again. Raises OSError when a file cannot be read.
    """
    try:
        recorded = read_record(directory)
    except RecordDamaged:
        return [Damage(RECORD, f"{RECORD}, which says what the log holds, cannot be read", Mark(), Mark())]
    if not recorded:
        return []
    parts = parts_of(directory)
    gone = _gone(recorded, parts)
    found = [Damage(name, f"{name} is missing", Mark(), recorded[name][-1]) for name in gone]
    for part in parts:
        if part.name in recorded and part.name not in gone:
            damage = _compared(directory, part, recorded[part.name], thorough=thorough)
            found += [damage] if damage else []
    return found


def _gone(recorded: dict[str, list[Mark]], parts: list[Part]) -> list[str]:
    """The recorded files that should be in the manifest: a newer base takes the place of all before it."""
    named = {part.name for part in parts}
    bases = [part.number for part in parts if part.base]
    return [name for name in recorded if name not in named and not (bases and max(bases) > _base_of(recorded))]


def _base_of(recorded: dict[str, list[Mark]]) -> int:
    """The number of the newest recorded base; their names are `engine.aof.NUMBER.base.rdb`."""
    return max((int(name.split(".")[-3]) for name in recorded if name.endswith(".base.rdb")), default=0)


def _compared(directory: Path, part: Part, marks: list[Mark], *, thorough: bool) -> Damage | None:
    path = directory / LOG / part.name
    latest = marks[-1]
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        if part not in parts_of(directory):
            return None  # written anew since the manifest was read
        return Damage(part.name, f"{part.name} is missing", Mark(), latest)
    if size >= latest.bytes and (not thorough or _holds(path, marks)[-1:] == [latest]):
        return None
    held = _holds(path, marks) if thorough else []
    whole = held[-1] if held else Mark()
    if size < latest.bytes:
        said = f"{part.name} is {latest.bytes - size:,} bytes shorter than it was"
    else:
        said = f"{part.name} holds other bytes than were written, somewhere behind byte {whole.bytes:,}"
    return Damage(part.name, said, whole, latest)


def _holds(path: Path, marks: list[Mark]) -> list[Mark]:
    """The marks, from the first on, that the file still bears out."""
    held: list[Mark] = []
    crc = place = 0
    with path.open("rb") as file:
        for mark in marks:
            while place < mark.bytes:
                data = file.read(min(PIECE, mark.bytes - place))
                if not data:
                    return held
                crc, place = zlib.crc32(data, crc), place + len(data)
            if crc != mark.crc:
                return held
            held.append(mark)
    return held
