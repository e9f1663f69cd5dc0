"""The address of a store: one server, Sentinels that name its primary, or servers of a Redis Cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

_PORTS: Final = {"sentinel": 26379, "cluster": 6379}

type AckMode = Literal["auto", "primary", "replica", "replica-disk"]
"""Who has a write when it is acknowledged: the primary, or one replica as well, in memory or on disk. `auto`: a
replica as well where there are several servers."""


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


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
    """Read an address. Raises ValueError where it names no server, or Sentinels without the name of a primary."""
    scheme, _, rest = url.partition("://")
    base, _, kind = scheme.partition("+")
    if not kind:
        return StoreAddress("", url)
    if base not in ("redis", "rediss") or kind not in ("sentinel", "cluster"):
        raise ValueError(f"{scheme}:// is no kind of address")
    place = urlsplit(f"//{rest}")
    login, _, hosts = place.netloc.rpartition("@")
    username, _, password = login.partition(":")
    servers = [_server(each, _PORTS[kind]) for each in hosts.split(",")]
    name = place.path.strip("/")
    if kind == "sentinel" and not name:
        raise ValueError("behind the Sentinels stands the name of their primary: redis+sentinel://HOST:PORT/NAME")
    return StoreAddress(
        "sentinel" if kind == "sentinel" else "cluster",
        url,
        servers,
        name,
        unquote(username) or None,
        unquote(password) or None,
        encrypted=base == "rediss",
    )


def _server(text: str, port: int) -> Address:
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.port == 0:
        raise ValueError("a host has no name, or a port that is no number from 1 to 65535")
    return Address(parts.hostname, parts.port or port)
