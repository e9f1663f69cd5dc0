"""A file in the data directory that says which keys were revoked, and the highest source of every other.

A restored backup may be older than a revocation, and than the lowering of a source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from schemas.errors import InvalidRequest
from schemas.keys import KeyInfo, KeyRecord
from schemas.memory import Source
from substrate.connection.pool import Connection
from substrate.engine.data_directory import write_private
from substrate.store import api_keys

FILE: Final = "engine.revoked"
_SOURCES: Final = frozenset(Source)


class FormerKeys(NamedTuple):
    """When each revoked key was revoked, and the highest source of the others, by their ids."""

    revoked: Mapping[str, datetime]
    sources: Mapping[str, Source]


async def save_revoked_keys(connection: Connection, directory: Path) -> None:
    """Write what the store knows of its keys; what the file has as revoked stays so there. Raises OSError."""
    told: dict[str, str] = {}
    for key in await api_keys.list_keys(connection):
        told[key.id] = key.highest_source.value if key.revoked_at is None else key.revoked_at.isoformat()
    await asyncio.to_thread(_add, directory, told)


def _add(directory: Path, told: Mapping[str, str]) -> None:
    path = directory / FILE
    before = orjson.loads(path.read_bytes()) if path.exists() else None
    after = {**(before or {}), **told}
    for key_id, text in (before or {}).items():
        if text not in _SOURCES:
            after[key_id] = text
    if after != before:
        write_private(path, orjson.dumps(after).decode())


def read_former_keys(directory: Path) -> FormerKeys:
    """Return what the file says of the keys. Raises InvalidRequest when it cannot be read."""
    try:
        told = orjson.loads((directory / FILE).read_bytes())
        revoked = {key_id: datetime.fromisoformat(text) for key_id, text in told.items() if text not in _SOURCES}
        return FormerKeys(revoked, {key_id: Source(text) for key_id, text in told.items() if text in _SOURCES})
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
