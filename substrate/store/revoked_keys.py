"""A file in the data directory that lists the revoked keys: a restored backup may be older than a revocation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final

import orjson

from schemas.errors import InvalidRequest
from schemas.keys import KeyInfo, KeyRecord
from substrate.connection.pool import Connection
from substrate.engine.data_directory import write_private
from substrate.store import api_keys

FILE: Final = "engine.revoked"


async def save_revoked_keys(connection: Connection, directory: Path) -> None:
    """Add the revoked keys of the store to the file, and create it if it does not exist. Raises OSError."""
    revoked = {
        key.id: key.revoked_at.isoformat()
        for key in await api_keys.list_keys(connection)
        if key.revoked_at is not None
    }
    await asyncio.to_thread(_add, directory, revoked)


def _add(directory: Path, revoked: Mapping[str, str]) -> None:
    path = directory / FILE
    before = orjson.loads(path.read_bytes()) if path.exists() else None
    after = {**revoked, **(before or {})}
    if after != before:
        write_private(path, orjson.dumps(after).decode())


def read_revoked_keys(directory: Path) -> dict[str, datetime]:
    """Return the ids of the revoked keys, and when each was revoked.

    Raises InvalidRequest when the file cannot be read.
    """
    try:
        revoked = orjson.loads((directory / FILE).read_bytes())
        return {key_id: datetime.fromisoformat(at) for key_id, at in revoked.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InvalidRequest(
            f"{directory} does not say which keys were revoked ({FILE} cannot be read)",
            remedy="Leave out --former and check the keys after the restore, or revoke all with --revoke-keys.",
        ) from error


async def revoke_again(connection: Connection, revoked: Mapping[str, datetime]) -> list[KeyInfo]:
    """Revoke the keys in `revoked` that are still valid in the store; returns the keys that it revoked."""
    newly_revoked = []
    for key_id, at in revoked.items():
        record = await api_keys.find(connection, key_id)
        if record is not None and record.revoked_at is None:
            record = await api_keys.change(connection, key_id, partial(_since, at=at))
            newly_revoked += [] if record is None else [record.info()]
    return newly_revoked


def _since(key: KeyRecord, at: datetime) -> KeyRecord:
    return key if key.revoked_at is not None else key.model_copy(update={"revoked_at": at})
