"""What says whether upkeep may work in a graph now: the last request to it, and what its citizen asks for.

The last requests of all services are in one sorted set, by the server's clock. It holds digests of the names of
graphs, so it reveals no citizen, and forgets them after a day.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from schemas.temporal import Instant
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

REQUESTS: Final = "substrate:upkeep:requests"
FORGOTTEN_MS: Final = 86_400_000
_NOTE: Final = (
    "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
    "for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now, ARGV[i]) end "
    "redis.call('ZREMRANGEBYSCORE', KEYS[1], 0, now - ARGV[1]) return now"
)

READ_OWN: Final = Query(
    "upkeep_own", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN m.upkeep_mode, m.upkeep_jobs LIMIT 1"
)
SET_OWN: Final = Query(
    "upkeep_set_own",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) SET m.upkeep_mode = $mode, m.upkeep_jobs = $jobs RETURN m.key",
)


class StoredOwn(NamedTuple):
    """What a citizen asks for: `mode` idle or off, and `jobs` by name; None: as the service is set."""

    mode: str | None = None
    jobs: tuple[str, ...] | None = None


def digest(graph: str) -> str:
    """What stands for the name of a graph in the list of requests, and in the ids of its runs."""
    return blake2b(graph.encode(), digest_size=6, person=b"upkeep").hexdigest()


async def note_requests(connection: Connection, graphs: Iterable[str]) -> None:
    """Note that these graphs got a request now. Raises Unavailable when the engine does not answer."""
    names = sorted(map(digest, graphs))
    if names:
        await connection.command("EVAL", _NOTE, 1, REQUESTS, FORGOTTEN_MS, *names)


async def last_requests(connection: Connection, since: Instant) -> dict[str, Instant]:
    """By digest: the last request to each graph, of those since then."""
    pairs: Any = await connection.command("ZRANGE", REQUESTS, since // 1000, "+inf", "BYSCORE", "WITHSCORES")
    return {str(name): int(float(at)) * 1000 for name, at in _pairs(pairs)}


def _pairs(reply: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """The members with their scores: the client returns pairs, or one flat list."""
    if reply and not isinstance(reply[0], (tuple, list)):
        return list(zip(reply[::2], reply[1::2], strict=True))
    return reply


async def read_own(graph: Graph) -> StoredOwn:
    """What the citizen of the graph asks for."""
    rows = await graph.read_typed(READ_OWN)
    if not rows:
        return StoredOwn()
    mode, jobs = rows[0]
    return StoredOwn(mode, None if jobs is None else tuple(jobs))


async def set_own(graph: Graph, own: StoredOwn) -> bool:
    """Store what the citizen asks for; False when nothing was remembered in the graph yet."""
    jobs = None if own.jobs is None else list(own.jobs)
    return bool(await graph.write(SET_OWN, mode=own.mode, jobs=jobs))
