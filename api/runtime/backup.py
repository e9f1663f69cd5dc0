"""Restore a backup, and recover a damaged store: cut the log, accept the files, or put a backup in their place."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal, NamedTuple

from api.runtime.runtime import open_store
from orchestration.transfer.backup import check_fits, verify_restored
from orchestration.writing.changes import lower_source
from schemas.errors import Conflict, EngineFault, InvalidRequest
from schemas.keys import KeyInfo, KeyRecord
from schemas.memory import Source
from schemas.settings import Settings, StoreSettings
from schemas.temporal import to_datetime
from schemas.upkeep.backup import HeldGraph, Manifest
from substrate.backup import files, snapshot
from substrate.connection.pool import Connection
from substrate.engine import repair
from substrate.engine.repair import DamageReport
from substrate.inference.embeddings import open_embedder
from substrate.store import api_keys
from substrate.store.api_keys import FormerKeys


def refuse_server(store: StoreSettings) -> None:
    """Raises InvalidRequest when a server is configured, whose files we cannot reach."""
    if store.server_url() is not None:
        raise InvalidRequest(
            "the store is a FalkorDB server, whose files Substrate does not reach",
            remedy="Back it up with its own tools (`redis-cli --rdb FILE`), or use `substrate export --all`.",
        )


class Restoration(NamedTuple):
    """A restored backup. `keys` are valid now; `kept_revoked` were revoked since the backup was made."""

    manifest: Manifest
    keys: tuple[KeyInfo, ...]
    kept_revoked: tuple[KeyInfo, ...]


ALL_KEYS: Final = "*"
"""Stands for every key of the backup."""


async def restore_backup(
    source: Path, settings: Settings, former: FormerKeys | Literal["*"] | None = None
) -> Restoration:
    """Restore a backup into the data directory, which must be empty.

    `former`: keys that are revoked there, or may claim less there, stay so; `*` revokes every key. Raises
    InvalidRequest for a damaged or newer backup, StoreMisfit for one of another embedder, Conflict for a directory
    that is not empty. After an error the directory is as before.
    """
    refuse_server(settings.store)
    directory = settings.store.data.expanduser().absolute()
    await asyncio.to_thread(files.require_empty, directory)
    manifest = await asyncio.to_thread(files.read_backup, source)
    embedder = await asyncio.to_thread(open_embedder, settings.embedding)
    try:
        await embedder.ready()
        check_fits(manifest, embedder.model, embedder.dimension)
    finally:
        await embedder.aclose()
    await asyncio.to_thread(files.place_snapshot, source, directory, settings.store.park_folder())
    try:
        async with open_store(settings.store) as (connection, _):
            await verify_restored(connection, manifest)
            await snapshot.begin_epochs(connection)
            return Restoration(manifest, *await _limit_again(connection, directory, former))
    except EngineFault as error:
        await asyncio.to_thread(files.empty_directory, directory)
        raise InvalidRequest(
            f"the engine cannot load this backup: {error.detail}", remedy=files.REMEDY_DAMAGED
        ) from error
    except BaseException:
        await asyncio.shield(asyncio.to_thread(files.empty_directory, directory))
        raise


async def _limit_again(
    connection: Connection, directory: Path, former: FormerKeys | Literal["*"] | None
) -> tuple[tuple[KeyInfo, ...], tuple[KeyInfo, ...]]:
    """Revoke and lower keys again. Returns the keys that are valid now, and those that were revoked here."""
    now = to_datetime(await connection.now())
    told = former if isinstance(former, FormerKeys) else FormerKeys({}, {})
    to_revoke = told.revoked
    if former == ALL_KEYS:
        to_revoke = dict.fromkeys([key.id for key in await api_keys.list_keys(connection)], now)
    kept_revoked = await api_keys.revoke_again(connection, to_revoke)
    for key_id, source in told.sources.items():

        def lower(key: KeyRecord, source: Source = source) -> KeyRecord:
            return key.model_copy(update={"highest_source": lower_source(key.highest_source, source)})

        await api_keys.change(connection, key_id, lower)
    await api_keys.save_revoked_keys(connection, directory)
    unrevoked = [key for key in await api_keys.list_keys(connection) if key.revoked_at is None]
    valid = tuple(key for key in unrevoked if key.expires_at is None or key.expires_at > now)
    return valid, tuple(kept_revoked)


class Recovery(NamedTuple):
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


async def cut_log(store: StoreSettings) -> Recovery:
    """Cut the log after its last whole entry, and load it. Raises Conflict when cutting does not help."""

    def apply_repair(directory: Path, finding: DamageReport) -> None:
        if finding.cut is None:
            raise Conflict(
                "the log cannot be cut so that it loads", remedy="Restore a backup: `--from DIRECTORY`."
            )
        repair.cut_log(directory, finding.cut)

    return await _repair_and_open(store, apply_repair)


async def accept_files(store: StoreSettings) -> Recovery:
    """Accept the files as they are and load them. Raises Conflict when they cannot be read to their end."""

    def apply_repair(directory: Path, finding: DamageReport) -> None:
        if not finding.readable:
            raise Conflict("the files cannot be read to their end", remedy="Try `--cut`, or `--from DIRECTORY`.")
        repair.accept_files(directory)

    return await _repair_and_open(store, apply_repair)


async def _repair_and_open(store: StoreSettings, apply_repair: Callable[[Path, DamageReport], None]) -> Recovery:
    directory = data_directory(store)
    aside = await asyncio.to_thread(_repair_locked, directory, apply_repair)
    async with open_store(store) as (connection, _):
        await snapshot.begin_epochs(connection)
        return Recovery(aside, await snapshot.count_graphs(connection))


def _repair_locked(directory: Path, apply_repair: Callable[[Path, DamageReport], None]) -> Path:
    with repair.exclusive_use(directory):
        finding = repair.examine(directory)
        if not finding.damages:
            raise Conflict("no damage is known", remedy="Look at `substrate doctor`.")
        aside = repair.copy_aside(directory)
        apply_repair(directory, finding)
    return aside


async def replace_with_backup(source: Path, settings: Settings) -> tuple[Path, Restoration]:
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
