"""The files of a backup: a snapshot, parked citizens and a manifest, written under a temporary name. Blocking."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Final

from pydantic import ValidationError

from schemas.errors import Conflict, InvalidRequest
from schemas.upkeep.backup import VERSION, HeldFile, Manifest
from substrate.engine.data_directory import write_private
from substrate.graphs.parking import ENDING, LINKED

SNAPSHOT: Final = "engine.rdb"
MANIFEST: Final = "manifest.json"
PARKED: Final = "parked"
NOTES: Final = "engine.backups"
"""File of the data directory that lists where its backups were written."""
MAX_NOTES: Final = 20
_PART: Final = ".part"
_LOG: Final = "engine-aof"
_BASE: Final = "engine.aof.1.base.rdb"
_LOG_MANIFEST: Final = f"file {_BASE} seq 1 type b\n"
REMEDY_DAMAGED: Final = "Take another copy of the backup; nothing was restored."


def require_empty(target: Path) -> None:
    """Raises Conflict unless `target` does not exist, or is an empty directory."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Conflict(f"{target} is there already and not empty", remedy="Name a directory that is new or empty.")


def link_parked(folder: Path) -> Path | None:
    """A folder with links to the files of parked citizens, who may be woken meanwhile; None where there are none.
    Removes what a killed backup left. Raises InvalidRequest where it cannot be made."""
    if not folder.is_dir():
        return None
    for left in folder.glob(f"{LINKED}*"):
        shutil.rmtree(left, ignore_errors=True)
    linked = folder / f"{LINKED}{token_hex(4)}"
    try:
        linked.mkdir(mode=0o700)
        for path in folder.glob(f"*{ENDING}"):
            with suppress(FileNotFoundError):  # woken at this moment
                os.link(path, linked / path.name)
    except OSError as error:
        shutil.rmtree(linked, ignore_errors=True)
        raise InvalidRequest(f"{folder} cannot be written: {error.strerror}") from error
    return linked


def write_backup(
    snapshot: Path, target: Path, manifest: Manifest, directory: Path, *, parked: Path | None = None
) -> Manifest:
    """Move the snapshot to `target` and write the manifest beside it; returns the manifest with the file's digest.

    `directory`, the data directory, notes the part before it is filled, so that the next backup can remove what a
    killed one left. Raises InvalidRequest when the target cannot be written; then there is neither backup nor
    snapshot.
    """
    for left in unfinished_backups(directory):
        shutil.rmtree(left, ignore_errors=True)
    draft = target.with_name(f".{target.name}-{token_hex(4)}{_PART}")
    note_backup(directory, draft)
    try:
        draft.mkdir(mode=0o700, parents=True)
        shutil.move(snapshot, draft / SNAPSHOT)
        (draft / SNAPSHOT).chmod(0o600)
        files = {SNAPSHOT: _digest(draft / SNAPSHOT)}
        for path in sorted(parked.iterdir()) if parked is not None else ():
            (draft / PARKED).mkdir(mode=0o700, exist_ok=True)
            name = f"{PARKED}/{path.name}"
            with suppress(FileNotFoundError):  # something of the citizen was erased meanwhile
                shutil.copyfile(path, draft / name)
                (draft / name).chmod(0o600)
                files[name] = _digest(draft / name)
        complete = manifest.model_copy(update={"files": files})
        _write_durably(draft / MANIFEST, complete.model_dump_json(indent=2).encode() + b"\n")
        draft.replace(target)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise InvalidRequest(
            f"the backup cannot be written to {target}: {error.strerror}", remedy="Name another directory."
        ) from error
    finally:
        snapshot.unlink(missing_ok=True)
    note_backup(directory, target)
    return complete


def read_backup(source: Path) -> Manifest:
    """Return the manifest of a backup after checking its files. Raises InvalidRequest when a file is missing or
    damaged, or a newer release wrote the backup."""
    try:
        text = (source / MANIFEST).read_bytes()
    except OSError as error:
        raise InvalidRequest(
            f"there is no backup at {source}: {MANIFEST} cannot be read ({error.strerror})",
            remedy="Name the directory that `substrate backup` wrote.",
        ) from error
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        raise InvalidRequest(f"{source / MANIFEST} is damaged", remedy=REMEDY_DAMAGED) from error
    if manifest.version > VERSION:
        raise InvalidRequest(
            f"the backup has version {manifest.version}, this Substrate reads version {VERSION}",
            remedy="Restore it with the release of Substrate that wrote it.",
        )
    others = [Path(name) for name in manifest.files if name != SNAPSHOT]
    if len(others) + 1 != len(manifest.files) or any(path != Path(PARKED, path.name) for path in others):
        raise InvalidRequest(f"{source / MANIFEST} is damaged", remedy=REMEDY_DAMAGED)
    for name, digest in manifest.files.items():
        if not (source / name).is_file() or _digest(source / name) != digest:
            raise InvalidRequest(f"{source / name} is damaged or missing", remedy=REMEDY_DAMAGED)
    return manifest


def place_snapshot(source: Path, directory: Path, parked: Path) -> None:
    """Copy a backup's snapshot into an empty data directory, as the base of a new log, and the files of parked
    citizens into their folder. Raises InvalidRequest when it cannot be written; the directory is empty then."""
    try:
        for path in (source / PARKED).iterdir() if (source / PARKED).is_dir() else ():
            parked.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copyfile(path, parked / path.name)
            (parked / path.name).chmod(0o600)
            _sync(parked / path.name)
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = directory / _LOG
        log.mkdir(mode=0o700)
        shutil.copyfile(source / SNAPSHOT, log / _BASE)
        (log / _BASE).chmod(0o600)
        _sync(log / _BASE)
        _write_durably(log / "engine.aof.manifest", _LOG_MANIFEST.encode())
    except OSError as error:
        empty_directory(directory)
        raise InvalidRequest(
            f"{directory} cannot be written: {error.strerror}", remedy="Name another directory with `--data`."
        ) from error


def empty_directory(directory: Path) -> None:
    """Empty the data directory after a failed restore; what cannot be removed stays."""
    for path in directory.iterdir() if directory.is_dir() else ():
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def note_backup(directory: Path, target: Path) -> None:
    """Record in the data directory where a backup of it, or the part of one, is written, newest last."""
    noted = [path for path in _read_notes(directory) if path != str(target) and Path(path).exists()]
    # The backup may exist already: a note that cannot be written must not make it look failed.
    with suppress(OSError):
        write_private(directory / NOTES, "\n".join([*noted, str(target)][-MAX_NOTES:]))


def unfinished_backups(directory: Path) -> list[Path]:
    """The parts that are there of backups of this data directory: of one under way, or of one that was killed."""
    return [part for part in map(Path, _read_notes(directory)) if part.suffix == _PART and part.is_dir()]


def noted_backups(directory: Path) -> list[tuple[Path, Manifest]]:
    """Return the recorded backups that are intact and still where they were written, newest first."""
    backups = []
    for path in map(Path, reversed(_read_notes(directory))):
        try:
            backups.append((path, read_backup(path)))
        except InvalidRequest:
            continue  # removed, moved or damaged: it cannot be restored
    return backups


def _read_notes(directory: Path) -> list[str]:
    try:
        return (directory / NOTES).read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []


def _digest(path: Path) -> HeldFile:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return HeldFile(bytes=path.stat().st_size, sha256=digest)


def _write_durably(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    path.chmod(0o600)
    _sync(path)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
