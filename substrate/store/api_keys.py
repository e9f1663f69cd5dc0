"""API keys: two Redis hashes in the engine, beside the graphs.

They are as durable as the graphs, no graph name collides with theirs, and one HGET finds a key, so that every
process of the service sees a revocation at its next lookup. The last use is in a hash of its own, so that writing
it can never overwrite a key that was changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Final

from schemas.keys import KeyInfo, KeyRecord
from substrate.connection.pool import Connection

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
    """Replace the key by `revise(key)` and return the new key; None when there is no key with this id.

    A compare-and-set: `revise` is called again when another process changed the key meanwhile.
    """
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
