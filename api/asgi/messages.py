"""ASGI messages of a request and its response: response headers, public paths, origins and client addresses."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from schemas.errors import ForeignOrigin

PUBLIC_PATHS: Final = frozenset(("/", "/health/live", "/health/ready", "/docs", "/openapi.json"))
"""Served without a key: they reveal no memory and no citizen."""
PUBLIC_PREFIXES: Final = ("/static/", "/docs/")
"""The files of the pages."""

ANY_ORIGIN: Final = "*"
_USUAL_PORTS: Final = {"http": ":80", "https": ":443"}


class ResponseHeaders:
    """Sends one response with the common headers added, and remembers its status."""

    def __init__(self, send: Send, headers: dict[str, str]) -> None:
        self._send = send
        self.headers = headers
        self.status = 500

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self.headers.items():
                headers.setdefault(name, value)
        await self._send(message)


def replay(body: Message, receive: Receive) -> Receive:
    """A `receive` that returns the body first, then the later messages."""
    messages = iter([body])

    async def receive_next() -> Message:
        message = next(messages, None)
        return await receive() if message is None else message

    return receive_next


def is_loopback(host: str) -> bool:
    """True when only this machine can reach the address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_public(path: str) -> bool:
    """True when the path is served without a key."""
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIXES)


def check_origin(headers: Iterable[tuple[bytes, bytes]], allowed: Collection[str]) -> None:
    """Raises ForeignOrigin when a web page calls from an origin that is neither this service's nor in `allowed`.

    Programs send no `Origin` and always pass.
    """
    pairs = list(headers)
    origins = [value.decode("latin-1") for name, value in pairs if name == b"origin"]
    if not origins or ANY_ORIGIN in allowed:
        return
    hosts = [value.decode("latin-1") for name, value in pairs if name == b"host"]
    if len(origins) > 1 or not (origins[0] in allowed or _is_same_origin(origins[0], hosts)):
        raise ForeignOrigin(
            "pages of this origin may not call", remedy="Name it in SUBSTRATE_CORS_ORIGINS if its pages may."
        )


def _is_same_origin(origin: str, hosts: Sequence[str]) -> bool:
    """True when the page came from the host it calls. The scheme is not compared: a proxy may change it."""
    scheme, _, host = origin.lower().partition("://")
    usual_port = _USUAL_PORTS.get(scheme)
    if usual_port is None or not host or len(hosts) != 1:
        return False
    return host.removesuffix(usual_port) == hosts[0].lower().removesuffix(usual_port)


def client_address(scope: Scope) -> str | None:
    """The address of the client, as the server reports it; None for a caller inside this process."""
    client = scope.get("client")
    return (client[0] or None) if client else None


def rate_limit_address(address: str | None) -> str:
    """The address that rate limits count: an IPv4 address, or the /64 network of an IPv6 address.

    A provider gives each customer at least a /64; the customer chooses the other bits.
    """
    try:
        parsed = ip_address(address or "")
    except ValueError:
        return address or ""
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ip_network((int(parsed), 64), strict=False))
