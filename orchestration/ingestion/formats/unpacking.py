"""The files inside a zip archive, as programs export them. Pure."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from orchestration.ingestion.formats.decoding import decode
from orchestration.ingestion.formats.parsed import File
from schemas.errors import InvalidRequest

ENDINGS: Final = (
    ".md", ".markdown", ".json", ".jsonl", ".ndjson", ".txt", ".text", ".csv", ".tsv", ".eml", ".mbox",
    ".html", ".htm", ".pdf",
)  # fmt: skip
"""The endings of files that some format reads."""
MOST_ENTRIES: Final = 20_000
_ENTRY: Final = b"PK\x01\x02"
"""What each entry of the list at the end of an archive begins with."""
MAX_UNPACKED: Final = 2 << 30
"""The most bytes that the files of an archive may have together."""
_BEGINNING: Final = b"PK\x03\x04"
_HIDDEN: Final = re.compile(r"(?:^|/)(?:\.|__MACOSX)")
_EXPORT: Final = re.compile(
    r"(?P<folder>(?:.*/)?)(?:conversations(?:-\d+)?\.json|result\.json|_chat(?: \(\d+\))?\.txt)\Z"
)
"""A file of an export that holds its conversations; others in its folder say the same again, or nothing."""


def is_archive(raw: bytes) -> bool:
    return raw.startswith(_BEGINNING)


def make_file(name: str, raw: bytes, modified: datetime | None = None) -> File:
    """Return the file with its text, which is empty for one that is no text."""
    text, encoding = decode(raw)
    return File(name, text or "", modified, raw, encoding)


def wanted(names: Sequence[str], endings: Sequence[str] = ENDINGS) -> list[str]:
    """Return the names of the files to read, in order. Hidden files, and those that macOS adds, are left out.

    When files of any format are wanted, those beside the conversations of an export are left out too.
    """
    shown = [name for name in names if not _HIDDEN.search(name)]
    found = list(map(_EXPORT.match, shown)) if set(ENDINGS) <= set(endings) else []
    exports = {match[0]: match["folder"] for match in found if match}
    around = tuple(exports.values())
    beside = (name for name in shown if name.lower().endswith(tuple(endings)) and not name.startswith(around))
    return sorted({*exports, *beside})


def is_conversation(name: str) -> bool:
    """True for a name that an export gives to a file with conversations, in any folder."""
    return _EXPORT.match(name) is not None


def unpack(
    name: str, raw: bytes, endings: Sequence[str] = ENDINGS, *, most: int = MAX_UNPACKED
) -> tuple[File, ...]:
    """Return the files of an archive that a format can read; together they may have `most` bytes.

    Raises InvalidRequest for an archive that is damaged or cut, is locked by a password, or is too large.
    """
    if (entries := raw.count(_ENTRY)) > MOST_ENTRIES:
        raise _fault(name, f"has {entries:,} entries; at most {MOST_ENTRIES:,} are read")
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            known = {info.filename: info for info in archive.infolist() if not info.is_dir()}
            chosen = [known[inside] for inside in wanted(list(known), endings)]
            if sum(info.file_size for info in chosen) > most:
                raise _fault(name, f"unpacked it has more than {most >> 20:,} MiB")
            return tuple(_read(archive, info) for info in chosen)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _fault(name, f"is a damaged or cut archive ({error})") from error
    except RuntimeError as error:
        raise _fault(name, "is locked by a password") from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> File:
    with archive.open(info) as file:
        raw = file.read(info.file_size + 1)  # the size that is announced, so that a small file cannot become huge
    try:
        modified = datetime(*info.date_time, tzinfo=UTC)
    except ValueError:  # archives may hold a day that does not exist
        modified = None
    return make_file(info.filename, raw, modified)


def _fault(name: str, problem: str) -> InvalidRequest:
    return InvalidRequest(f"{name}: {problem}", remedy="Nothing was stored; unpack it, or export it again.")
