"""Files from disk for the parsers: the one part of this room that touches it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from orchestration.ingestion.formats.parsed import File, Given
from schemas.errors import InvalidRequest

_ENDINGS = {"markdown": (".md", ".markdown")}
_OTHERS = (".json", ".jsonl", ".ndjson")


def given(path: Path, form: str, citizen_id: str | None) -> Given:
    """What lies at `path`: a file, or a folder's files whose names end as the format's do, hidden ones not.

    Times of change are whole seconds. Raises InvalidRequest when there is nothing, or nothing readable, or a
    file that is not UTF-8.
    """
    try:
        if path.is_dir():
            endings = _ENDINGS.get(form, _OTHERS)
            found = sorted(file for file in path.rglob("*") if _wanted(file, path, endings))
            files = tuple(_file(file, file.relative_to(path).as_posix()) for file in found)
        else:
            files = (_file(path, path.name if form == "markdown" else str(path)),)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read ({error.strerror})", remedy="Check the path.") from error
    return Given(path.resolve().name if path.is_dir() else path.stem, files, citizen_id)


def _wanted(file: Path, folder: Path, endings: tuple[str, ...]) -> bool:
    inside = file.relative_to(folder)
    return (
        file.suffix.lower() in endings
        and not any(part.startswith(".") for part in inside.parts)
        and file.is_file()
    )


def _file(path: Path, name: str) -> File:
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest(
            f"{name} is not a UTF-8 text (byte {error.start})",
            remedy="Nothing was stored; convert it to UTF-8.",
        ) from error
    modified = datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
    return File(name, text, modified)
