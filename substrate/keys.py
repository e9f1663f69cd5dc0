"""Where keys are kept: two Redis hashes in the engine's own store, beside the graphs.

No graph, so that no graph name ever reaches them; durable as the graphs are; and one HGET to look one up, so
that several processes of the service see a revocation as soon as they look again. When a key was last used
stands apart, so that noting it can never write back a key that was changed meanwhile.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from schemas.keys import KeyInfo, KeyRecord
from substrate.connection import Connection

KEYS: Final = "substrate:keys"
LAST_USED: Final = "substrate:keys:used"


async def find(connection: Connection, key_id: str) -> KeyRecord | None:
    """The key of this id, without its last use. Raises Unavailable when the engine does not answer."""
    kept = await connection.command("HGET", KEYS, key_id)
    return None if kept is None else KeyRecord.model_validate_json(kept)


async def add(connection: Connection, record: KeyRecord) -> bool:
    """Keep a key; False, and nothing changed, when there is one of this id."""
    return bool(await connection.command("HSETNX", KEYS, record.id, record.model_dump_json()))


async def replace(connection: Connection, record: KeyRecord) -> None:
    """Keep the key as it is now."""
    await connection.command("HSET", KEYS, record.id, record.model_dump_json())


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
