"""Restoring, which opens and closes an engine of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path

from api.runtime import opened_store
from orchestration.backup import check_fits, prove
from schemas.backup import Manifest
from schemas.errors import EngineFault, InvalidRequest
from schemas.settings import Settings, StoreSettings
from substrate import backup
from substrate.embeddings import open_embedder


def refuse_server(store: StoreSettings) -> None:
    """Raises InvalidRequest when a server is configured: its files are not ours."""
    if store.server_url() is not None:
        raise InvalidRequest(
            "the store is a FalkorDB server, whose files Substrate does not reach",
            remedy="Back it up with its own tools (`redis-cli --rdb FILE`), or use `substrate export --all`.",
        )


async def restore(source: Path, settings: Settings) -> Manifest:
    """Restore a backup into the data directory, which must be empty; what it holds.

    Raises InvalidRequest for a damaged or newer backup, StoreMisfit for one of another embedder, Conflict for a
    directory that is not empty. The directory is then as it was.
    """
    refuse_server(settings.store)
    directory = settings.store.data.expanduser().absolute()
    await asyncio.to_thread(backup.refuse_taken, directory)
    manifest = await asyncio.to_thread(backup.read_backup, source)
    embedder = await asyncio.to_thread(open_embedder, settings.embedding)
    try:
        await embedder.ready()
        check_fits(manifest, embedder.model, embedder.dimension)
    finally:
        await embedder.aclose()
    await asyncio.to_thread(backup.place, source, directory)
    try:
        async with opened_store(settings.store) as (connection, _):
            await prove(connection, manifest)
    except EngineFault as error:
        await asyncio.to_thread(backup.clear, directory)
        raise InvalidRequest(
            f"the engine cannot load this backup: {error.detail}", remedy=backup.REMEDY_DAMAGED
        ) from error
    except BaseException:
        await asyncio.shield(asyncio.to_thread(backup.clear, directory))
        raise
    return manifest
