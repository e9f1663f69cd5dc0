"""Reads files from disk for the parsers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from orchestration.ingestion.formats.parsed import File, FileSet
from schemas.errors import InvalidRequest

_ENDINGS = {"markdown": (".md", ".markdown")}
_OTHERS = (".json", ".jsonl", ".ndjson")


def read_files(path: Path, form: str, citizen_id: str | None) -> FileSet:
    """Read the file at `path`; of a folder all files with the format's endings, except hidden ones.

    Times of change are in whole seconds. Raises InvalidRequest for a path that cannot be read and for a file that
    is not UTF-8.
    """
    try:
        if path.is_dir():
            endings = _ENDINGS.get(form, _OTHERS)
            paths = sorted(file for file in path.rglob("*") if _is_wanted(file, path, endings))
            files = tuple(_read_file(file, file.relative_to(path).as_posix()) for file in paths)
        else:
            files = (_read_file(path, path.name if form == "markdown" else str(path)),)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read ({error.strerror})", remedy="Check the path.") from error
    return FileSet(path.resolve().name if path.is_dir() else path.stem, files, citizen_id)


def _is_wanted(file: Path, folder: Path, endings: tuple[str, ...]) -> bool:
    inside = file.relative_to(folder)
    return (
        file.suffix.lower() in endings
        and not any(part.startswith(".") for part in inside.parts)
        and file.is_file()
    )


def _read_file(path: Path, name: str) -> File:
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
