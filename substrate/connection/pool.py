"""The connection to FalkorDB: it sends queries, returns raw rows, and translates the driver's errors to ours.

Replies are requested in the engine's plain form, not the compact one: integers come as integers, absent values as
None, everything else as text, and `substrate.store.rows` knows the type of each column. Parsing that is about ten
times faster than typed values, and needs no schema lookups.

A line carries one command at a time, or some sent at once; it is taken from a list while it is free. The library's
own client takes locks, a condition and several timers for each command: most of what a short query costs this
process. A line has one timer. Connecting, packing and parsing are the library's.

A statement has fewer rows after one that ran past its deadline, then more again: additive increase, multiplicative
decrease, as TCP finds how much a path carries (Chiu and Jain, 1989). A statement that is late costs its whole time
and changes nothing, so a size that only just meets the deadline is not exceeded: a statement that was slow is not
followed by a larger one, as delay-based congestion control does it.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import redis.asyncio as redis
from redis import exceptions as redis_errors
from redis.asyncio.lock import Lock

from schemas.errors import Fault, SubstrateError, Unavailable
from schemas.temporal import Instant
from substrate.connection.addresses import WRITES_AT_ONCE, Wiring, open_servers
from substrate.connection.errors import (
    NO_ANSWER,
    NOT_DONE,
    ConnectionLost,
    GraphMissing,
    Moving,
    WritesPaused,
    patiently,
    translate_error,
)
from substrate.connection.graph_columns import ColumnsCache
from substrate.connection.graph_vectors import GraphVectors
from substrate.connection.kept import KeptAnswers, KeptReads
from substrate.connection.lines import Command
from substrate.connection.parameters import typed_row
from substrate.connection.topology import Server, key_of, mark_of
from substrate.connection.turns import ActiveTenants, Pauses, Turns
from substrate.cypher.query import Query

if TYPE_CHECKING:
    from schemas.settings import AckMode, ReadMode

type Row = Sequence[Any]

READS_AT_ONCE: Final = 8
"""Fewer than the threads of the engine, more than the queries of one question. So a query starts as soon as it is
sent, and its deadline does not run while it waits for its turn."""
CORES: Final = min(READS_AT_ONCE - 1, os.cpu_count() or 1)
"""This many queries and one more run at full speed; with more at once all of them slow down."""
WRITES_SHARED: Final = 2
QUESTIONS_AT_ONCE, QUESTIONS_SHARED = 16, 2
"""Questions that are being answered: the work of this process, on one core."""
QUICK_S, QUICK_WRITE_S = 0.05, 0.005
"""Only a question, or a write, that takes longer is followed by a rest; one memory takes 3 ms to write."""
PAUSE_LIMIT_S: Final = 3.0
PAUSE_POLL_S: Final = 0.005
LOCK_EXPIRES_S: Final = 8.0
LOCK_EXTENDED_EVERY_S: Final = 1.0
LOCK_POLL_S: Final = 0.005

_RUN: Final = re.compile(r"\brun_id:(\w+)")
"""What the engine calls this start of it."""
_ADDING: Final = frozenset(
    ("GRAPH.QUERY", "GRAPH.CONSTRAINT", "HSET", "HSETNX", "INCR", "SET", "RENAMENX", "BGSAVE", "VADD", "RESTORE")
)
"""Commands that add to what the engine stores."""
_CHANGING: Final = _ADDING | {"HDEL", "DEL", "EXPIRE", "INCRBY", "GRAPH.DELETE"}
_ON_GRAPHS: Final = ("GRAPH.RO_QUERY", "GRAPH.QUERY", "GRAPH.SLOWLOG", "GRAPH.DELETE")
_CHANGED: Final = re.compile("(Nodes|Relationships|Properties|Labels|Indices) ")
"""A line of the statistics of a query that says what it changed."""
_REPLACED: Final = re.compile("WRONGTYPE|(non-graph|different graph) value")
"""What the engine says where the key of a graph or vector set holds another kind of value, or another graph than
when the command began, which then did nothing."""
_UNUSABLE: Final = re.compile("WRONGTYPE|mismatch")
"""What the engine says of a key of another kind than a vector set, or a set of another dimension or making."""


class Connection:
    """A pool of connections to one FalkorDB.

    `revive` is awaited when the connection is lost; it restarts an embedded engine. `vectors`: where those of each
    graph are (`Query.for_generation`, `substrate.likeness`). `around` makes a context manager from the name of a
    query or command, which is open until the answer comes. `room` is called before a write, and raises when the
    disk has no space for it. `missing` is called with the name of a graph that a query named and that does not
    exist. When the connection is lost it is called with None: whatever the caller knows about graphs may then be
    out of date. `parked` wakes the graph of a command that failed because it is parked, and the command is sent
    again. `wrote` is called with the graph's name after a write. `columns`: what this process holds of the present
    of graphs; `kept`: what it keeps of their reads; `answers`: what it keeps of questions.
    `failures` counts what the engine did not answer, or not in time.

    Each query waits for its turn (`substrate.connection.turns`). `reads` and `writes` have separate turns and
    separate connections, so that no write waits for a read; but writes to a graph wait while it is paused. A flow
    holds one of `questions` while it answers.
    `batch_sizes`: how many rows a statement takes now.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_ms: int,
        credentials: tuple[str | None, str | None] = (None, None),
        acknowledge: AckMode = "auto",
        read_from: ReadMode = "primary",
    ) -> None:
        self.timeout_ms = timeout_ms
        self.revive: Callable[[], Awaitable[Any]] | None = None
        self.vectors = GraphVectors()
        self.around: Callable[[str], AbstractContextManager[object]] = nullcontext
        self.room: Callable[[], None] = lambda: None
        self.missing: Callable[[str | None], None] = lambda graph: None
        self.wrote: Callable[[str], None] = lambda graph: None
        self.parked = NothingParked()
        self.batch_sizes = BatchSizes()
        self.kept = KeptReads()
        self.columns = ColumnsCache()
        self.answers = KeptAnswers()
        self.failures = 0
        active = ActiveTenants()
        self.reads = Turns(READS_AT_ONCE, CORES + 1, active)
        self.writes = Turns(WRITES_AT_ONCE, WRITES_SHARED, active, rest_beyond_s=QUICK_WRITE_S)
        self.pauses = Pauses()
        self.questions = Turns(QUESTIONS_AT_ONCE, QUESTIONS_SHARED, active, rest_beyond_s=QUICK_S)
        self._engines: dict[str, str | None] = {}
        answer_s = max(5.0, 4 * timeout_ms / 1000)
        wiring = Wiring(credentials, answer_s, self._on_connect, self._moved)
        self.servers = open_servers(url, wiring, acknowledge, read_from)
        self._lines, self._writing_lines = self.servers.lines, self.servers.writing_lines
        self.moving_s = self.servers.moving_s

    async def read(self, graph: str, query: Query, header: str, timeout_ms: int | None = None) -> list[Row]:
        """Run a read-only query in its turn and return its rows. `header` is what `parameters` returns. Raises
        GraphMissing, StoreTimeout, Unavailable or Fault."""
        words = self.reading(graph, query, header, timeout_ms)
        reply = await patiently(
            lambda: self.reads.run(lambda: self._run(query.name, words)), NO_ANSWER, self.moving_s
        )
        return reply[1] if len(reply) > 1 else []

    def reading(self, graph: str, query: Query, header: str = "", timeout_ms: int | None = None) -> Command:
        """The command of a read-only query; the second part of its reply are the rows."""
        deadline = self.timeout_ms if timeout_ms is None else timeout_ms
        text = header + query.for_generation(self.vectors.of(graph).generation)
        return "GRAPH.RO_QUERY", graph, text, "timeout", deadline

    async def read_together(self, name: str, commands: Sequence[Command]) -> list[Any]:
        """Send commands that read, in one turn and one round trip; returns their replies. `name` is what they are
        called. An error stands in the place of the reply of a command that failed."""
        work = partial(self._run, name, commands, self._lines.send_together)
        replies: list[Any] = await patiently(lambda: self.reads.run(work), NO_ANSWER, self.moving_s)
        for place, (words, reply) in enumerate(zip(commands, replies, strict=True)):
            if isinstance(reply, Exception):
                if not await self._woke(reply, words):
                    replies[place] = await self._translate(reply, str(words[0]), str(words[1]))
                    continue
                try:
                    replies[place] = await self._run(name, words)
                except SubstrateError as error:
                    replies[place] = error
        return replies

    async def read_typed(self, graph: str, query: Query, header: str) -> list[Row]:
        """Like `read`, but each value has its stored type."""
        text = header + query.for_generation(self.vectors.of(graph).generation)
        words = ("GRAPH.RO_QUERY", graph, text, "timeout", self.timeout_ms, "--compact")
        reply = await patiently(
            lambda: self.reads.run(lambda: self._run(query.name, words)), NO_ANSWER, self.moving_s
        )
        return list(map(typed_row, reply[1] if len(reply) > 1 else []))

    @asynccontextmanager
    async def watched(self, keys: Sequence[str]) -> AsyncIterator[Callable[..., Awaitable[bool]]]:
        """Watch graphs and other keys; yields a function to call once. It takes Redis commands. If no key was
        written to since the watch began, it runs them in one transaction and returns True; else it runs nothing
        and returns False."""
        client = await self._on_servers("WATCH", lambda: self.servers.client(str(keys[0])))
        watch = client.pipeline()

        async def send(*commands: Command) -> bool:
            watch.multi()
            for words in commands:
                watch.execute_command(*words)
            try:
                await watch.execute()
            except redis_errors.WatchError:
                return False
            return True

        async def unchanged(*commands: Command) -> bool:
            done = bool(await self._run("EXEC", commands or (("PING",),), send))
            if done and commands:
                await self.confirm(str(keys[0]))
            return done

        try:
            await self._run("WATCH", keys, watch.watch)
            yield unchanged
        finally:
            await watch.reset()

    async def write(self, graph: str, query: Query, header: str, *, first: Sequence[Command] = ()) -> list[Row]:
        """Run a query that changes the graph, in its turn; returns its rows once the change is on disk. `first`:
        commands on vector sets that are carried out before it, sent together with it. The engine's own deadline
        begins when the query is sent. Raises as `read` does, and Conflict."""
        await self.pauses.wait(graph)
        text = header + query.for_generation(self.vectors.of(graph).generation)
        words: Command = ("GRAPH.QUERY", graph, text)
        refused: list[tuple[Command, Exception]] = []

        async def send(*commands: Command) -> Any:
            *before, reply = await self._writing_lines.send_together(*commands)
            refused[:] = [pair for pair in zip(first, before, strict=True) if isinstance(pair[1], Exception)]
            if isinstance(reply, Exception):
                raise reply
            return reply

        if first:
            work = partial(self._write_when_allowed, query.name, (*first, words), send)
        else:
            work = partial(self._write_when_allowed, query.name, words)
        reply = await patiently(lambda: self.writes.run(work), NOT_DONE, self.moving_s)
        if self.servers.replicas_asked and not any(_CHANGED.match(line) for line in reply[-1]):
            await self.confirm(graph)
        self.wrote(graph)
        if refused:
            vectors = [vector for vector, _ in refused]
            try:
                await self.change_vectors(*vectors)  # the graph was parked at that moment
            except Fault:
                # They are kept in place of a set that cannot hold them; the next opening fills the rest.
                self.vectors.use(graph, partial=True)
                self.missing(graph)
                for key in {str(vector[1]) for vector, error in refused if _UNUSABLE.search(str(error))}:
                    await self.command("DEL", key)
                await self.change_vectors(*vectors)
        return reply[1] if len(reply) > 1 else []

    async def search_vectors(self, *words: str | int | bytes) -> Any:
        """Run a command that reads vector sets, in its turn, and return its reply. Raises as `read` does."""
        return await patiently(
            lambda: self.reads.run(lambda: self._run(str(words[0]), words)), NO_ANSWER, self.moving_s
        )

    async def change_vectors(self, *commands: Command) -> list[Any]:
        """Run commands that change vector sets, in one turn; returns their replies once all are on disk. They are
        sent together, but are not one transaction. Raises the first error, as `write` does."""

        async def send(*commands: Command) -> list[Any]:
            replies = await self._writing_lines.send_together(*commands)
            for reply in replies:
                if isinstance(reply, Exception):
                    raise reply
            return replies

        if not commands:
            return []
        name = str(commands[0][0])
        in_turn = partial(self.writes.run, partial(self._write_when_allowed, name, commands, send))
        replies: list[Any] = await patiently(in_turn, NOT_DONE, self.moving_s)
        return replies

    async def _write_when_allowed(
        self, name: str, words: Sequence[Any], send: Callable[..., Awaitable[Any]] | None = None
    ) -> Any:
        """Send a write, and repeat it for up to 3 s while a backup pauses writes."""
        give_up = time.monotonic() + PAUSE_LIMIT_S
        while True:
            try:
                return await self._run(name, words, send or self._writing_lines.send)
            except WritesPaused:
                if time.monotonic() > give_up:
                    raise
                await asyncio.sleep(PAUSE_POLL_S)

    async def confirm(self, key: str) -> None:
        """Return when the replicas have all that was written in the slot of a key; at once where none are asked.
        What is found written may be of a write that was not confirmed. Raises NotConfirmed, or as `write`."""
        if self.servers.replicas_asked:
            await self._in_time("SET", mark_of(key), self._writing_lines.send)
        elif self.servers.reads_replicas:
            self.servers.note_written(key)

    async def command(self, *words: str | int | bytes) -> Any:
        """Send any other Redis command and return its reply. Raises as `read` does."""
        lines = self._writing_lines if words[0] in _CHANGING and self.servers.replicas_asked else self._lines
        return await self._in_time(str(words[0]), words, lines.send)

    async def dump(self, key: str) -> bytes | None:
        """What a key holds, as `RESTORE` takes it; None where there is no such key. Raises as `read` does."""

        async def send() -> bytes | None:
            dumped: bytes | None = await (await self.servers.client(key)).dump(key)
            return dumped

        return await self._on_servers("DUMP", send)  # type: ignore[no-any-return]

    async def everywhere(self, *words: str | int | bytes, replicas: bool = False) -> list[Any]:
        """The replies of all primaries to a command that names no key, with their replicas if asked for. Raises as
        `read` does."""
        servers = await self.all_servers(replicas=replicas)
        return [await self.command_at(server, *words) for server in servers]

    async def all_servers(self, *, replicas: bool = False) -> list[Server]:
        """All primaries, with their replicas if asked for. Raises Moving while that is not known."""
        return list(await self._on_servers("CLUSTER", lambda: self.servers.all(replicas=replicas)))

    async def command_at(self, server: Server, *words: str | int | bytes) -> Any:
        """The reply of this server to a command. Raises as `read` does."""
        return await self._run(str(words[0]), words, server.lines.send)

    async def graph_names(self) -> list[str]:
        """The names of all graphs, of all servers. Raises as `read` does."""
        return [name for names in await self.everywhere("GRAPH.LIST") for name in names]

    async def _in_time(self, name: str, words: Sequence[Any], send: Callable[..., Awaitable[Any]]) -> Any:
        """Run a command, again while nobody holds its key."""
        return await patiently(lambda: self._run(name, words, send), (Moving,), self.moving_s)

    async def transaction(self, *commands: Command) -> None:
        """Run Redis commands, none of them on a graph, in one transaction. Raises as `read` does."""

        async def send(*commands: Command) -> None:
            client = await self.servers.client(key_of(commands[0]))
            async with client.pipeline(transaction=True) as pipeline:
                for words in commands:
                    pipeline.execute_command(*words)
                await pipeline.execute()

        await self._in_time("EXEC", commands, send)
        await self.confirm(key_of(commands[0]))

    @asynccontextmanager
    async def lock(self, name: str, *, wait_s: float, refusal: str) -> AsyncIterator[None]:
        """Hold the lock of this name, which all processes that use the engine share. It is extended while it is
        held, and expires eight seconds after its holder died. Raises Unavailable with the text `refusal` when it
        is not free within `wait_s` seconds."""
        self.room()
        client = await self._on_servers("SET", lambda: self.servers.client(name))
        lock = Lock(client, name, timeout=LOCK_EXPIRES_S, sleep=LOCK_POLL_S, thread_local=False)
        if not await self._on_servers("SET", lambda: lock.acquire(blocking_timeout=wait_s)):
            raise Unavailable(refusal, remedy="Try again in a moment.")
        extending = asyncio.create_task(_keep_extending(lock))
        try:
            yield
        finally:
            extending.cancel()
            await asyncio.wait([extending])
            with suppress(redis_errors.LockNotOwnedError):  # it expired: there is nothing to release
                await self._on_servers("EVALSHA", lock.release)

    async def _on_servers(self, name: str, send: Callable[[], Awaitable[Any]]) -> Any:
        try:
            return await send()
        except redis_errors.LockError:
            raise
        except (redis_errors.RedisError, OSError) as error:
            raise await self._translate(error, name) from error

    async def _run(
        self, name: str, words: Sequence[Any], send: Callable[..., Awaitable[Any]] | None = None
    ) -> Any:
        if words[0] in _ADDING or any(isinstance(command, tuple) and command[0] in _ADDING for command in words):
            self.room()
        while True:
            try:
                with self.around(name):
                    return await (send or self._lines.send)(*words)
            except (redis_errors.RedisError, OSError) as error:
                last: Command = words if isinstance(words[0], str) else words[-1]
                if not await self._woke(error, last):
                    graph = str(last[1]) if last[0] in _ON_GRAPHS else None
                    raise await self._translate(error, name, graph) from error

    async def _woke(self, error: Exception, words: Command) -> bool:
        """True when the graph of a command, which did nothing, was parked, and is there now."""
        on_graph = str(words[0]).startswith(("GRAPH.", "V", "EVAL"))
        return on_graph and bool(_REPLACED.search(str(error))) and await self.parked.wake(key_of(words))

    async def _translate(self, error: Exception, name: str, graph: str | None = None) -> Exception:
        """Return our error for the driver's, after calling `missing` and `revive` where the error requires it. Who
        holds what is in doubt then: what the library's client sent (transactions, locks) tells it nobody else."""
        self.failures += 1
        ours = translate_error(error, name)
        if isinstance(ours, (Moving, ConnectionLost)):
            self.servers.doubt()
        if isinstance(ours, GraphMissing):
            self.missing(graph)
        elif isinstance(ours, ConnectionLost):
            self.forget_kept()
            self.missing(None)
            if self.revive is not None:
                await self.revive()
        return ours

    async def _on_connect(self, connection: Any) -> None:
        """Keep nothing of another start of the engine: it may have been given other data meanwhile."""
        await connection.on_connect()
        try:
            await connection.send_command("INFO", "server")
            told = _RUN.search(str(await connection.read_response()))
        except redis_errors.ResponseError:  # the user may not ask
            told = None
        engine = None if told is None else told[1]
        place = f"{getattr(connection, 'host', '')}:{getattr(connection, 'port', '')}"
        if engine != self._engines.get(place):
            self.forget_kept()
        self._engines[place] = engine

    def _moved(self) -> None:
        """Another server holds what one held before: it may have lost the last writes of the one before."""
        self.forget_kept()
        self.missing(None)

    def keep_at_most(self, megabytes: int) -> None:
        """Keep so much: seven tenths columns with their records, two tenths answers, a tenth other reads."""
        tenth = (megabytes << 20) // 10
        self.columns.most_bytes, self.answers.most_bytes, self.kept.most_bytes = 7 * tenth, 2 * tenth, tenth

    def forget_kept(self, graph: str | None = None) -> None:
        """Keep nothing of a graph, or of all: something was erased, or the engine may hold other data."""
        self.kept.forget(graph)
        self.columns.forget(graph)
        self.answers.forget(graph)

    async def now(self) -> Instant:
        """Return the time of the engine's host: one clock for all processes that share a store."""
        asked = partial(self._run, "TIME", ("TIME",))
        seconds, microseconds = await patiently(asked, (Moving, ConnectionLost), self.moving_s)
        return int(seconds) * 1_000_000 + int(microseconds)

    async def memory_bytes(self) -> int:
        """Bytes of memory that the engine uses. Raises Fault when it does not report them, else as `read` does."""
        fields: Any = await self.command("INFO", "memory")
        used = fields.get("used_memory") if isinstance(fields, dict) else None
        if used is None:
            raise Fault("the engine does not report how much memory it uses")
        return int(used)

    async def ping(self) -> float:
        """Round trip in milliseconds. Raises as `read` does."""
        begun = time.perf_counter()
        await self._run("PING", ("PING",))
        return (time.perf_counter() - begun) * 1000

    async def close(self) -> None:
        await asyncio.shield(self.servers.close())


class NothingParked:
    """The parked graphs of a connection, of which there are none (`substrate.graphs.parking`)."""

    async def wake(self, key: str) -> bool:
        """Bring back the graph of a key that holds another kind of value than it should; True when it is there."""
        del key
        return False

    async def names(self) -> list[str]:
        """The sorted names of the parked graphs."""
        return []

    async def drop_copies(self, graph: str | None) -> None:
        """Remove what files still hold of a graph that is not parked; None: of all."""
        del graph


async def _keep_extending(lock: Lock) -> None:
    # When extending fails, the lock expires as if its holder had died; its release then ignores the error.
    with suppress(redis_errors.RedisError, OSError):
        while True:
            await asyncio.sleep(LOCK_EXTENDED_EVERY_S)
            await lock.reacquire()


async def server_versions(socket: Path) -> dict[str, str]:
    """Versions of the server that listens at a unix socket (`redis`) and of each module, as `4.22.1`. Raises
    Unavailable when nothing answers within five seconds."""
    try:
        async with redis.Redis(unix_socket_path=str(socket), decode_responses=True, socket_timeout=5) as client:
            server = await client.info("server")
            modules = (await client.info("modules")).get("modules", [])
    except (redis_errors.RedisError, OSError) as error:
        raise translate_error(error, "INFO") from error
    numbers = {str(module["name"]): int(module["ver"]) for module in modules}
    return {
        "redis": str(server["redis_version"]),
        **{name: f"{number // 10000}.{number // 100 % 100}.{number % 100}" for name, number in numbers.items()},
    }


DECREASE: Final = 2
"""After a late statement the next one has this many times fewer rows."""
STEPS: Final = 25
"""This many full statements in time lead from a single row back to the most rows."""
SLOW_S: Final = 0.3
"""A statement that took longer is not followed by a larger one. The deadline of the engine is one second."""


class BatchSize:
    """The size of the statements of one kind; `size` is from 1 to `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = most

    def note_written(self, rows: int, seconds: float) -> None:
        """A statement of this many rows was in time. It says something of a larger one only if it was full."""
        if rows >= self.size and seconds <= SLOW_S:
            self.size = min(self.most, self.size + max(1, self.most // STEPS))

    def note_late(self, rows: int) -> None:
        """A statement of this many rows ran past its deadline."""
        self.size = max(1, min(self.size, rows // DECREASE))


class BatchSizes:
    """The sizes of all kinds of statements that one connection sends: what makes one late is the machine."""

    def __init__(self) -> None:
        self._sizes: dict[Hashable, BatchSize] = {}

    def of(self, kind: Hashable, most: int) -> BatchSize:
        """The size of the statements of this kind, which begins at `most`. A kind is a constant of the code."""
        return self._sizes.setdefault((kind, most), BatchSize(most))
