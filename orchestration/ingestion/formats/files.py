"""Reads files for the parsers: from disk, and from zip archives as programs export them."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Final, NamedTuple

from orchestration.ingestion.formats import FORMS
from orchestration.ingestion.formats.office import is_docx
from orchestration.ingestion.formats.reader import File, FileSet, decode
from schemas.errors import InvalidRequest

ENDINGS: Final = frozenset(chain.from_iterable(form.endings for form in FORMS.values()))
"""The endings of files that some format reads."""
_DOCUMENTS: Final = frozenset(chain.from_iterable(form.endings for form in FORMS.values() if form.documents))
MOST_ENTRIES: Final = 20_000
_ENTRY: Final = b"PK\x01\x02"
"""What each entry of the list at the end of an archive begins with."""
MOST_EXPORTS: Final = 100
"""Exports of several files that are looked for in one archive or folder."""
MAX_UNPACKED: Final = 2 << 30
"""The most bytes that the files of an archive may have together."""
_BEGINNING: Final = b"PK\x03\x04"
_HIDDEN: Final = re.compile(r"(?:^|/)(?:\.|__MACOSX)")
_EXPORT: Final = re.compile(
    r"(?P<folder>(?:.*/)?)(?:conversations(?:-\d+)?\.json|result\.json|_chat(?: \(\d+\))?\.txt)\Z"
)
"""A file of an export that holds its conversations; others in its folder say the same again, or nothing."""
_SLACK: Final = re.compile(r"(?:users|channels|groups|dms|mpims)\.json|[^/]+/\d{4}-\d\d-\d\d\.json")
_LAYOUTS: Final = (
    ("channels.json", _SLACK),
    (
        "messages/index.json",
        re.compile(r"messages/(?:index\.json|c\d+/messages\.(?:json|csv))|account/user\.json"),
    ),
)
"""Exports of several files: one that is always there, and those that are read (Slack, Discord)."""


class Unpacked(NamedTuple):
    """The files that a format can read, and the names of the others, except hidden ones."""

    files: tuple[File, ...]
    others: tuple[str, ...] = ()


def is_archive(raw: bytes) -> bool:
    return raw.startswith(_BEGINNING) and not is_docx(raw)


def make_file(name: str, raw: bytes, modified: datetime | None = None) -> File:
    """Return the file with its text, which is empty for one that is no text."""
    text, encoding = decode(raw)
    return File(name, text or "", modified, raw, encoding)


def wanted(names: Sequence[str], endings: Collection[str] = ENDINGS) -> list[str]:
    """Return the names of the files to read, in order. Hidden files, and those that macOS adds, are left out.

    When files of any format are wanted, those beside the conversations of an export are left out too.
    """
    shown = [name for name in names if not _HIDDEN.search(name)]
    found = list(map(_EXPORT.match, shown)) if set(endings) >= ENDINGS else []
    exports = {match[0]: match["folder"] for match in found if match}
    for marker, read in _LAYOUTS if set(endings) >= ENDINGS else ():
        tops = [name[: -len(marker)] for name in shown if f"/{name}".lower().endswith(f"/{marker}")][:MOST_EXPORTS]
        for top in (one for one in tops if read is not _SLACK or f"{one}users.json" in shown):
            exports |= {
                name: top for name in shown if name.startswith(top) and read.fullmatch(name[len(top) :].lower())
            }
    around = tuple(exports.values())
    beside = [name for name in shown if name.lower().endswith(tuple(endings)) and not name.startswith(around)]
    beside += {f"{folder}memories.json" for folder in around}.intersection(shown)  # of Claude's export
    return sorted({*exports, *beside})


def passed_over(names: Iterable[str], read: Iterable[str]) -> list[str]:
    """The names that are not read, in order, without hidden ones."""
    return sorted(name for name in set(names).difference(read) if not _HIDDEN.search(name))


def unpack(
    name: str,
    raw: bytes,
    endings: Collection[str] = ENDINGS,
    *,
    most: int = MAX_UNPACKED,
    is_outer: bool = True,
) -> Unpacked:
    """Return the files of an archive; those that are read may have `most` bytes together.

    The archives in an outer one are unpacked too.

    Raises InvalidRequest for an archive that is damaged or cut, is locked by a password, or is too large.
    """
    if (entries := raw.count(_ENTRY)) > MOST_ENTRIES:
        raise _fault(name, f"has {entries:,} entries; at most {MOST_ENTRIES:,} are read")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            known = {info.filename: info for info in archive.infolist() if not info.is_dir()}
            chosen = [known[path] for path in wanted(list(known), endings)]
            within = [known[path] for path in known if path.lower().endswith(".zip") and not _HIDDEN.search(path)]
            chosen += within if is_outer else []
            room = most - sum(info.file_size for info in chosen)
            if room < 0:
                raise _fault(name, f"unpacked it has more than {most >> 20:,} MiB")
            files: list[File] = []
            others = passed_over(known, map(attrgetter("filename"), chosen))
            for info in chosen:
                with archive.open(info) as file:
                    inside = file.read(info.file_size + 1)  # as announced, so that a small file cannot become huge
                if info in within:  # an export of Notion is archives in an archive
                    unpacked = unpack(f"{name}/{info.filename}", inside, endings, most=room, is_outer=False)
                    files += unpacked.files
                    others += unpacked.others
                    room = most - sum(len(one.raw) for one in files)
                    continue
                try:
                    modified = datetime(*info.date_time, tzinfo=UTC)
                except ValueError:  # archives may hold a day that does not exist
                    modified = None
                files.append(make_file(info.filename, inside, modified))
            return Unpacked(tuple(files), tuple(others))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _fault(name, f"is a damaged or cut archive ({error})") from error
    except RuntimeError as error:
        raise _fault(name, "is locked by a password") from error


def _fault(name: str, problem: str) -> InvalidRequest:
    return InvalidRequest(f"{name}: {problem}", remedy="Nothing was stored; unpack it, or export it again.")


def read_files(path: Path, form: str | None, citizen_id: str | None, zone: tzinfo | None = None) -> FileSet:
    """Read the file at `path`; of a folder or an archive all files with the format's endings, except hidden ones.

    Times of change are in whole seconds. A file of a folder that cannot be read is in `unread`. Raises
    InvalidRequest for a path that cannot be read and for a damaged archive.
    """
    known = FORMS.get(form or "")
    endings = (known and known.endings) or ENDINGS
    try:
        if path.is_dir():
            found, unread = _read_folder(path, endings)
            return FileSet(path.resolve().name, found.files, citizen_id, zone, unread, found.others)
        raw, modified = _read_bytes(path)
        if is_archive(raw):
            found = unpack(str(path), raw, endings)
            return FileSet(path.stem, found.files, citizen_id, zone, others=found.others)
        is_document = form == "markdown" or (path.suffix.lower() in _DOCUMENTS and not _EXPORT.match(path.name))
        file = make_file(path.name if is_document else str(path), raw, modified)
        return FileSet(path.stem, (file,), citizen_id, zone)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read ({error.strerror})", remedy="Check the path.") from error


def _read_folder(path: Path, endings: Collection[str]) -> tuple[Unpacked, dict[str, str]]:
    files: list[File] = []
    unread: dict[str, str] = {}
    names = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
    chosen = wanted(list(names), (*endings, ".zip"))
    others = passed_over(names, chosen)
    for name in chosen:
        try:
            raw, modified = _read_bytes(names[name])
            inside = unpack(name, raw, endings) if is_archive(raw) else Unpacked(())
            files += [make_file(f"{name}/{file.name}", file.raw, file.modified) for file in inside.files]
            others += inside.others
            files += [] if is_archive(raw) else [make_file(name, raw, modified)]
        except OSError as error:
            unread[name] = f"{name}: cannot be read ({error.strerror})"
        except InvalidRequest as error:
            unread[name] = error.detail
    return Unpacked(tuple(files), tuple(others)), unread


def names_below(path: Path) -> frozenset[str]:
    """Return the names of all files of a folder, as `read_files` gives them; none for a file."""
    return frozenset(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder; 0 for what cannot be read."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _read_bytes(path: Path) -> tuple[bytes, datetime]:
    return path.read_bytes(), datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
