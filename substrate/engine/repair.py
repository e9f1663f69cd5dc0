"""Damaged files of the engine: what is wrong, what of the log is whole, and cutting it there. Blocking."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from schemas.errors import Conflict, InvalidRequest
from substrate.engine.checksums import (
    LOG,
    LOG_MANIFEST,
    RECORD,
    Damage,
    Mark,
    Part,
    RecordDamaged,
    Sums,
    compare,
    parts_of,
    read_record,
)
from substrate.engine.locks import try_lock
from substrate.engine.log_commands import Unreadable, commands, whole_until

LOCK_LIMIT_S: Final = 5.0
STEP_S: Final = 0.05
IN_USE: Final = (
    "Stop the service, and whatever else uses it, and try again; an engine without users ends in a minute."
)


class Rest(NamedTuple):
    """A log that is cut: of `part` the first `stays` bytes are left, and nothing of the parts behind it.

    What was written until `until` (seconds since 1970, 0 when that is not known) is in it. Behind it go so many
    `commands` that can be read, on these `graphs`.
    """

    part: Part
    stays: int
    until: float
    commands: int
    graphs: tuple[str, ...]


class Finding(NamedTuple):
    """What is wrong, what would be left if the log were cut, and whether it can be read to its end as it is.

    `rest` is None when nothing is wrong, or cutting does not help.
    """

    damages: tuple[Damage, ...]
    rest: Rest | None
    readable: bool


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Nobody uses the store, or begins to, as long as this is open. Raises Conflict when somebody does."""
    held: list[int] = []
    give_up = time.monotonic() + LOCK_LIMIT_S
    try:
        for name in ("engine.users", "engine.lock"):
            while (lock := try_lock(directory / name)) is None:
                if time.monotonic() > give_up:
                    raise Conflict(f"the store in {directory} is in use", remedy=IN_USE)
                time.sleep(STEP_S)
            held.append(lock)
        yield
    finally:
        for lock in held:
            os.close(lock)


def examine(directory: Path) -> Finding:
    """Look through all files of a store that nobody uses. Raises InvalidRequest when there is none."""
    damages = compare(directory)
    parts = parts_of(directory)
    if not parts and not damages:
        raise InvalidRequest(f"there is no store in {directory}", remedy="Name its directory with `--data`.")
    known = {damage.file for damage in damages}
    ends = {part: _end(directory, part) for part in parts if not part.base}
    for part, (size, whole) in ends.items():
        # The engine itself cuts off a last command that is not whole.
        if whole is not None and part.name not in known:
            said = f"{part.name} holds no command from byte {whole:,} of {size:,} on"
            damages.append(Damage(part.name, said, Mark(whole), Mark(size)))
    readable = bool(parts) and all(whole is None for _, whole in ends.values())
    missing = any(not (directory / LOG / part.name).exists() for part in parts)
    return Finding(tuple(damages), _rest(directory, parts, damages), readable and not missing)


def _end(directory: Path, part: Part) -> tuple[int, int | None]:
    """The size of a log file, and where it cannot be read further; None when it can to its end."""
    try:
        data = (directory / LOG / part.name).read_bytes()
        whole_until(data)
    except FileNotFoundError:
        return 0, None
    except Unreadable as error:
        return len(data), error.whole
    return len(data), None


def _rest(directory: Path, parts: list[Part], damages: list[Damage]) -> Rest | None:
    named = {damage.file: damage for damage in damages}
    hurt = [part for part in parts if part.name in named]
    if not hurt or hurt[0].base or len(named) > len(hurt):
        return None
    part, damage = hurt[0], named[hurt[0].name]
    try:
        data = (directory / LOG / part.name).read_bytes()
    except OSError:
        return None
    stays = damage.whole.bytes
    if len(data) < damage.lost.bytes:
        stays += _readable(data[stays:])
    graphs: set[str] = set()
    count = 0
    behind = [
        data[stays:],
        *((directory / LOG / later.name).read_bytes() for later in parts if _behind(later, part)),
    ]
    for text in behind:
        try:
            for command in commands(text):
                count += 1
                graphs.update(
                    [command.about.decode(errors="replace")] if command.name.startswith(b"GRAPH.") else []
                )
        except Unreadable:
            break
    return Rest(part, stays, _until(directory, part, stays), count, tuple(sorted(graphs)))


def _until(directory: Path, part: Part, stays: int) -> float:
    try:
        marks = (read_record(directory) or {}).get(part.name, [])
    except RecordDamaged:
        marks = []
    return max((mark.at for mark in marks if mark.bytes <= stays), default=0.0)


def _behind(later: Part, part: Part) -> bool:
    return not later.base and later.number > part.number


def _readable(data: bytes) -> int:
    try:
        return whole_until(data)
    except Unreadable as error:
        return error.whole


def name_aside(directory: Path) -> Path:
    """Where what is there is put: beside the data directory."""
    return directory.with_name(f"{directory.name}.damaged-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")


def keep_copy(directory: Path) -> Path:
    """A copy of the log beside the data directory; never in it, where an erasure must find all there is."""
    aside = name_aside(directory)
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


def cut(directory: Path, rest: Rest) -> None:
    """Leave of the log what the rest says, and record that."""
    with (directory / LOG / rest.part.name).open("r+b") as file:
        file.truncate(rest.stays)
        os.fsync(file.fileno())
    dropped = {part.name for part in parts_of(directory) if _behind(part, rest.part)}
    manifest = directory / LOG / LOG_MANIFEST
    lines = [
        line for line in manifest.read_text("utf-8").splitlines(keepends=True) if not dropped & set(line.split())
    ]
    draft = manifest.with_suffix(".new")
    draft.write_text("".join(lines), "utf-8")
    draft.replace(manifest)
    for name in dropped:
        (directory / LOG / name).unlink(missing_ok=True)
    accept(directory)


def accept(directory: Path) -> None:
    """Take the files for what they are now, and record that."""
    (directory / RECORD).unlink(missing_ok=True)
    Sums(directory).look(last=True)
