"""Restoring, which opens and closes an engine of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Final, Literal, NamedTuple

from api.runtime.runtime import open_store
from orchestration.transfer.backup import check_fits, prove
from schemas.backup import Manifest
from schemas.errors import EngineFault, InvalidRequest
from schemas.keys import KeyInfo
from schemas.settings import Settings, StoreSettings
from schemas.temporal import to_datetime
from substrate.backup import files
from substrate.connection.pool import Connection
from substrate.inference.embeddings import open_embedder
from substrate.store import api_keys, revoked_keys


def refuse_server(store: StoreSettings) -> None:
    """Raises InvalidRequest when a server is configured: its files are not ours."""
    if store.server_url() is not None:
        raise InvalidRequest(
            "the store is a FalkorDB server, whose files Substrate does not reach",
            remedy="Back it up with its own tools (`redis-cli --rdb FILE`), or use `substrate export --all`.",
        )


class Restored(NamedTuple):
    """What a restored backup holds; of its keys, those that count now and those that stay revoked."""

    manifest: Manifest
    keys: tuple[KeyInfo, ...]
    kept_revoked: tuple[KeyInfo, ...]


ALL_KEYS: Final = "*"
"""Of keys: that each is revoked."""


async def restore_backup(
    source: Path, settings: Settings, revoked: Mapping[str, datetime] | Literal["*"] | None = None
) -> Restored:
    """Restore a backup into the data directory, which must be empty; what it holds.

    `revoked`: the keys that stay revoked although the backup does not know it, or `*` for each. Raises
    InvalidRequest for a damaged or newer backup, StoreMisfit for one of another embedder, Conflict for a directory
    that is not empty. The directory is then as it was.
    """
    refuse_server(settings.store)
    directory = settings.store.data.expanduser().absolute()
    await asyncio.to_thread(files.refuse_taken, directory)
    manifest = await asyncio.to_thread(files.read_backup, source)
    embedder = await asyncio.to_thread(open_embedder, settings.embedding)
    try:
        await embedder.ready()
        check_fits(manifest, embedder.model, embedder.dimension)
    finally:
        await embedder.aclose()
    await asyncio.to_thread(files.place, source, directory)
    try:
        async with open_store(settings.store) as (connection, _):
            await prove(connection, manifest)
            return Restored(manifest, *await _revoke_again(connection, directory, revoked))
    except EngineFault as error:
        await asyncio.to_thread(files.clear, directory)
        raise InvalidRequest(
            f"the engine cannot load this backup: {error.detail}", remedy=files.REMEDY_DAMAGED
        ) from error
    except BaseException:
        await asyncio.shield(asyncio.to_thread(files.clear, directory))
        raise


async def _revoke_again(
    connection: Connection, directory: Path, revoked: Mapping[str, datetime] | Literal["*"] | None
) -> tuple[tuple[KeyInfo, ...], tuple[KeyInfo, ...]]:
    """Revoke what is to stay revoked; the keys that count now, and those that were revoked here."""
    now = to_datetime(await connection.now())
    held = await api_keys.listed(connection)
    these = dict.fromkeys([key.id for key in held], now) if revoked == ALL_KEYS else revoked or {}
    kept = await revoked_keys.revoke_again(connection, these)
    await revoked_keys.keep(connection, directory)
    gone = {key.id for key in kept}
    counting = [key for key in held if key.revoked_at is None and key.id not in gone]
    return tuple(key for key in counting if key.expires_at is None or key.expires_at > now), tuple(kept)
