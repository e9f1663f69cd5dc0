"""What the servers of a store say of themselves, and what is wrong among them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from redis.crc import REDIS_CLUSTER_HASH_SLOTS

from schemas.errors import Fault, SubstrateError
from substrate.connection.pool import Connection
from substrate.connection.topology import Server

_MODULE: Final = "graph"
"""What FalkorDB is called among the modules."""
RIGHTS: Final = (
    "asking", "bgrewriteaof", "client|setinfo", "client|setname", "cluster|info", "cluster|slots",
    "command|info", "config|get", "del", "discard", "dump", "eval", "evalsha", "exec", "exists", "expire",
    "get", "graph.constraint", "graph.delete", "graph.list", "graph.memory", "graph.query", "graph.ro_query",
    "graph.slowlog", "hdel", "hget", "hgetall", "hlen", "hset", "hsetnx", "incr", "incrby", "info",
    "memory|usage", "multi", "object|idletime", "ping", "pttl", "pexpire", "readonly", "rename", "renamenx",
    "restore", "role", "script|load", "set", "slowlog|reset", "time", "type", "unwatch", "vadd", "vcard",
    "vdim", "vgetattr", "vismember", "vrange", "vrem", "vsetattr", "vsim", "wait", "waitaof", "watch", "zadd",
    "zrange", "zremrangebyscore",
)  # fmt: skip
"""The commands that the service sends, with what its scripts call."""
KEYS: Final = ("citizen_*", "collective_*", "ecosystem_n3", "{*", "substrate:*", "telemetry{*")


DANGEROUS: Final = (
    "acl|setuser", "config|set", "debug", "flushall", "flushdb", "graph.config", "keys", "module|load", "shutdown"
)  # fmt: skip
"""Commands that the service never sends, and by which a user reaches more than its keys."""
MOST_ARGUMENTS: Final = 8
"""A command is tried with one argument more until the server finds them enough."""


def describe_rights(name: str) -> str:
    """The command that gives a user of the servers the least rights that the service needs."""
    words = ["ACL SETUSER", name, "on", ">PASSWORD", "resetkeys", *(f"~{key}" for key in KEYS), "-@all"]
    return " ".join([*words, *(f"+{command}" for command in RIGHTS)])


async def compare_rights(connection: Connection, user: str) -> tuple[list[str], list[str]]:
    """The commands of `RIGHTS` that a user may not send, and the dangerous ones that it may. Raises Fault where
    the caller may not ask that, or there is no such user."""
    [server, *_] = await connection.all_servers()

    async def may(command: str) -> bool:
        answer = ""
        for many in range(MOST_ARGUMENTS):
            words = ("ACL", "DRYRUN", user, *command.split("|"), *("1",) * many)
            try:
                answer = str(await connection.command_at(server, *words))
            except Fault as error:
                if "wrong number of arguments" not in error.detail:
                    raise
            else:
                break
        return "permissions to run" not in answer

    lacking = [command for command in RIGHTS if not await may(command)]
    return lacking, [command for command in DANGEROUS if await may(command)]


class ServerReport(NamedTuple):
    """A server. `role`: `primary` or `replica`, empty where it did not answer. `module`: the version of FalkorDB,
    empty without it. `lag`: how many bytes a replica is behind. `slots`: of a cluster, and of a primary of it."""

    address: str
    role: str = ""
    redis: str = ""
    module: str = ""
    memory: int = 0
    lag: int | None = None
    replicas: int = 0
    slots: int | None = None

    def describe(self) -> str:
        """The server in a line."""
        if not self.role:
            return f"{self.address} does not answer"
        parts = [f"{self.address} {self.role}", f"redis {self.redis}", f"falkordb {self.module or 'missing'}"]
        parts.append(f"{self.memory / 2**20:,.0f} MiB")
        if self.role == "primary":
            parts += [f"{self.replicas} replicas"] if self.replicas != 1 else ["1 replica"]
            parts += [f"{self.slots:,} slots"] if self.slots is not None else []
        elif self.lag is not None:
            parts.append(f"{self.lag:,} bytes behind")
        return ", ".join(parts)


async def inspect_servers(connection: Connection) -> list[ServerReport]:
    """What each server says. Raises Unavailable when none says who belongs to the store."""
    slots = await connection.servers.count_slots()
    servers = await connection.all_servers(replicas=True)
    return [await _inspect(connection, server, slots) for server in servers]


async def _inspect(connection: Connection, server: Server, slots: Mapping[str, int] | None) -> ServerReport:
    try:
        told: list[dict[str, Any]] = [
            await connection.command_at(server, "INFO", section)
            for section in ("server", "memory", "replication", "modules")
        ]
    except SubstrateError:
        return ServerReport(server.address)
    about, memory, replication, modules = told
    versions = {str(module["name"]): int(module["ver"]) for module in modules.get("modules", [])}
    number = versions.get(_MODULE, 0)
    is_primary = replication["role"] == "master"
    behind = None
    if not is_primary:
        ahead, own = replication.get("slave_read_repl_offset", 0), replication.get("slave_repl_offset", 0)
        behind = max(0, int(ahead) - int(own))
    return ServerReport(
        server.address,
        "primary" if is_primary else "replica",
        str(about["redis_version"]),
        f"{number // 10000}.{number // 100 % 100}.{number % 100}" if number else "",
        int(memory["used_memory"]),
        behind,
        int(replication.get("connected_slaves", 0)),
        slots.get(server.address, 0) if is_primary and slots is not None else None,
    )


def find_faults(reports: Sequence[ServerReport], needed: int) -> Iterator[tuple[str, str]]:
    """What is wrong, each with what to do. `needed`: how many replicas have to confirm a write."""
    for report in reports:
        if not report.role:
            yield f"{report.address} does not answer", "Start it, or take it out of the cluster."
        elif not report.module:
            yield f"{report.address} has no FalkorDB", "Load the module: `loadmodule falkordb.so`."
        if report.role == "primary" and report.replicas < needed:
            said = f"{report.address} has too few replicas ({report.replicas}): a write waits for {needed}"
            yield said, "Add a replica, or set SUBSTRATE_ACK=primary."
    numbers = sorted({report.module for report in reports if report.module})
    if len(numbers) > 1:
        yield f"the versions of FalkorDB differ: {', '.join(numbers)}", "Use one version on all servers."
    slots = [report.slots for report in reports if report.slots is not None]
    if slots and sum(slots) < REDIS_CLUSTER_HASH_SLOTS:
        lacking = REDIS_CLUSTER_HASH_SLOTS - sum(slots)
        yield f"{lacking:,} slots are on no server: their graphs are not there", "Start the shard that holds them."
