"""Which server answers a command: one server, the primary that Sentinels name, or the shard of a Redis Cluster.

The library's own clients for a cluster and for Sentinel are not used for commands. They ask the servers for the
layout one after another and believe the first that answers, which may be one that was cut off; they wait for a
server that was stopped as long as for a slow one; they cannot send a write and its `WAIT` on one connection; and
they take a lock for each command. The slots of keys and the errors are the library's.

A server that holds a key no more says so, and nothing was done (MOVED, ASK): the command is sent to the one it
names. Who holds what is asked of all servers at once, and the newest view counts (`find_cluster`,
`find_primary`): what a failover decided has the highest epoch, or the most Sentinels.

A question may ask replicas (`ReplicaReads`). What it reads of a graph comes from one of them, which only goes on:
so the state in which it found a graph is never newer than what it read afterwards, and what is kept of it is
right. When that one fails, the primary answers, which is ahead of it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol

import redis.asyncio as redis
from redis import exceptions as redis_errors
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

from substrate.connection.lines import Command, Lines, NotConnected

HOME: Final = "substrate:upkeep:lease"
"""Commands that name no key go to the server of this one: all services ask the same server for the time."""
ASKED_S: Final = 1.0
"""How long a server may take to say who holds what."""
LEARNED_EVERY_S: Final = 0.1
"""While a layout is not as it should be, it is asked for so often at most."""
LEARNED_AGAIN_S: Final = 10.0
"""A layout that nobody doubts is asked for again after so long: replicas come and go unheard."""
MOST_HOPS: Final = 5
CONFIRM_MS: Final = 1000
"""How long a write waits for its replicas: thirty times what it takes as a rule."""
MARK_MS: Final = 1000
COMPARED_EVERY_S: Final = 1.0
"""After so long it is asked again how far a replica is; sooner where this process wrote to the graph."""
MOST_BEHIND_S: Final = 5.0
"""A replica that may be further behind is not asked."""
_OF_REPLICAS: Final = frozenset(
    ("GRAPH.RO_QUERY", "VSIM", "VRANGE", "VISMEMBER", "VGETATTR", "VDIM", "VCARD", "EXISTS")
)
"""What a replica is asked as well."""
_KEYLESS: Final = frozenset(
    (
        "TIME", "PING", "INFO", "CONFIG", "CLIENT", "BGSAVE", "BGREWRITEAOF", "COMMAND", "ACL", "SLOWLOG",
        "ROLE", "CLUSTER", "GRAPH.LIST", "GRAPH.CONFIG", "GRAPH.INFO",
    )
)  # fmt: skip
_KEY_AT: Final = {"EVAL": 3, "EVALSHA": 3, "OBJECT": 2, "GRAPH.CONSTRAINT": 2, "GRAPH.MEMORY": 2, "MEMORY": 2}
"""Where the key of a command stands, if not right behind its name."""


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Unplaced(ConnectionError):
    """No server holds the key now; nothing was done."""


class Unconfirmed(ConnectionError):
    """The write was carried out, and too few replicas say that they have it."""


class Sender(Protocol):
    """What sends commands, as `Lines` does."""

    async def send(self, *words: str | int | bytes) -> Any:
        """The reply to a command."""

    async def send_together(self, *commands: Command) -> list[Any]:
        """The replies to commands that are sent at once."""

    async def close(self) -> None:
        """Close all connections."""


class Server:
    """The connections of this process to one server: `lines` for what reads, `writing_lines` for what writes.

    `address`: as people are told of it. `sizes`: how many connections of each kind there are at most.
    `unconfirmed`: its replicas did not confirm the last write in time.
    """

    def __init__(
        self, address: str, make: Callable[[int], redis.Redis], sizes: tuple[int, int], answer_s: float
    ) -> None:
        self.address = address
        most, most_writing = sizes
        self.client, self.writing = make(most), make(most_writing)
        self.lines = Lines(self.client, most, answer_s)
        self.writing_lines = Lines(self.writing, most_writing, answer_s)
        self.unconfirmed = False

    async def count_replicas(self) -> int:
        """How many replicas are connected with the server. Raises as `Lines.send`."""
        role = await self.lines.send("ROLE")
        return len(role[2]) if role[0] == "master" else 0

    async def close(self) -> None:
        """Close all connections; a later command opens one again."""
        for lines in (self.lines, self.writing_lines):
            await asyncio.shield(lines.close())
        for client in (self.client, self.writing):
            await asyncio.shield(client.aclose())
            await client.connection_pool.disconnect()


class Layout(NamedTuple):
    """Who holds what: the primary of each slot, or one for all; None where nobody does. And who follows whom."""

    primaries: Sequence[Address | None]
    replicas: Mapping[Address, Sequence[Address]]

    def primary(self, key: str) -> Address | None:
        """The address of the server that holds a key."""
        return self.primaries[key_slot(key.encode()) if len(self.primaries) > 1 else 0]

    def addresses(self) -> list[Address]:
        """The primaries, each once, in the order of their slots."""
        return list(dict.fromkeys(address for address in self.primaries if address is not None))


class ReplicaReads:
    """What one question reads from replicas. `chosen`: by the slot of a graph the replica that is asked, or None
    for the primary. `behind_s`: how old what they said may be."""

    def __init__(self) -> None:
        self.chosen: dict[int, asyncio.Future[Address | None]] = {}
        self.behind_s = 0.0

    def stay(self, slot: int) -> None:
        """Ask the primary about the graphs of a slot from now on."""
        self.chosen[slot] = asyncio.get_running_loop().create_future()
        self.chosen[slot].set_result(None)


_READING: Final[ContextVar[ReplicaReads | None]] = ContextVar("reading", default=None)


def behind_ms() -> float | None:
    """How old at most what the question has read may be; None where only primaries are asked."""
    reading = _READING.get()
    return None if reading is None else round(1000 * reading.behind_s, 3)


@contextmanager
def replicas_may_answer(may: bool) -> Iterator[None]:
    """Within the context one question reads from replicas, if it may."""
    token = _READING.set(ReplicaReads() if may else None)
    try:
        yield
    finally:
        _READING.reset(token)


def stay_with_primary(key: str) -> None:
    """Read a graph from its primary in this question: something may be written that follows from it."""
    if (reading := _READING.get()) is not None:
        reading.stay(key_slot(key.encode()))


class Acknowledgement(NamedTuple):
    """How a write is confirmed: by so many replicas, which have it in memory, or on disk with `on_disk`.

    All replicas that are up are asked, and at least so many: any of them may be the one that a failover chooses,
    and while Sentinels carry one out the former primary still has the others.
    """

    replicas: int = 0
    on_disk: bool = False

    def command(self) -> Command:
        if self.on_disk:
            return "WAITAOF", 1, self.replicas, CONFIRM_MS
        return "WAIT", self.replicas, CONFIRM_MS

    def met_by(self, reply: Any) -> bool:
        if isinstance(reply, Exception):
            return False
        return int(reply[1] if self.on_disk else reply) >= self.replicas


class OneServer:
    """A store on one server."""

    moving_s = 0.0
    replicas_asked = 0
    reads_replicas = False

    def __init__(self, server: Server) -> None:
        self._server = server
        self.lines: Sender = server.lines
        self.writing_lines: Sender = server.writing_lines

    def doubt(self) -> None:
        """There is no other server to ask."""

    def note_written(self, key: str) -> None:
        """This process wrote to a key."""

    async def client(self, key: str) -> redis.Redis:
        """The library's client of the server that holds a key."""
        del key
        return self._server.client

    async def all(self, *, replicas: bool = False) -> list[Server]:
        """All primaries, with their replicas if asked for."""
        del replicas
        return [self._server]

    async def holds(self, server: Server, key: str) -> bool:
        """Whether the server is the one that holds a key."""
        del server, key
        return True

    async def count_slots(self) -> dict[str, int] | None:
        """How many slots each primary of a cluster holds, by its address; None where there are none."""
        return None

    async def close(self) -> None:
        await self._server.close()


class SeveralServers:
    """A store whose keys lie on several servers, or on one that another may follow.

    `find`: asks who holds what. `make`: the connections to a server. `changed`: called when another server holds
    what one held before. `moving_s`: how long a command that changed nothing is tried again while nobody holds its
    key. `beside`: the connections to those that are only asked, closed with the others. `reads_replicas`:
    questions may ask replicas.
    """

    moving_s = 10.0

    def __init__(
        self,
        find: Callable[[Sequence[Address]], Awaitable[Layout]],
        make: Callable[[Address], Server],
        changed: Callable[[], None],
        acknowledgement: Acknowledgement,
        *,
        beside: Mapping[Address, Server],
    ) -> None:
        self._find, self._make, self._changed = find, make, changed
        self._beside = beside
        self.replicas_asked = acknowledgement.replicas
        self.reads_replicas = False
        self._written: dict[int, float] = {}
        self._had_all: dict[Address, float] = {}
        self._compared: dict[Address, float] = {}
        self._turn = 0
        self._layout: Layout | None = None
        self._known: dict[Address, Server] = {}
        self._learning: asyncio.Task[None] | None = None
        self._learned_at = 0.0
        self._doubted = False
        self.lines: Sender = _Routed(self, None)
        self.writing_lines: Sender = _Routed(self, acknowledgement)

    def server(self, address: Address) -> Server:
        """The connections to a server, whether or not it is known to hold anything."""
        found = self._known.get(address)
        if found is None:
            found = self._known[address] = self._make(address)
        return found

    async def layout(self, *, anew: bool = False) -> Layout:
        """Who holds what; asked for `anew`, where it is in doubt, and after a while beside what goes on. Raises
        Unplaced when no server says it."""
        age = time.monotonic() - self._learned_at
        in_doubt = self._layout is None or (self._doubted and age > LEARNED_EVERY_S)
        if self._learning is None and (anew or in_doubt or age > LEARNED_AGAIN_S):
            self._learning = asyncio.create_task(self._learn())
            self._learning.add_done_callback(lambda task: task.cancelled() or task.exception())
        if self._learning is not None and (anew or in_doubt):
            await asyncio.shield(self._learning)
        if self._layout is None:
            raise Unplaced("no server says who holds what")
        return self._layout

    async def _learn(self) -> None:
        try:
            known = [] if self._layout is None else [*self._layout.addresses(), *self._known]
            found = await self._find(known)
        except (Unplaced, redis_errors.AuthenticationError):
            if self._layout is None:
                raise
        else:
            before, self._layout = self._layout, found
            self._doubted = any(address is None for address in found.primaries)
            if before is not None and before.primaries != found.primaries:
                self._changed()
        finally:
            self._learned_at = time.monotonic()
            self._learning = None

    def doubt(self) -> None:
        """A server did not answer, or does not hold what it should: ask who does, before the next command."""
        self._doubted = True

    async def primary(self, key: str) -> Address:
        """The address of the server that holds a key. Raises Unplaced."""
        address = (await self.layout()).primary(key)
        if address is None:
            self.doubt()
            raise Unplaced(f"no server holds the slot of {key}")
        return address

    def count_followers(self, primary: Address) -> int:
        """How many replicas of a primary are up, as far as is known."""
        return 0 if self._layout is None else len(self._layout.replicas.get(primary, ()))

    def note_written(self, key: str) -> None:
        """This process may have written to the slot of a key until now."""
        self._written[key_slot(key.encode())] = time.monotonic()

    async def read_from_replica(self, commands: Sequence[Command]) -> list[Any] | None:
        """The replies of a replica, where the question may ask one, and one answers; else None."""
        reading = _READING.get()
        if reading is None:
            return None
        slot = key_slot(key_of(commands[0]).encode())
        if slot not in reading.chosen:
            reading.chosen[slot] = asyncio.ensure_future(self._choose(slot, key_of(commands[0])))
        replica = await asyncio.shield(reading.chosen[slot])
        if replica is None:
            return None
        try:
            async with asyncio.timeout(2 * ASKED_S):
                _, *replies = await self.server(replica).lines.send_together(("READONLY",), *commands)
        except (redis_errors.RedisError, OSError):
            self._avoid(replica)
            replies = [Unplaced()]
        if any(isinstance(reply, Exception) for reply in replies):
            reading.stay(slot)
            return None
        reading.behind_s = max(reading.behind_s, time.monotonic() - self._had_all.get(replica, 0.0))
        return replies

    async def _choose(self, slot: int, key: str) -> Address | None:
        """The replica that may be asked about a slot: one that had all that was written there by this process, and
        all that the primary had lately."""
        with suppress(redis_errors.RedisError, OSError):
            layout = await self.layout()
            primary = await self.primary(key)
            followers = layout.replicas.get(primary, ())
            self._turn += 1
            for place in range(len(followers)):
                replica = followers[(self._turn + place) % len(followers)]
                now, written = time.monotonic(), self._written.get(slot, 0.0)
                had_all, compared = self._had_all.get(replica, 0.0), self._compared.get(replica, 0.0)
                if now - had_all > COMPARED_EVERY_S or written >= had_all:
                    if now - compared > LEARNED_EVERY_S:
                        self._compared[replica] = now
                        await self._compare(primary, replica)
                    had_all = self._had_all.get(replica, 0.0)
                if written < had_all and now - had_all < MOST_BEHIND_S:
                    return replica
        return None

    async def _compare(self, primary: Address, replica: Address) -> None:
        """Note since when a replica has all that its primary had."""
        asked_at = time.monotonic()
        try:
            async with asyncio.timeout(ASKED_S):
                ahead, own = [
                    await self.server(address).lines.send("INFO", "replication") for address in (primary, replica)
                ]
        except (redis_errors.RedisError, OSError):
            self._avoid(replica)
            return
        follows = own["role"] == "slave" and own["master_link_status"] == "up"
        if follows and int(own["slave_repl_offset"]) >= int(ahead["master_repl_offset"]):
            self._had_all[replica] = asked_at

    def _avoid(self, replica: Address) -> None:
        """Do not ask a replica that did not answer for a while."""
        self._had_all.pop(replica, None)
        self._compared[replica] = time.monotonic() + LEARNED_AGAIN_S

    async def client(self, key: str) -> redis.Redis:
        """The library's client of the server that holds a key. Raises Unplaced."""
        return self.server(await self.primary(key)).client

    async def all(self, *, replicas: bool = False) -> list[Server]:
        """All primaries, with their replicas if asked for. Raises Unplaced."""
        layout = await self.layout(anew=replicas)
        addresses = layout.addresses()
        if replicas:
            addresses += [replica for primary in addresses for replica in layout.replicas.get(primary, ())]
        return list(map(self.server, addresses))

    async def holds(self, server: Server, key: str) -> bool:
        """Whether the server is the one that holds a key. Raises Unplaced."""
        return self.server(await self.primary(key)) is server

    async def count_slots(self) -> dict[str, int] | None:
        """How many slots each primary of a cluster holds, by its address; None where there are none."""
        primaries = (await self.layout()).primaries
        held = Counter(str(address) for address in primaries if address is not None)
        return dict(held) if len(primaries) > 1 else None

    async def close(self) -> None:
        for server in (*self._known.values(), *self._beside.values()):
            await server.close()


class _Routed:
    """Sends each command to the server that holds its key, and after what changes something asks its replicas."""

    def __init__(self, servers: SeveralServers, acknowledgement: Acknowledgement | None) -> None:
        self._servers = servers
        self._writes = acknowledgement is not None
        self._confirms = acknowledgement if acknowledgement and acknowledgement.replicas else None

    async def send(self, *words: str | int | bytes) -> Any:
        [reply] = await self.send_together(words)
        if isinstance(reply, Exception):
            raise reply
        return reply

    async def send_together(self, *commands: Command) -> list[Any]:
        """As `Lines.send_together`, for commands on keys of one slot."""
        if not self._servers.reads_replicas:
            return await self._send_to_primary(commands)
        if not self._writes and all(words[0] in _OF_REPLICAS for words in commands):
            told = await self._servers.read_from_replica(commands)
            return await self._send_to_primary(commands) if told is None else told
        try:
            return await self._send_to_primary(commands)
        finally:
            self._servers.note_written(key_of(commands[0]))

    async def _send_to_primary(self, commands: Sequence[Command]) -> list[Any]:
        replies: list[Any] = [None] * len(commands)
        waiting = list(range(len(commands)))
        address, asking = await self._servers.primary(key_of(commands[0])), False
        for _ in range(MOST_HOPS):
            told = await self._send_to(address, [commands[place] for place in waiting], asking=asking)
            redirected: list[int] = []
            for place, reply in zip(waiting, told, strict=True):
                replies[place] = reply
                if isinstance(reply, redis_errors.AskError):  # a MovedError is one too
                    redirected.append(place)
                    address, asking = (
                        Address(reply.host, reply.port),
                        not isinstance(reply, redis_errors.MovedError),
                    )
            if not redirected:
                break
            waiting = redirected
            if not asking:
                self._servers.doubt()
        if any(isinstance(reply, MOVING) or str(reply).startswith("UNBLOCKED") for reply in replies):
            self._servers.doubt()
        return replies

    async def _send_to(self, address: Address, commands: Sequence[Command], *, asking: bool) -> list[Any]:
        words: list[Command] = []
        for command in commands:
            words += [("ASKING",), command] if asking else [command]
        server = self._servers.server(address)
        try:
            if self._confirms is not None:
                replies = await self._confirmed(address, server, words, self._confirms)
            else:
                lines = server.writing_lines if self._writes else server.lines
                replies = await lines.send_together(*words)
        except NotConnected as error:
            self._servers.doubt()
            raise Unplaced(f"the server at {address} cannot be reached: {error}") from error
        except (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError):
            self._servers.doubt()
            raise
        return replies[1::2] if asking else replies

    async def _confirmed(
        self, address: Address, server: Server, words: Sequence[Command], asked: Acknowledgement
    ) -> list[Any]:
        """The replies to what changes something, once the replicas have it. After a write that was not confirmed
        the next one begins only where there are replicas. Raises Unplaced, Unconfirmed."""
        followers = self._servers.count_followers(address)
        asked = asked._replace(replicas=max(asked.replicas, followers))
        if server.unconfirmed and await server.count_replicas() < asked.replicas:
            raise Unplaced(f"the primary at {address} has too few replicas for a write to be confirmed")
        *replies, confirmed = await server.writing_lines.send_together(*words, asked.command())
        if not all(isinstance(reply, Exception) for reply in replies):
            server.unconfirmed = not asked.met_by(confirmed)
            if server.unconfirmed:
                raise Unconfirmed(f"{confirmed} of {asked.replicas} replicas of {address} have it")
        return replies

    async def close(self) -> None:
        """The servers close their connections."""


MOVING: Final = (
    redis_errors.MovedError,
    redis_errors.AskError,
    redis_errors.TryAgainError,
    redis_errors.ClusterDownError,
    redis_errors.ReadOnlyError,
    redis_errors.BusyLoadingError,
    Unplaced,
)
"""The server did nothing with the command: another one holds the key, or none yet."""


def key_of(words: Command) -> str:
    """The key by which a command is placed."""
    name = str(words[0]).split()[0]
    place = _KEY_AT.get(name, 1)
    return HOME if name in _KEYLESS or len(words) <= place else str(words[place])


def mark_of(key: str) -> Command:
    """A command that changes something in the slot of a key, and leaves nothing behind. A write that found all as
    it should be is confirmed by no `WAIT` of its own: another one may have changed it, and not be replicated."""
    tag = key[key.find("{") + 1 : key.find("}")] if "{" in key else key
    return "SET", f"{{{tag}}}substrate:confirmed", 1, "PX", MARK_MS


# --- asking who holds what ------------------------------------------------------------------------------


type Ask = Callable[[Address, Sequence[Command]], Awaitable[list[Any]]]
"""Sends commands to a server; returns their replies, as raw as they came."""


async def _ask_each(
    addresses: Sequence[Address], commands: Sequence[Command], ask: Ask
) -> dict[Address, list[Any]]:
    """The replies of all servers that answer in time. Raises AuthenticationError when none does, and one refuses
    the user or the password."""
    refused: list[redis_errors.AuthenticationError] = []

    async def one(address: Address) -> list[Any] | None:
        with suppress(redis_errors.RedisError, OSError, TimeoutError):
            async with asyncio.timeout(ASKED_S):
                try:
                    return await ask(address, commands)
                except redis_errors.AuthenticationError as error:
                    refused.append(error)
        return None

    told = await asyncio.gather(*map(one, addresses))
    answered = {address: replies for address, replies in zip(addresses, told, strict=True) if replies is not None}
    if refused and not answered:
        raise refused[0]
    return answered


async def find_cluster(seeds: Sequence[Address], known: Sequence[Address], ask: Ask) -> Layout:
    """The layout of a cluster: the newest view among the servers that are in contact with most of the others.
    Raises Unplaced, and AuthenticationError as `_ask_each` does."""
    addresses = list(dict.fromkeys((*known, *seeds)))
    told = await _ask_each(addresses, (("CLUSTER", "INFO"), ("CLUSTER", "SLOTS")), ask)
    newest: tuple[int, Address, Any] | None = None
    for address, (info, slots) in told.items():
        fields = dict(line.split(":", 1) for line in str(info).splitlines() if ":" in line)
        if fields.get("cluster_state") != "ok" or isinstance(slots, Exception):
            continue
        epoch = int(fields["cluster_current_epoch"])
        if newest is None or epoch > newest[0]:
            newest = epoch, address, slots
    if newest is None:
        refusals = [str(reply) for reply in chain.from_iterable(told.values()) if isinstance(reply, Exception)]
        why = f": {refusals[0]}" if refusals else ""
        raise Unplaced(f"none of {', '.join(map(str, addresses))} is in a cluster that works{why}")
    _, source, slots = newest
    primaries: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
    replicas: dict[Address, list[Address]] = {}
    for first, last, primary, *others in slots:
        owner = _address(primary, source)
        primaries[int(first) : int(last) + 1] = [owner] * (int(last) - int(first) + 1)
        replicas[owner] = [_address(other, source) for other in others]
    return Layout(primaries, replicas)


def _address(told: Sequence[Any], source: Address) -> Address:
    """A server that does not know its own name is the one that was asked."""
    return Address(str(told[0]) or source.host, int(told[1]))


async def find_primary(sentinels: Sequence[Address], name: str, ask_sentinel: Ask, ask: Ask) -> Layout:
    """The primary that most Sentinels name, and its replicas. Raises Unplaced when it says that it is none, and
    AuthenticationError as `_ask_each` does."""
    commands: Sequence[Command] = (
        ("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name),
        ("SENTINEL", "REPLICAS", name),
    )
    told = await _ask_each(sentinels, commands, ask_sentinel)
    votes = Counter(Address(str(named[0]), int(named[1])) for named, _ in told.values() if isinstance(named, list))
    if not votes:
        raise Unplaced(f"no Sentinel of {', '.join(map(str, sentinels))} knows a primary {name}")
    primary = votes.most_common(1)[0][0]
    roles = await _ask_each([primary], [("ROLE",)], ask)
    reply = roles[primary][0] if primary in roles else ["silent"]
    role = reply[0] if isinstance(reply, list) else str(reply)
    if role != "master":
        raise Unplaced(f"the Sentinels name {primary} as primary {name}, and it is {role}")
    followers: dict[Address, None] = {}
    for named, others in told.values():
        if (
            isinstance(named, list)
            and Address(str(named[0]), int(named[1])) == primary
            and isinstance(others, list)
        ):
            for fields in others:
                state = dict(zip(fields[::2], fields[1::2], strict=False))
                # One that a failover has promoted is cut off from this primary, and is asked for all the same.
                if not {"s_down", "o_down"} & set(str(state.get("flags", "")).split(",")):
                    followers[Address(str(state["ip"]), int(state["port"]))] = None
    followers.pop(primary, None)  # a Sentinel lists it for a moment after it was promoted
    return Layout((primary,), {primary: list(followers)})
