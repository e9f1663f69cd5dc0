"""Restore a backup, and check that an engine can load it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final, Literal, NamedTuple

from api.runtime.runtime import open_store
from orchestration.transfer.backup import check_fits, verify_restored
from orchestration.writing.changes import lower_source
from schemas.errors import EngineFault, InvalidRequest
from schemas.keys import KeyInfo, KeyRecord
from schemas.memory import Source
from schemas.settings import Settings, StoreSettings
from schemas.temporal import to_datetime
from schemas.upkeep.backup import Manifest
from substrate.backup import files
from substrate.connection.pool import Connection
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


class Restored(NamedTuple):
    """A restored backup. `keys` are valid now; `kept_revoked` were revoked since the backup was made."""

    manifest: Manifest
    keys: tuple[KeyInfo, ...]
    kept_revoked: tuple[KeyInfo, ...]


ALL_KEYS: Final = "*"
"""Stands for every key of the backup."""


async def restore_backup(
    source: Path, settings: Settings, former: FormerKeys | Literal["*"] | None = None
) -> Restored:
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
    await asyncio.to_thread(files.place_snapshot, source, directory)
    try:
        async with open_store(settings.store) as (connection, _):
            await verify_restored(connection, manifest)
            return Restored(manifest, *await _limit_again(connection, directory, former))
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
