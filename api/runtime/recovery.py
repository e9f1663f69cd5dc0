"""Recover a damaged store: find the damage, then cut the log, accept the files, or put a backup in their place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from api.runtime.backup import Restored, refuse_server, restore_backup
from api.runtime.runtime import open_store
from schemas.errors import Conflict, InvalidRequest
from schemas.settings import Settings, StoreSettings
from schemas.upkeep.backup import HeldGraph
from substrate.backup import snapshot
from substrate.engine import repair
from substrate.engine.repair import DamageReport
from substrate.store import api_keys


class Recovered(NamedTuple):
    """A repaired store: the directory of its damaged files, and the number of records in each graph."""

    aside: Path
    graphs: dict[str, HeldGraph]


def data_directory(store: StoreSettings) -> Path:
    """The data directory. Raises InvalidRequest when a server is configured."""
    refuse_server(store)
    return store.data.expanduser().absolute()


def examine_store(store: StoreSettings) -> DamageReport:
    """Find the damage. Raises InvalidRequest when there is no store, Conflict while a process uses it."""
    directory = data_directory(store)
    if not directory.is_dir():
        raise InvalidRequest(f"there is no store in {directory}", remedy="Name its directory with `--data`.")
    with repair.exclusive_use(directory):
        return repair.examine(directory)


async def cut_log(store: StoreSettings) -> Recovered:
    """Cut the log after its last whole entry, and load it. Raises Conflict when cutting does not help."""

    def apply_repair(directory: Path, finding: DamageReport) -> None:
        if finding.cut is None:
            raise Conflict(
                "the log cannot be cut so that it loads", remedy="Restore a backup: `--from DIRECTORY`."
            )
        repair.cut_log(directory, finding.cut)

    return await _repair_and_open(store, apply_repair)


async def accept_files(store: StoreSettings) -> Recovered:
    """Accept the files as they are and load them. Raises Conflict when they cannot be read to their end."""

    def apply_repair(directory: Path, finding: DamageReport) -> None:
        if not finding.readable:
            raise Conflict("the files cannot be read to their end", remedy="Try `--cut`, or `--from DIRECTORY`.")
        repair.accept_files(directory)

    return await _repair_and_open(store, apply_repair)


async def _repair_and_open(store: StoreSettings, apply_repair: Callable[[Path, DamageReport], None]) -> Recovered:
    directory = data_directory(store)
    aside = await asyncio.to_thread(_repair_locked, directory, apply_repair)
    async with open_store(store) as (connection, _):
        return Recovered(aside, await snapshot.count_graphs(connection))


def _repair_locked(directory: Path, apply_repair: Callable[[Path, DamageReport], None]) -> Path:
    with repair.exclusive_use(directory):
        finding = repair.examine(directory)
        if not finding.damages:
            raise Conflict("no damage is known", remedy="Look at `substrate doctor`.")
        aside = repair.copy_aside(directory)
        apply_repair(directory, finding)
    return aside


async def replace_with_backup(source: Path, settings: Settings) -> tuple[Path, Restored]:
    """Move the store aside and restore a backup in its place; keys revoked or lowered since the backup stay so.

    Raises what `restore_backup` raises; the store is then back in its place.
    """
    directory = data_directory(settings.store)
    former = None
    with suppress(InvalidRequest):
        former = await asyncio.to_thread(api_keys.read_former_keys, directory)
    aside = await asyncio.to_thread(_move_aside, directory)
    try:
        return aside, await restore_backup(source, settings, former)
    except BaseException:
        await asyncio.shield(asyncio.to_thread(_move_back, aside, directory))
        raise


def _move_aside(directory: Path) -> Path:
    with repair.exclusive_use(directory):
        aside = repair.aside_path(directory)
        try:
            directory.rename(aside)
        except OSError as error:
            raise InvalidRequest(
                f"{directory} cannot be moved aside: {error.strerror}",
                remedy=f"Restore into a new directory: `substrate --data NEW restore … --former {directory}`.",
            ) from error
        return aside


def _move_back(aside: Path, directory: Path) -> None:
    with suppress(FileNotFoundError):
        directory.rmdir()
    aside.rename(directory)
