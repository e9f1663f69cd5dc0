"""HTTP rules for every response: HEAD, refused encodings, and ETags of compressed bodies.

This is the outermost middleware: all others see GET instead of HEAD, and ETags without the suffix `-gzip`.
"""

from __future__ import annotations

import re
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CONDITIONS: Final = (b"if-match", b"if-none-match")
_GZIP_TAG: Final = re.compile(rb'-gzip"')
_TAG: Final = re.compile(r'"([^"]*)"')


class HttpRulesMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        accepts_gzip = _accepts_gzip(Headers(raw=scope["headers"]).get("accept-encoding", ""))
        headers = [
            (name, _GZIP_TAG.sub(b'"', value) if name in _CONDITIONS else value)
            for name, value in scope["headers"]
            if name != b"accept-encoding"
        ]
        headers.append((b"accept-encoding", b"gzip" if accepts_gzip else b"identity"))
        normalized = {**scope, "headers": headers}
        conditions = [value for name, value in scope["headers"] if name in _CONDITIONS]
        sender = _EtagSender(send, gzip_tag=any(map(_GZIP_TAG.search, conditions)))
        if scope["method"] == "HEAD":
            await self.app({**normalized, "method": "GET"}, receive, _HeadSender(sender))
        else:
            await self.app(normalized, receive, sender)


class _EtagSender:
    """Adds `-gzip` to the ETag of a compressed body, because it is another representation (RFC 9110, 8.8.3)."""

    def __init__(self, send: Send, *, gzip_tag: bool) -> None:
        self._send = send
        self._gzip_tag = gzip_tag

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            tag = headers.get("etag")
            matched_gzip = message["status"] == 304 and self._gzip_tag
            if tag is not None and (matched_gzip or headers.get("content-encoding") == "gzip"):
                headers["etag"] = _TAG.sub(r'"\1-gzip"', tag)
        await self._send(message)


class _HeadSender:
    """Sends a response without its body. The server then reports a disconnect, which stops work on a long body."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._started = False

    async def __call__(self, message: Message) -> None:
        if self._started:
            return
        self._started = True
        await self._send(message)
        await self._send({"type": "http.response.body", "body": b""})


def _accepts_gzip(accept_encoding: str) -> bool:
    """True when gzip (or `*`, if gzip is not named) has a weight above 0 (RFC 9110, 12.5.3)."""
    accepted: dict[str, bool] = {}
    for part in accept_encoding.lower().split(","):
        name, *parameters = (piece.strip() for piece in part.split(";"))
        accepted[name] = not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", parameter) for parameter in parameters)
    return accepted.get("gzip", accepted.get("*", False))
