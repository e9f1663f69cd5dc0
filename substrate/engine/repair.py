"""Repair of a damaged store: finding the damage, and cutting the log where it is still readable. Blocking."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from schemas.errors import Conflict, InvalidRequest
from substrate.engine.checksums import (
    LOG,
    LOG_MANIFEST,
    RECORD,
    ChecksumRecorder,
    Damage,
    LogFile,
    Prefix,
    RecordDamaged,
    Unreadable,
    commands,
    compare,
    log_files,
    read_record,
    readable_bytes,
)
from substrate.engine.data_directory import try_lock

LOCK_LIMIT_S: Final = 5.0
POLL_S: Final = 0.05
IN_USE: Final = (
    "Stop the service, and whatever else uses it, and try again; an engine without users ends within a minute."
)


class LogCut(NamedTuple):
    """A cut through the log: the first `keep_bytes` of `file` stay, and none of the files after it.

    Everything written until `until` stays (seconds since 1970; 0 when unknown). `lost_commands` counts the
    readable commands after the cut, `graphs` names the graphs they change.
    """

    file: LogFile
    keep_bytes: int
    until: float
    lost_commands: int
    graphs: tuple[str, ...]


class DamageReport(NamedTuple):
    """The damage of a store; `cut` is None when nothing is damaged, or when cutting does not help. `readable` is
    True when the files can be read to their end as they are."""

    damages: tuple[Damage, ...]
    cut: LogCut | None
    readable: bool


@contextmanager
def exclusive_use(directory: Path) -> Iterator[None]:
    """Hold the locks of the store inside the `with` block. Raises Conflict when another process uses the store."""
    locks: list[int] = []
    give_up = time.monotonic() + LOCK_LIMIT_S
    try:
        for name in ("engine.users", "engine.lock"):
            while (lock := try_lock(directory / name)) is None:
                if time.monotonic() > give_up:
                    raise Conflict(f"the store in {directory} is in use", remedy=IN_USE)
                time.sleep(POLL_S)
            locks.append(lock)
        yield
    finally:
        for lock in locks:
            os.close(lock)


def examine(directory: Path) -> DamageReport:
    """Check all files of a store that nobody uses. Raises InvalidRequest when there is no store."""
    damages = compare(directory)
    files = log_files(directory)
    if not files and not damages:
        raise InvalidRequest(f"there is no store in {directory}", remedy="Name its directory with `--data`.")
    damaged = {damage.file for damage in damages}
    unreadable = 0
    for file in files:
        damage = None if file.is_base else _unreadable_part(directory, file)
        if damage is not None:
            unreadable += 1
            damages += [damage] if file.name not in damaged else []
    missing = any(not (directory / LOG / file.name).exists() for file in files)
    readable = bool(files) and not unreadable and not missing
    return DamageReport(tuple(damages), _propose_cut(directory, files, damages), readable)


def _unreadable_part(directory: Path, file: LogFile) -> Damage | None:
    """Return the part of a log file that is no command; the engine itself cuts off an incomplete last command."""
    try:
        data = (directory / LOG / file.name).read_bytes()
        readable_bytes(data)
    except FileNotFoundError:
        return None
    except Unreadable as error:
        description = f"{file.name} holds no command from byte {error.readable_bytes:,} of {len(data):,} on"
        return Damage(file.name, description, Prefix(error.readable_bytes), Prefix(len(data)))
    return None


def _propose_cut(directory: Path, files: list[LogFile], damages: list[Damage]) -> LogCut | None:
    damage_of = {damage.file: damage for damage in damages}
    damaged = [file for file in files if file.name in damage_of]
    if not damaged or damaged[0].is_base or len(damage_of) > len(damaged):
        return None
    file, damage = damaged[0], damage_of[damaged[0].name]
    try:
        data = (directory / LOG / file.name).read_bytes()
    except OSError:
        return None
    keep = damage.intact.bytes
    if len(data) < damage.latest.bytes:
        keep += _readable_length(data[keep:])
    later = [(directory / LOG / other.name).read_bytes() for other in files if _is_after(other, file)]
    lost, graphs = count_commands([data[keep:], *later])
    try:
        prefixes = (read_record(directory) or {}).get(file.name, [])
    except RecordDamaged:
        prefixes = []
    until = max((prefix.at for prefix in prefixes if prefix.bytes <= keep), default=0.0)
    return LogCut(file, keep, until, lost, graphs)


def count_commands(texts: Sequence[bytes]) -> tuple[int, tuple[str, ...]]:
    """Return the number of readable commands in the texts, and the sorted names of the graphs they change."""
    graphs: set[str] = set()
    count = 0
    for text in texts:
        try:
            for command in commands(text):
                count += 1
                if command.name.startswith(b"GRAPH."):
                    graphs.add(command.key.decode(errors="replace"))
        except Unreadable:
            break
    return count, tuple(sorted(graphs))


def _is_after(later: LogFile, file: LogFile) -> bool:
    return not later.is_base and later.number > file.number


def _readable_length(data: bytes) -> int:
    try:
        return readable_bytes(data)
    except Unreadable as error:
        return error.readable_bytes


def aside_path(directory: Path) -> Path:
    """Return the directory, beside the data directory, to which damaged files are copied."""
    return directory.with_name(f"{directory.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")


def copy_aside(directory: Path) -> Path:
    """Copy the log to `aside_path`; never into the data directory, where an erasure must reach every file. Raises
    InvalidRequest when it cannot be written."""
    aside = aside_path(directory)
    try:
        aside.mkdir(mode=0o700)
        shutil.copytree(directory / LOG, aside / LOG)
        for name in (RECORD, "engine.log"):
            if (directory / name).exists():
                shutil.copy2(directory / name, aside / name)
    except OSError as error:
        raise InvalidRequest(
            f"{aside} cannot be written: {error.strerror}", remedy="Free some space there; nothing was changed."
        ) from error
    return aside


def cut_log(directory: Path, cut: LogCut) -> None:
    """Cut the log and record the checksums of the rest. Raises OSError when a file cannot be written."""
    with (directory / LOG / cut.file.name).open("r+b") as file:
        file.truncate(cut.keep_bytes)
        os.fsync(file.fileno())
    dropped = {file.name for file in log_files(directory) if _is_after(file, cut.file)}
    manifest = directory / LOG / LOG_MANIFEST
    lines = [
        line for line in manifest.read_text("utf-8").splitlines(keepends=True) if not dropped & set(line.split())
    ]
    draft = manifest.with_suffix(".new")
    draft.write_text("".join(lines), "utf-8")
    draft.replace(manifest)
    for name in dropped:
        (directory / LOG / name).unlink(missing_ok=True)
    accept_files(directory)


def accept_files(directory: Path) -> None:
    """Replace the record by the checksums of the files as they are now."""
    (directory / RECORD).unlink(missing_ok=True)
    ChecksumRecorder(directory).update(final=True)
