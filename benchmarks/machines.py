"""Several bundled engines on loopback: a Redis Cluster, or a primary with replicas under Sentinels.

Used by `benchmarks.cluster` and by the tests of what holds on more than one machine.
"""

from __future__ import annotations

import asyncio
import fcntl
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import redis.asyncio as redis
from redis import exceptions as redis_errors

from benchmarks.network import OUTSIDE, Network
from substrate.engine.process import MODULE_ARGUMENTS, bundled_binaries

SLOTS: Final = 16_384
BUS: Final = 10_000
"""The bus of a node of a cluster listens at a port so much higher."""
PORTS_AT_ONCE: Final = 20
"""At most so many servers belong together."""
NODE_TIMEOUT_MS: Final = 5_000
"""Far above the longest query of the engine (1.5 s): a busy machine is no failover."""
START_S: Final = 30.0
_PLACE: Final = """\
bind 127.0.0.1
bind-source-addr {address}
port {port}
dir {directory}
logfile {directory}/server.log
"""
_CONFIGURATION: Final = """\
replica-announce-ip 127.0.0.1
replica-announce-port {told}
daemonize no
save ""
appendonly yes
appendfsync always
repl-diskless-sync-delay 0
enable-debug-command no
"""
_CLUSTER: Final = """\
cluster-enabled yes
cluster-announce-ip 127.0.0.1
cluster-announce-port {told}
cluster-announce-bus-port {bus}
cluster-config-file nodes.conf
cluster-node-timeout {timeout}
cluster-require-full-coverage no
cluster-replica-validity-factor 0
"""
_SENTINEL: Final = """\
sentinel announce-ip 127.0.0.1
sentinel announce-port {told}
sentinel monitor {master} 127.0.0.1 {primary} 2
sentinel down-after-milliseconds {master} {timeout}
sentinel failover-timeout {master} 6000
sentinel parallel-syncs {master} 1
"""
MASTER: Final = "mymaster"


@contextmanager
def reserved_ports(many: int) -> Iterator[list[int]]:
    """Ports that are free, with those of the bus of a cluster, 10,000 higher; nobody else here chooses them within
    the context: a server that is killed gets its own again."""
    for first in range(20_000, 30_000, PORTS_AT_ONCE):
        with Path(tempfile.gettempdir(), f"substrate-ports-{first}.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            ports = [port for port in range(first, first + many) if _is_free(port) and _is_free(port + BUS)]
            if len(ports) == many:
                yield ports
                return
    raise OSError("there are no free ports")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


@dataclass(eq=False)
class Server:
    """One process of the bundled redis-server; `module`: with FalkorDB, which a Sentinel does not have. `told`:
    the port by which the others reach it, that of its door if it has one. `address`: from which it speaks."""

    port: int
    told: int
    address: str
    directory: Path
    configuration: str = ""
    module: bool = True
    sentinel: bool = False
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process; its data are what the directory holds."""
        self.directory.mkdir(parents=True, exist_ok=True)
        path = self.directory / "server.conf"
        binary, module = bundled_binaries()
        if not path.exists():
            loaded = f"loadmodule {module} {MODULE_ARGUMENTS}\n" if self.module else ""
            place = _PLACE.format(address=self.address, port=self.port, directory=self.directory)
            path.write_text(place + self.configuration + loaded, "utf-8")
        words = [str(binary), str(path), *(["--sentinel"] if self.sentinel else [])]
        self.process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def send(self, sign: signal.Signals) -> None:
        """Send a signal to the process; after SIGKILL wait until it is gone."""
        assert self.process is not None
        self.process.send_signal(sign)
        if sign == signal.SIGKILL:
            self.process.wait()

    @asynccontextmanager
    async def client(self) -> AsyncIterator[redis.Redis]:
        """A plain client of this server alone."""
        async with redis.Redis(port=self.port, decode_responses=True, socket_timeout=10) as client:
            yield client

    async def ask(self, *words: Any) -> Any:
        """The reply to one command."""
        async with self.client() as client:
            return await client.execute_command(*words)

    async def wait(self, ready: Callable[[redis.Redis], Awaitable[bool]], limit_s: float = START_S) -> None:
        """Wait until something holds of this server. Raises TimeoutError."""
        give_up = time.monotonic() + limit_s
        while time.monotonic() < give_up:
            with suppress(redis_errors.RedisError, OSError):
                async with self.client() as client:
                    if await ready(client):
                        return
            await asyncio.sleep(0.05)
        raise TimeoutError(f"the server at port {self.port} is not as it should be after {limit_s} s")


async def _answers(client: redis.Redis) -> bool:
    return bool(await client.ping())


@dataclass
class Machines:
    """Servers that belong together, and the address by which a service speaks to them."""

    url: str
    network: Network
    servers: list[Server] = field(default_factory=list)
    sentinels: list[Server] = field(default_factory=list)

    async def cut_off(self, key: str, *, services_reach_all: bool) -> Server:
        """Part the primary that holds a key, and one Sentinel, from all others; returns it."""
        primary = await self.owner(key)
        parted = [primary.address, *(sentinel.address for sentinel in self.sentinels[-1:])]
        self.network.cut(parted, services_reach_all=services_reach_all)
        return primary

    async def role(self, server: Server) -> str:
        """`master` or `slave`; empty where the server does not answer."""
        try:
            async with asyncio.timeout(2):
                return str((await server.ask("ROLE"))[0])
        except (redis_errors.RedisError, OSError, TimeoutError):
            return ""

    async def primaries(self) -> list[Server]:
        """Those that say of themselves that they are one."""
        roles = await asyncio.gather(*map(self.role, self.servers))
        return [server for server, role in zip(self.servers, roles, strict=True) if role == "master"]

    async def owner(self, key: str) -> Server:
        """The primary that holds a key of a cluster, as the others see it; the only one elsewhere."""
        if self.sentinels:
            found = await self._of_sentinels()
        else:
            found = await self._of_slots(key)
        return next(each for each in self.servers if each.told == found)

    async def until_moved(self, key: str, former: Server) -> None:
        """Return when the others say that another server holds a key."""
        give_up = time.monotonic() + START_S
        while time.monotonic() < give_up:
            with suppress(LookupError, StopIteration):
                if await self.owner(key) is not former:
                    return
            await asyncio.sleep(0.1)
        raise TimeoutError(f"{key} is still with the server at port {former.port}")

    async def _of_sentinels(self) -> int:
        for sentinel in self.sentinels:
            with suppress(redis_errors.RedisError, OSError):
                return int((await sentinel.ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER))[1])
        raise LookupError("no Sentinel answers")

    async def _of_slots(self, key: str) -> int:
        for server in self.servers:
            if self.network.is_apart(server.address):
                continue
            with suppress(redis_errors.RedisError, OSError, TimeoutError):
                async with asyncio.timeout(2), server.client() as client:
                    slot = int(await client.execute_command("CLUSTER", "KEYSLOT", key))
                    for first, last, primary, *_ in await client.execute_command("CLUSTER", "SLOTS"):
                        if first <= slot <= last:
                            return int(primary[1])
        raise LookupError(f"no server says who holds {key}")

    async def replicas_of(self, primary: Server) -> list[Server]:
        """The servers that follow a primary."""
        found: list[Server] = []
        for server in self.servers:
            with suppress(redis_errors.RedisError, OSError, TimeoutError):
                async with asyncio.timeout(2):
                    told = await server.ask("ROLE")
                if told[0] == "slave" and int(told[2]) == primary.told:
                    found.append(server)
        return found

    def stop(self) -> None:
        """End all processes."""
        for server in (*self.sentinels, *self.servers):
            if server.process is not None and server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
                server.process.kill()
                server.process.wait()


@asynccontextmanager
async def _machines(many: int, *, doors: bool) -> AsyncIterator[tuple[Machines, list[Server]]]:
    """So many servers that are neither configured nor started, and machines that have none of them yet; all is
    gone afterwards. `doors`: they speak through a network that can be cut."""
    with (
        reserved_ports(2 * many if doors else many) as ports,
        tempfile.TemporaryDirectory(prefix="substrate-machines-") as directory,
    ):
        machines, servers = Machines("", Network()), []
        for place, port in enumerate(ports[:many]):
            told, address = (ports[many + place], f"127.0.0.{place + 2}") if doors else (port, OUTSIDE)
            servers.append(Server(port, told, address, Path(directory, str(port))))
            if doors:
                await machines.network.open(told, port, address)
                await machines.network.open(told + BUS, port + BUS, address)
        try:
            yield machines, servers
        finally:
            machines.stop()
            await machines.network.close()


@asynccontextmanager
async def cluster(
    primaries: int = 3, replicas: int = 1, timeout_ms: int = NODE_TIMEOUT_MS, *, doors: bool = False
) -> AsyncIterator[Machines]:
    """A Redis Cluster in a directory of its own; it is gone afterwards. `doors`: its network can be cut."""
    async with _machines(primaries * (1 + replicas), doors=doors) as (machines, servers):
        machines.servers = servers
        for server in servers:
            values = {"told": server.told, "bus": server.told + BUS, "timeout": timeout_ms}
            server.configuration = (_CONFIGURATION + _CLUSTER).format(**values)
        machines.url = "redis+cluster://" + _addresses(machines.servers[:3])
        await _start_all(machines.servers)
        await _join(machines.servers, primaries)
        yield machines


async def _start_all(servers: Sequence[Server]) -> None:
    for server in servers:
        server.start()
    await asyncio.gather(*(server.wait(_answers) for server in servers))


async def _join(servers: Sequence[Server], primaries: int) -> None:
    """Give the first servers the slots, and each of the others a primary."""
    first = servers[0]
    for number, server in enumerate(servers):
        await server.ask("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
    for number, server in enumerate(servers[:primaries]):
        begin, end = number * SLOTS // primaries, (number + 1) * SLOTS // primaries - 1
        await server.ask("CLUSTER", "ADDSLOTSRANGE", begin, end)
    for server in servers[1:]:
        await server.ask("CLUSTER", "MEET", "127.0.0.1", first.told, first.told + BUS)

    async def knows_all(client: redis.Redis) -> bool:
        nodes = (
            str(await client.execute_command("CLUSTER", "MYID")),
            await client.execute_command("CLUSTER", "INFO"),
        )
        return f"cluster_known_nodes:{len(servers)}" in str(nodes)

    await asyncio.gather(*(server.wait(knows_all) for server in servers))
    for number, server in enumerate(servers[primaries:]):
        owner = await servers[number % primaries].ask("CLUSTER", "MYID")
        await server.ask("CLUSTER", "REPLICATE", owner)

    async def follows(client: redis.Redis) -> bool:
        told = await client.execute_command("ROLE")
        return bool(told[0] == "slave" and told[3] == "connected")

    async def is_whole(client: redis.Redis) -> bool:
        shards = [row[2:] for row in await client.execute_command("CLUSTER", "SLOTS")]
        told = sum(map(len, shards)) == len(servers)
        return told and "cluster_state:ok" in str(await client.execute_command("CLUSTER", "INFO"))

    await asyncio.gather(*(server.wait(follows) for server in servers[primaries:]))
    await asyncio.gather(*(server.wait(is_whole) for server in servers))


@asynccontextmanager
async def sentinels(
    replicas: int = 2, timeout_ms: int = NODE_TIMEOUT_MS, *, doors: bool = False
) -> AsyncIterator[Machines]:
    """A primary with replicas and three Sentinels, in a directory of their own; it is gone afterwards. `doors`:
    their network can be cut."""
    async with _machines(1 + replicas + 3, doors=doors) as (machines, made):
        servers, watching = made[: 1 + replicas], made[1 + replicas :]
        machines.servers, machines.sentinels = servers, watching
        values = {"primary": servers[0].told, "master": MASTER, "timeout": timeout_ms}
        for server in servers:
            follow = f"replicaof 127.0.0.1 {servers[0].told}\n" if server is not servers[0] else ""
            server.configuration = _CONFIGURATION.format(told=server.told) + follow
        for server in watching:
            server.configuration = _SENTINEL.format(told=server.told, **values)
            server.module, server.sentinel = False, True
        machines.url = f"redis+sentinel://{_addresses(watching)}/{MASTER}"
        await _start_all(servers)

        async def follows(client: redis.Redis) -> bool:
            told = await client.execute_command("ROLE")
            return bool(told[0] == "slave" and told[3] == "connected")

        async def knows_all(client: redis.Redis) -> bool:
            state = (await client.sentinel_masters())[MASTER]
            return (int(state["num-slaves"]), int(state["num-other-sentinels"])) == (replicas, 2)

        await asyncio.gather(*(server.wait(follows) for server in servers[1:]))
        await _start_all(watching)
        await asyncio.gather(*(server.wait(knows_all) for server in watching))
        yield machines


def _addresses(servers: Sequence[Server]) -> str:
    return ",".join(f"127.0.0.1:{server.told}" for server in servers)
