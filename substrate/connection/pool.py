"""The one seam to FalkorDB: parameters in, raw rows out, foreign errors translated.

Replies are asked for in the engine's plain form, not the compact one: integers come as integers, absent values
as None, all else as text, and `substrate.store.rows` knows each column's type. That parses about ten times faster
than typed values and needs no schema lookups.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from typing import Any, Final

import redis.asyncio as redis
from redis import exceptions as redis_errors

from schemas.temporal import Instant
from substrate.connection.errors import ConnectionLost, GraphMissing, WritesPaused, translated
from substrate.connection.parameters import typed_row
from substrate.connection.turns import Company, Turns
from substrate.cypher.query import Query

type Row = Sequence[Any]
type Words = Sequence[str | int]

MAX_CONNECTIONS = 32
READS_AT_ONCE: Final = 8
"""Fewer than the engine has threads (`engine_process`), more than a question has queries: what is sent begins at
once, and no deadline runs while it waits for its turn."""
CORES: Final = min(READS_AT_ONCE - 1, os.cpu_count() or 1)
"""So many queries, and one that comes, are answered at full speed; with more at once all of them slow down."""
WRITES_AT_ONCE, WRITES_SHARED = 6, 2
"""The engine writes one after the other; those beside it are read and planned meanwhile."""
QUESTIONS_AT_ONCE, QUESTIONS_SHARED = 16, 2
"""Questions whose answers are found and put together: that is this process's own work, on one core."""
QUICK_S, QUICK_WRITE_S = 0.05, 0.005
"""So long a question, or a write, is followed by no rest: one memory takes 3 ms to write."""
PAUSED_AT_MOST_S: Final = 3.0
PAUSE_STEP_S: Final = 0.005

_ADDING: Final = frozenset(
    ("GRAPH.QUERY", "GRAPH.CONSTRAINT", "HSET", "HSETNX", "INCR", "SET", "RENAMENX", "BGSAVE")
)


def _writes(words: Sequence[Any]) -> bool:
    """Whether a command of the server, or one of several, adds to what the engine keeps."""
    return words[0] in _ADDING or any(isinstance(command, tuple) and command[0] in _ADDING for command in words)


class Connection:
    """A pool of connections to one FalkorDB.

    `revive` is awaited when the connection is lost; it starts an embedded engine again. `generations` says of a
    graph which generation of vectors is in use (`Query.of`); one that is not named has the first.
    `around` is open as long as a query, or another command, of this name waits for its answer.
    `room` is asked before a write, and raises where there is none on the disk.
    `missing` is told the name of a graph that was asked and does not exist, and None when the connection was
    lost: nothing that is known of any graph counts then.

    Each query waits for its turn (`substrate.connection.turns`): `reads` and `writes` are lanes of their own, with
    connections of their own, so that no write waits for a read. `questions` is held by a flow while it puts an
    answer together.
    """

    def __init__(
        self, url: str, *, timeout_ms: int, credentials: tuple[str | None, str | None] = (None, None)
    ) -> None:
        username, password = credentials
        self.timeout_ms = timeout_ms
        self.revive: Callable[[], Awaitable[Any]] | None = None
        self.generations: dict[str, int] = {}
        self.around: Callable[[str], AbstractContextManager[object]] = nullcontext
        self.room: Callable[[], None] = lambda: None
        self.missing: Callable[[str | None], None] = lambda graph: None
        company = Company()
        self.reads = Turns(READS_AT_ONCE, CORES + 1, company)
        self.writes = Turns(WRITES_AT_ONCE, WRITES_SHARED, company, rest_beyond_s=QUICK_WRITE_S)
        self.questions = Turns(QUESTIONS_AT_ONCE, QUESTIONS_SHARED, company, rest_beyond_s=QUICK_S)
        shared: dict[str, Any] = {
            "username": username,
            "password": password,
            "timeout": 5,
            "socket_timeout": max(5.0, 4 * timeout_ms / 1000),
            "socket_connect_timeout": 5,
            "decode_responses": True,
            "retry": None,
            "protocol": 2,
        }
        self._client, self._writing = (
            redis.Redis(
                connection_pool=redis.BlockingConnectionPool.from_url(url, max_connections=most, **shared),
                retry=None,
            )
            for most in (MAX_CONNECTIONS, WRITES_AT_ONCE)
        )

    async def read(self, graph: str, query: Query, header: str, timeout_ms: int | None = None) -> list[Row]:
        """Rows of a read-only query, in its turn. `header` comes from `parameters`.

        Raises GraphMissing, StoreTimeout, Unavailable or Fault.
        """
        deadline = self.timeout_ms if timeout_ms is None else timeout_ms
        text = header + query.of(self.generations.get(graph, 0))
        words = ("GRAPH.RO_QUERY", graph, text, "timeout", deadline)
        reply = await self.reads.run(lambda: self._run(query.name, words))
        return reply[1] if len(reply) > 1 else []

    async def read_typed(self, graph: str, query: Query, header: str) -> list[Row]:
        """Rows of a read-only query, each value with its stored type. Raises what `read` raises."""
        text = header + query.of(self.generations.get(graph, 0))
        words = ("GRAPH.RO_QUERY", graph, text, "timeout", self.timeout_ms, "--compact")
        reply = await self.reads.run(lambda: self._run(query.name, words))
        return [typed_row(row) for row in (reply[1] if len(reply) > 1 else [])]

    @asynccontextmanager
    async def watched(self, keys: Sequence[str]) -> AsyncIterator[Callable[..., Awaitable[bool]]]:
        """Watch graphs and other keys; what is given tells, once, whether none of them was written to since.

        If none was, it carries out the commands of the server that it is given, all at once.
        """
        watch = self._client.pipeline()

        async def send(*commands: Words) -> bool:
            watch.multi()
            for words in commands:
                watch.execute_command(*words)
            try:
                await watch.execute()
            except redis_errors.WatchError:
                return False
            return True

        async def unchanged(*commands: Words) -> bool:
            return bool(await self._run("EXEC", commands or (("PING",),), send))

        try:
            await self._run("WATCH", keys, watch.watch)
            yield unchanged
        finally:
            await watch.reset()

    async def write(self, graph: str, query: Query, header: str) -> list[Row]:
        """Rows of a query that changes the graph, in its turn, once it is on disk. Raises Conflict too.

        The engine's deadline runs from when it is sent.
        """
        text = header + query.of(self.generations.get(graph, 0))
        reply = await self.writes.run(lambda: self._written(query.name, ("GRAPH.QUERY", graph, text)))
        return reply[1] if len(reply) > 1 else []

    async def _written(self, name: str, words: Sequence[str | int]) -> Any:
        give_up = time.monotonic() + PAUSED_AT_MOST_S
        while True:
            try:
                return await self._run(name, words, self._writing.execute_command)
            except WritesPaused:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(PAUSE_STEP_S)

    async def command(self, *words: str | int) -> Any:
        """The reply to any other command of the server."""
        return await self._run(str(words[0]), words)

    async def together(self, *commands: Words) -> None:
        """Carry out commands of the server, none of them on a graph, all of them or none."""

        async def send(*commands: Words) -> None:
            async with self._client.pipeline(transaction=True) as line:
                for words in commands:
                    line.execute_command(*words)
                await line.execute()

        await self._run("EXEC", commands, send)

    async def _run(
        self, name: str, words: Sequence[Any], send: Callable[..., Awaitable[Any]] | None = None
    ) -> Any:
        if _writes(words):
            self.room()
        try:
            with self.around(name):
                return await (send or self._client.execute_command)(*words)
        except (redis_errors.RedisError, OSError) as error:
            ours = translated(error, name)
            if isinstance(ours, GraphMissing):
                self.missing(None if send else str(words[1]))
            elif isinstance(ours, ConnectionLost):
                self.missing(None)
                if self.revive is not None:
                    await self.revive()
            raise ours from error

    async def now(self) -> Instant:
        """The moment by the clock of the engine's host: one for all who share a store, whatever theirs say."""
        seconds, microseconds = await self._run("TIME", ("TIME",))
        return int(seconds) * 1_000_000 + int(microseconds)

    async def ping(self) -> float:
        """Milliseconds of a round trip."""
        begun = time.perf_counter()
        await self._run("PING", ("PING",))
        return (time.perf_counter() - begun) * 1000

    async def close(self) -> None:
        """Close all connections."""
        for client in (self._client, self._writing):
            await asyncio.shield(client.aclose())
            await client.connection_pool.disconnect()
