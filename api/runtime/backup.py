"""Restore a backup, and check that an engine can load it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from api.runtime.runtime import open_store
from orchestration.transfer.backup import check_fits, verify_restored
from schemas.errors import EngineFault, InvalidRequest
from schemas.keys import KeyInfo
from schemas.settings import Settings, StoreSettings
from schemas.temporal import to_datetime
from schemas.upkeep.backup import Manifest
from substrate.backup import files
from substrate.connection.pool import Connection
from substrate.inference.embeddings import open_embedder
from substrate.store import api_keys, revoked_keys


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
    source: Path, settings: Settings, revoked: Mapping[str, datetime] | Literal["*"] | None = None
) -> Restored:
    """Restore a backup into the data directory, which must be empty.

    `revoked` maps the keys that must stay revoked to the time of their revocation; `*` revokes every key. Raises
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
            return Restored(manifest, *await _revoke_again(connection, directory, revoked))
    except EngineFault as error:
        await asyncio.to_thread(files.empty_directory, directory)
        raise InvalidRequest(
            f"the engine cannot load this backup: {error.detail}", remedy=files.REMEDY_DAMAGED
        ) from error
    except BaseException:
        await asyncio.shield(asyncio.to_thread(files.empty_directory, directory))
        raise


async def _revoke_again(
    connection: Connection, directory: Path, revoked: Mapping[str, datetime] | Literal["*"] | None
) -> tuple[tuple[KeyInfo, ...], tuple[KeyInfo, ...]]:
    """Revoke these keys. Returns the keys that are valid now, and those that were revoked here."""
    now = to_datetime(await connection.now())
    keys = await api_keys.list_keys(connection)
    to_revoke = dict.fromkeys([key.id for key in keys], now) if revoked == ALL_KEYS else revoked or {}
    kept_revoked = await revoked_keys.revoke_again(connection, to_revoke)
    await revoked_keys.save_revoked_keys(connection, directory)
    revoked_ids = {key.id for key in kept_revoked}
    unrevoked = [key for key in keys if key.revoked_at is None and key.id not in revoked_ids]
    valid = tuple(key for key in unrevoked if key.expires_at is None or key.expires_at > now)
    return valid, tuple(kept_revoked)
