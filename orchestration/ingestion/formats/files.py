"""Reads files from disk for the parsers."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from pathlib import Path

from orchestration.ingestion.formats.documents import ENDINGS as DOCUMENTS
from orchestration.ingestion.formats.parsed import File, FileSet
from orchestration.ingestion.formats.unpacking import (
    ENDINGS,
    is_archive,
    is_conversation,
    make_file,
    unpack,
    wanted,
)
from schemas.errors import InvalidRequest

_ENDINGS = {
    "markdown": (".md", ".markdown"),
    "whatsapp": (".txt",),
    "text": (".txt", ".text"),
    "html": (".html", ".htm"),
    "pdf": (".pdf",),
    "csv": (".csv", ".tsv", ".txt"),
    "email": (".eml", ".mbox"),
    **dict.fromkeys(
        ("messages", "locomo", "commands", "graphiti", "mem0", "mcp-memory"), (".json", ".jsonl", ".ndjson")
    ),
}


def read_files(path: Path, form: str | None, citizen_id: str | None, zone: tzinfo | None = None) -> FileSet:
    """Read the file at `path`; of a folder or an archive all files with the format's endings, except hidden ones.

    Times of change are in whole seconds. A file of a folder that cannot be read is in `unread`. Raises
    InvalidRequest for a path that cannot be read and for a damaged archive.
    """
    endings = _ENDINGS.get(form or "", ENDINGS)
    try:
        if path.is_dir():
            files, unread = _read_folder(path, endings)
            return FileSet(path.resolve().name, files, citizen_id, zone, unread)
        return FileSet(path.stem, _read_path(path, form, endings), citizen_id, zone)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read ({error.strerror})", remedy="Check the path.") from error


def _read_folder(path: Path, endings: tuple[str, ...]) -> tuple[tuple[File, ...], dict[str, str]]:
    """The files of a folder, and why others cannot be read."""
    files: list[File] = []
    unread: dict[str, str] = {}
    names = {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}
    for name in wanted(list(names), (*endings, ".zip")):
        try:
            raw, modified = _read(names[name])
            inside = unpack(name, raw, endings) if is_archive(raw) else ()
            files += [make_file(f"{name}/{file.name}", file.raw, file.modified) for file in inside]
            files += [] if is_archive(raw) else [make_file(name, raw, modified)]
        except OSError as error:
            unread[name] = f"{name}: cannot be read ({error.strerror})"
        except InvalidRequest as error:
            unread[name] = error.detail
    return tuple(files), unread


def names_below(path: Path) -> frozenset[str]:
    """Return the names of all files of a folder, as `read_files` gives them; none for a file."""
    return frozenset(file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files of a folder; 0 for what cannot be read."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _read_path(path: Path, form: str | None, endings: tuple[str, ...]) -> tuple[File, ...]:
    raw, modified = _read(path)
    if is_archive(raw):
        return unpack(str(path), raw, endings)
    is_document = form == "markdown" or (path.suffix.lower() in DOCUMENTS and not is_conversation(path.name))
    return (make_file(path.name if is_document else str(path), raw, modified),)


def _read(path: Path) -> tuple[bytes, datetime]:
    return path.read_bytes(), datetime.fromtimestamp(int(path.stat().st_mtime), UTC)
