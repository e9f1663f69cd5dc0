"""ASGI messages of a request and its answer, and which addresses everybody may see."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Scope, Send

from schemas.errors import ForeignOrigin

PUBLIC_PATHS: Final = frozenset(("/", "/health/live", "/health/ready", "/docs", "/openapi.json"))
"""What everybody may see: nothing of it speaks of what is remembered, or of whom."""
PUBLIC_PREFIXES: Final = ("/static/", "/docs/")
"""Where the files of pages lie."""


class ResponseHeaders:
    """The sending side of one request: adds the headers that every answer has, and keeps the status."""

    def __init__(self, send: Send, headers: dict[str, str]) -> None:
        self._send = send
        self.headers = headers
        self.status = 500

    async def __call__(self, message: Message) -> None:
        """Send the message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self.headers.items():
                headers.setdefault(name, value)
        await self._send(message)


def without_body(receive: Receive) -> Receive:
    """What a public route hears: no body, whatever is sent, for it would be held for somebody without a key."""
    messages: Iterator[Message] = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def heard() -> Message:
        message = next(messages, None)
        return await receive() if message is None else message

    return heard


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def is_public(path: str) -> bool:
    """Whether everybody may see it."""
    return path in PUBLIC_PATHS or path.startswith(PUBLIC_PREFIXES)


ANY_ORIGIN: Final = "*"
_USUAL_PORTS: Final = {"http": ":80", "https": ":443"}
_CUSTOMER_BITS: Final = 64
"""Of an IPv6 address: what one customer of a provider has at least, all of it theirs to choose from."""


def check_origin(headers: Iterable[tuple[bytes, bytes]], allowed: Collection[str]) -> None:
    """Raises ForeignOrigin for a page of another origin than the one that is called or those allowed.

    Programs send no `Origin` and may call.
    """
    said = list(headers)
    origins = [value.decode("latin-1") for name, value in said if name == b"origin"]
    if not origins or ANY_ORIGIN in allowed:
        return
    hosts = [value.decode("latin-1") for name, value in said if name == b"host"]
    if len(origins) > 1 or not (origins[0] in allowed or _is_same_origin(origins[0], hosts)):
        raise ForeignOrigin(
            "pages of this origin may not call", remedy="Name it in SUBSTRATE_CORS_ORIGINS if its pages may."
        )


def _is_same_origin(origin: str, hosts: Sequence[str]) -> bool:
    """Whether the page came from the very address that is called; the scheme is the proxy's to know."""
    scheme, _, place = origin.lower().partition("://")
    usual = _USUAL_PORTS.get(scheme)
    if usual is None or not place or len(hosts) != 1:
        return False
    return place.removesuffix(usual) == hosts[0].lower().removesuffix(usual)


def client_address(scope: Scope) -> str | None:
    """The address at the other end, as the server was told; None for a caller inside this process."""
    client = scope.get("client")
    return (client[0] or None) if client else None


def rate_limit_address(address: str | None) -> str:
    """What is counted as one caller: an IPv4 address, or the network of an IPv6 address."""
    try:
        found = ip_address(address or "")
    except ValueError:
        return address or ""
    if not isinstance(found, IPv6Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ip_network((int(found), _CUSTOMER_BITS), strict=False))
