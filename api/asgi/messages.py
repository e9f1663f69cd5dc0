"""ASGI messages of a request and its answer, and which addresses everybody may see."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import Message, Receive, Send

PUBLIC: Final = frozenset(("/", "/health/live", "/health/ready", "/docs", "/openapi.json"))
"""What everybody may see: nothing of it speaks of what is remembered, or of whom."""
PUBLIC_BELOW: Final = ("/static/", "/docs/")
"""Where the files of pages lie."""


class Answered:
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


def bodiless(receive: Receive) -> Receive:
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
    return path in PUBLIC or path.startswith(PUBLIC_BELOW)
