"""Which keys were revoked, kept in a file beside the engine's: a backup that is restored does not know it."""

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


async def keep(connection: Connection, directory: Path) -> None:
    """Add to the file what the store knows, and make the file if there is none. Raises OSError."""
    known = {
        key.id: key.revoked_at.isoformat()
        for key in await api_keys.listed(connection)
        if key.revoked_at is not None
    }
    await asyncio.to_thread(_add, directory, known)


def _add(directory: Path, known: Mapping[str, str]) -> None:
    path = directory / FILE
    before = orjson.loads(path.read_bytes()) if path.exists() else None
    after = {**known, **(before or {})}
    if after != before:
        write_private(path, orjson.dumps(after).decode())


def kept_in(directory: Path) -> dict[str, datetime]:
    """Which keys a data directory knows as revoked, and since when. Raises InvalidRequest when it says nothing."""
    try:
        said = orjson.loads((directory / FILE).read_bytes())
        return {key_id: datetime.fromisoformat(at) for key_id, at in said.items()}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise InvalidRequest(
            f"{directory} does not say which keys were revoked ({FILE} cannot be read)",
            remedy="Leave it away, and see which keys count afterwards; or revoke all with --revoke-keys.",
        ) from error


async def revoke_again(connection: Connection, revoked: Mapping[str, datetime]) -> list[KeyInfo]:
    """Revoke those keys of the store that count there; returns them."""
    found = []
    for key_id, at in revoked.items():
        record = await api_keys.find(connection, key_id)
        if record is not None and record.revoked_at is None:
            record = await api_keys.change(connection, key_id, partial(_since, at=at))
            found += [] if record is None else [record.info()]
    return found


def _since(key: KeyRecord, at: datetime) -> KeyRecord:
    return key if key.revoked_at is not None else key.model_copy(update={"revoked_at": at})
