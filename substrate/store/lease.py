"""Who may do upkeep now, and where: its lease, the last requests to graphs, and what their citizens ask for.

One process of all that share a store does upkeep, and a number fences off the one before. The lease is a Redis
hash, and all times in it are of the server's clock, so the clocks of the processes never matter. The fence rises
by one with each new holder and never falls. What a holder writes carries its fence, and a graph refuses a fence
below the highest that it has seen (`substrate.store.runs`): so a holder that slept through its own expiry writes
nothing more. Each script works on this one key, as a cluster requires.

The last requests of all services are in one sorted set, by the server's clock. It holds digests of the names of
graphs, so it reveals no citizen, and forgets them after a day.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from schemas.errors import Conflict, SubstrateError
from schemas.temporal import Instant
from substrate.connection.pool import Connection
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

LEASE: Final = "substrate:upkeep:lease"
LEASE_S: Final = 15.0
"""Seconds until the lease of a holder that died is free."""
RENEWALS: Final = 3
"""How often a holder renews in that time."""
POLL_S: Final = 0.2

_NOW: Final = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000) "
_TAKE: Final = (
    _NOW
    + "local v = redis.call('HMGET', KEYS[1], 'holder', 'until', 'fence', 'says', 'wanted_by', 'wanted_until') "
    "local till, fence = tonumber(v[2] or 0) or 0, tonumber(v[3] or 0) or 0 "
    "if v[1] and v[1] ~= ARGV[1] and till > now then "
    "if ARGV[4] == '1' then redis.call('HSET', KEYS[1], 'wanted_by', ARGV[1], 'wanted_until', now + ARGV[5]) end "
    "return {0, fence, v[4] or ''} end "
    "if ARGV[4] == '0' and v[5] and v[5] ~= ARGV[1] and (tonumber(v[6] or 0) or 0) > now then "
    "return {0, fence, v[4] or ''} end "
    "if not (v[1] == ARGV[1] and till > now) then fence = fence + 1 end "
    "redis.call('HSET', KEYS[1], 'holder', ARGV[1], 'until', now + ARGV[2], 'fence', fence, 'says', ARGV[3]) "
    "if v[5] == ARGV[1] then redis.call('HDEL', KEYS[1], 'wanted_by', 'wanted_until') end "
    "return {1, fence, ARGV[3]}"
)
"""Arguments: holder, milliseconds, what the holder says of itself, whether it asks another to give way, and for
how many milliseconds that wish stands."""
_RENEW: Final = (
    _NOW + "local v = redis.call('HMGET', KEYS[1], 'holder', 'fence', 'wanted_by', 'wanted_until') "
    "if v[1] ~= ARGV[1] or v[2] ~= ARGV[3] then return 0 end "
    "redis.call('HSET', KEYS[1], 'until', now + ARGV[2]) "
    "if v[3] and v[3] ~= ARGV[1] and (tonumber(v[4] or 0) or 0) > now then return 2 end return 1"
)
"""Returns 0 when another has the lease, 2 when another asks for it, else 1."""
_RELEASE: Final = (
    "local v = redis.call('HMGET', KEYS[1], 'holder', 'fence') "
    "if v[1] ~= ARGV[1] or v[2] ~= ARGV[2] then return 0 end redis.call('HSET', KEYS[1], 'until', 0) return 1"
)
_READ: Final = (
    _NOW + "local v = redis.call('HMGET', KEYS[1], 'holder', 'until', 'fence', 'says') "
    "return {v[1] or '', math.max(0, (tonumber(v[2] or 0) or 0) - now), tonumber(v[3] or 0) or 0, v[4] or ''}"
)


class LeaseState(NamedTuple):
    """Who held the lease last (empty: nobody yet), for how many seconds it still holds it, and its fence."""

    holder: str
    left_s: float
    fence: int
    says: str

    @property
    def held(self) -> bool:
        return self.left_s > 0


class LeaseAttempt(NamedTuple):
    """The answer to an attempt: `fence` is that of the present holder, `says` what that one says of itself."""

    ok: bool
    fence: int
    says: str


class Holder(NamedTuple):
    """One that may hold the lease: a name that no other has, and what people read of it, such as `serve, pid 7`.
    `seconds`: after that time without a renewal the lease is free. An `urgent` holder asks another to give way."""

    name: str
    says: str
    seconds: float = LEASE_S
    urgent: bool = False


class HeldLease:
    """A lease that this process holds. `lost`: another may have it now. `wanted`: another asks for it."""

    def __init__(self, connection: Connection, holder: Holder, fence: int) -> None:
        self.fence = fence
        self.lost = False
        self.wanted = False
        self._connection = connection
        self._holder = holder
        self._renewed_at = _monotonic()

    async def renew(self) -> None:
        """Hold it for the whole time again; sets `lost` or `wanted`. Raises Unavailable when no answer came."""
        answer = await renew(self._connection, self._holder, self.fence)
        self.lost, self.wanted = self.lost or answer == 0, answer == 2
        self._renewed_at = _monotonic()

    async def keep(self) -> None:
        """Renew until it is lost. Without an answer for the whole time it counts as lost."""
        while not self.lost:
            await asyncio.sleep(self._holder.seconds / RENEWALS)
            with suppress(SubstrateError):
                await self.renew()
            self.lost = self.lost or _monotonic() - self._renewed_at > self._holder.seconds


def _monotonic() -> float:
    return asyncio.get_running_loop().time()


async def take(connection: Connection, holder: Holder) -> LeaseAttempt:
    """Take the lease when it is free, has expired, or is this holder's own. Raises Unavailable."""
    milliseconds = int(holder.seconds * 1000)
    words = (holder.name, milliseconds, holder.says, int(holder.urgent), milliseconds)
    ok, fence, says = await connection.command("EVAL", _TAKE, 1, LEASE, *words)
    return LeaseAttempt(bool(ok), int(fence), str(says))


async def renew(connection: Connection, holder: Holder, fence: int) -> int:
    """Hold it for the whole time again: 0 when it is lost, 2 when another asks for it, else 1."""
    milliseconds = int(holder.seconds * 1000)
    return int(await connection.command("EVAL", _RENEW, 1, LEASE, holder.name, milliseconds, str(fence)))


async def release(connection: Connection, holder: Holder, fence: int) -> bool:
    """Free the lease; False when it was lost before."""
    return bool(await connection.command("EVAL", _RELEASE, 1, LEASE, holder.name, str(fence)))


async def read(connection: Connection) -> LeaseState:
    """Who holds the lease. Raises Unavailable when the engine does not answer."""
    holder, left, fence, says = await connection.command("EVAL", _READ, 1, LEASE)
    return LeaseState(str(holder), int(left) / 1000, int(fence), str(says))


@asynccontextmanager
async def hold(connection: Connection, holder: Holder, *, wait_s: float = 0.0) -> AsyncIterator[HeldLease]:
    """Hold the lease within the context, and renew it meanwhile. Raises Conflict, which names the present holder,
    when it is not free within `wait_s` seconds."""
    give_up = _monotonic() + wait_s
    while not (taken := await take(connection, holder)).ok:
        if _monotonic() >= give_up:
            raise Conflict(
                f"upkeep is done by another process now: {taken.says}",
                remedy="Try again when it is done; if it was killed, its lease ends within "
                f"{holder.seconds:.0f} seconds.",
            )
        await asyncio.sleep(POLL_S)
    held = HeldLease(connection, holder, taken.fence)
    renewing = asyncio.create_task(held.keep())
    try:
        yield held
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])
        with suppress(SubstrateError):  # it ends by itself
            await release(connection, holder, held.fence)


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


async def note_requests(connection: Connection, graphs: Iterable[str], kept_ms: int = FORGOTTEN_MS) -> None:
    """Note that these graphs got a request now, and forget requests that are older than `kept_ms`. Raises
    Unavailable when the engine does not answer."""
    names = sorted(map(digest, graphs))
    if names:
        await connection.command("EVAL", _NOTE, 1, REQUESTS, kept_ms, *names)


async def last_requests(connection: Connection, since: Instant) -> dict[str, Instant]:
    """By digest: the last request to each graph, of those since then."""
    pairs: Any = await connection.command("ZRANGE", REQUESTS, since // 1000, "+inf", "BYSCORE", "WITHSCORES")
    if pairs and not isinstance(pairs[0], (tuple, list)):  # the client returns pairs, or one flat list
        pairs = zip(pairs[::2], pairs[1::2], strict=True)
    return {str(name): int(float(at)) * 1000 for name, at in pairs}


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
