"""Where keys are kept: two Redis hashes in the engine's own store, beside the graphs.

No graph, so that no graph name ever reaches them; durable as the graphs are; and one HGET to look one up, so
that several processes of the service see a revocation as soon as they look again. When a key was last used
stands apart, so that noting it can never write back a key that was changed meanwhile.
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
    """The key of this id, without its last use. Raises Unavailable when the engine does not answer."""
    kept = await connection.command("HGET", KEYS, key_id)
    return None if kept is None else KeyRecord.model_validate_json(kept)


async def add(connection: Connection, record: KeyRecord) -> bool:
    """Keep a key; False, and nothing changed, when there is one of this id."""
    return bool(await connection.command("HSETNX", KEYS, record.id, record.model_dump_json()))


_SWAP: Final = (
    "if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end "
    "redis.call('HSET', KEYS[1], ARGV[1], ARGV[3]) return 1"
)


async def change(connection: Connection, key_id: str, how: Callable[[KeyRecord], KeyRecord]) -> KeyRecord | None:
    """Keep the key as `how` leaves it, and return it; None when there is none of this id.

    What another changed meanwhile is never written back: `how` is then asked again.
    """
    while (kept := await connection.command("HGET", KEYS, key_id)) is not None:
        changed = how(KeyRecord.model_validate_json(kept))
        if await connection.command("EVAL", _SWAP, 1, KEYS, key_id, kept, changed.model_dump_json()):
            return changed
    return None


async def remove(connection: Connection, key_id: str) -> None:
    """Keep the key no longer."""
    await connection.command("HDEL", KEYS, key_id)


async def count(connection: Connection) -> int:
    """How many keys there are, those revoked included."""
    return int(await connection.command("HLEN", KEYS))


async def listed(connection: Connection) -> list[KeyInfo]:
    """All keys, oldest first, each with its last use."""
    kept = await connection.command("HGETALL", KEYS)
    used = await connection.command("HGETALL", LAST_USED)
    records = [KeyRecord.model_validate_json(text) for text in kept.values()]
    infos = [
        record.info().model_copy(update={"last_used_at": datetime.fromisoformat(used[record.id])})
        if record.id in used
        else record.info()
        for record in records
    ]
    return sorted(infos, key=lambda info: (info.created_at, info.id))


async def note_use(connection: Connection, key_id: str, at: datetime) -> None:
    """Keep when the key was last used."""
    await connection.command("HSET", LAST_USED, key_id, at.isoformat())
