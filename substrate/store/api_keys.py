"""API keys: two Redis hashes in the engine, beside the graphs, and what a backup must not bring back.

They are as durable as the graphs, no graph name collides with theirs, and one HGET finds a key, so that every
process of the service sees a revocation at its next lookup. The last use is in a hash of its own, so that writing
it can never overwrite a key that was changed meanwhile.

A restored backup may be older than a revocation, and than the lowering of a source: a file in the data directory
says which keys were revoked, and the highest source of every other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
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

KEYS: Final = "substrate:keys"
LAST_USED: Final = "substrate:keys:used"


async def find(connection: Connection, key_id: str) -> KeyRecord | None:
    """Return the key with this id, without its last use; None when there is none."""
    text = await connection.command("HGET", KEYS, key_id)
    return None if text is None else KeyRecord.model_validate_json(text)


async def add(connection: Connection, record: KeyRecord) -> bool:
    """Add a key; returns False and changes nothing when its id exists already."""
    return bool(await connection.command("HSETNX", KEYS, record.id, record.model_dump_json()))


_SWAP: Final = (
    "if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end "
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) return 1"
)


async def change(
    connection: Connection, key_id: str, revise: Callable[[KeyRecord], KeyRecord]
) -> KeyRecord | None:
    """Replace the key by `revise(key)` and return the new key; None when there is no key with this id. A
    compare-and-set: `revise` is called again when another process changed the key meanwhile."""
    while (text := await connection.command("HGET", KEYS, key_id)) is not None:
        changed = revise(KeyRecord.model_validate_json(text))
        if await connection.command("EVAL", _SWAP, 1, KEYS, key_id, text, changed.model_dump_json()):
            return changed
    return None


async def remove(connection: Connection, key_id: str) -> None:
    await connection.command("HDEL", KEYS, key_id)


async def count(connection: Connection) -> int:
    """Number of keys, revoked ones included."""
    return int(await connection.command("HLEN", KEYS))


async def list_keys(connection: Connection) -> list[KeyInfo]:
    """Return all keys, oldest first, each with its last use."""
    texts = await connection.command("HGETALL", KEYS)
    used = await connection.command("HGETALL", LAST_USED)
    records = list(map(KeyRecord.model_validate_json, texts.values()))
    infos = [
        record.info().model_copy(update={"last_used_at": datetime.fromisoformat(used[record.id])})
        if record.id in used
        else record.info()
        for record in records
    ]
    return sorted(infos, key=lambda info: (info.created_at, info.id))


async def note_use(connection: Connection, key_id: str, at: datetime) -> None:
    await connection.command("HSET", LAST_USED, key_id, at.isoformat())


FILE: Final = "engine.revoked"
_SOURCES: Final = frozenset(Source)


class FormerKeys(NamedTuple):
    """When each revoked key was revoked, and the highest source of the others, by their ids."""

    revoked: Mapping[str, datetime]
    sources: Mapping[str, Source]


async def save_revoked_keys(connection: Connection, directory: Path) -> None:
    """Write what the store knows of its keys; what the file has as revoked stays so there. Raises OSError."""
    told: dict[str, str] = {}
    for key in await list_keys(connection):
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
        record = await find(connection, key_id)
        if record is not None and record.revoked_at is None:
            record = await change(connection, key_id, partial(_since, at=at))
            newly_revoked += [] if record is None else [record.info()]
    return newly_revoked


def _since(key: KeyRecord, at: datetime) -> KeyRecord:
    return key if key.revoked_at is not None else key.model_copy(update={"revoked_at": at})
