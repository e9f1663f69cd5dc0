"""Opens what sends commands to the servers of an address."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import redis.asyncio as redis

from schemas.errors import InvalidRequest
from substrate.connection.lines import Command
from substrate.connection.topology import (
    Acknowledgement,
    Address,
    Layout,
    OneServer,
    Server,
    SeveralServers,
    find_cluster,
    find_primary,
)

if TYPE_CHECKING:
    from schemas.settings import AckMode, ReadMode

MAX_CONNECTIONS: Final = 32
WRITES_AT_ONCE: Final = 6
"""The engine applies one write at a time; the others are parsed and planned meanwhile."""
CONNECT_S: Final = 5.0
CONNECT_OTHER_S: Final = 1.0
"""How long one of several servers may take to take a connection: another one may hold the key by then."""


REMEDY: Final = "Write redis+sentinel://HOST:PORT,HOST:PORT/NAME, or redis+cluster://HOST:PORT,HOST:PORT."
_PORTS: Final = {"sentinel": 26379, "cluster": 6379}


class StoreAddress(NamedTuple):
    """A parsed address. `kind`: what stands behind the plus of its scheme; empty for one server, whose `url` the
    library reads."""

    kind: Literal["", "sentinel", "cluster"]
    url: str
    servers: Sequence[Address] = ()
    name: str = ""
    username: str | None = None
    password: str | None = None
    encrypted: bool = False


def parse_address(url: str) -> StoreAddress:
    """Read an address. Raises InvalidRequest where it names no server, or Sentinels without the name of a primary.
    The message is without the address, which may hold a password."""
    scheme, _, rest = url.partition("://")
    base, _, kind = scheme.partition("+")
    if not kind:
        return StoreAddress("", url)
    if base not in ("redis", "rediss") or kind not in ("sentinel", "cluster"):
        raise InvalidRequest(f"{scheme}:// is no kind of address", remedy=REMEDY)
    place = urlsplit(f"//{rest}")
    login, _, hosts = place.netloc.rpartition("@")
    username, _, password = login.partition(":")
    servers: list[Address] = []
    for each in hosts.split(","):
        try:
            parts = urlsplit(f"//{each}")
            usable = bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise InvalidRequest("a host has no name, or a port that is no number up to 65535", remedy=REMEDY)
        servers.append(Address(parts.hostname or "", parts.port or _PORTS[kind]))
    name = place.path.strip("/")
    if kind == "sentinel" and not name:
        raise InvalidRequest("behind the Sentinels no primary is named", remedy=REMEDY)
    return StoreAddress(
        "sentinel" if kind == "sentinel" else "cluster",
        url,
        servers,
        name,
        unquote(username) or None,
        unquote(password) or None,
        encrypted=base == "rediss",
    )


class Wiring(NamedTuple):
    """How connections are made. `answer_s`: what an answer may take. `connected`: is awaited with each connection
    that was made. `changed`: is called when another server holds what one held before."""

    credentials: tuple[str | None, str | None]
    answer_s: float
    connected: Callable[[Any], Any]
    changed: Callable[[], None]


def open_servers(
    url: str, wiring: Wiring, mode: AckMode = "auto", read_from: ReadMode = "primary"
) -> OneServer | SeveralServers:
    """What sends commands to the servers of an address; nothing is connected yet. Raises InvalidRequest as
    `parse_address` does."""
    opening = _Opening(parse_address(url), wiring)
    several = bool(opening.address.kind)
    if mode == "primary" or (mode == "auto" and not several):
        acknowledgement = Acknowledgement()
        if not several:
            return OneServer(opening.open("the server", url, CONNECT_S))
    else:
        acknowledgement = Acknowledgement(1, on_disk=mode == "replica-disk")
    servers = SeveralServers(opening.find, opening.make, wiring.changed, acknowledgement, beside=opening.sentinels)
    servers.reads_replicas = several and read_from == "replica"
    opening.servers = servers
    return servers


class _Opening:
    """Opens connections to the servers of an address, and asks them who holds what."""

    servers: SeveralServers

    def __init__(self, address: StoreAddress, wiring: Wiring) -> None:
        self.address, self.wiring = address, wiring
        self.sentinels: dict[Address, Server] = {}
        self._scheme = "rediss" if address.encrypted else "redis"

    def open(self, address: str, url: str, connect_s: float, *, to_store: bool = True) -> Server:
        username, password = self.wiring.credentials
        settings: dict[str, Any] = {
            "timeout": 5,
            "socket_timeout": self.wiring.answer_s,
            "socket_connect_timeout": connect_s,
            "decode_responses": True,
            "retry": None,
            "protocol": 2,
        }
        if to_store:
            settings |= {
                "username": username or self.address.username,
                "password": password or self.address.password,
                "redis_connect_func": self.wiring.connected,
            }

        def make(most: int) -> redis.Redis:
            pool = redis.BlockingConnectionPool.from_url(url, max_connections=most, **settings)
            return redis.Redis(connection_pool=pool, retry=None)

        return Server(address, make, (MAX_CONNECTIONS, WRITES_AT_ONCE), self.wiring.answer_s)

    def make(self, at: Address) -> Server:
        place = f"{self._scheme}://{at}" if self.address.kind else self.address.url
        return self.open(str(at), place, CONNECT_OTHER_S)

    async def find(self, known: Sequence[Address]) -> Layout:
        address = self.address
        if address.kind == "cluster":
            return await find_cluster(address.servers, known, self._ask)
        if address.kind == "sentinel":
            return await find_primary(address.servers, address.name, self._ask_sentinel, self._ask)
        return Layout((Address("the server", 0),), {})

    async def _ask(self, at: Address, commands: Sequence[Command]) -> list[Any]:
        return await self.servers.server(at).lines.send_together(*commands)

    async def _ask_sentinel(self, at: Address, commands: Sequence[Command]) -> list[Any]:
        if at not in self.sentinels:
            self.sentinels[at] = self.open(str(at), f"{self._scheme}://{at}", CONNECT_OTHER_S, to_store=False)
        return await self.sentinels[at].lines.send_together(*commands)
