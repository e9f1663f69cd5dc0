"""What HTTP asks of every answer, whoever gives it: HEAD, encodings that are refused, tags.

The outermost middleware: what stands behind it sees a GET for a HEAD, and tags as it gave them.
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
    """Middleware around all others."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on in plain form, and its answer back in the form that was asked for."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        plain = {**scope, "headers": _normalize_headers(scope["headers"])}
        answer = _EtagSender(send, gzip_tag=any(_is_gzip_tag(header) for header in scope["headers"]))
        if scope["method"] == "HEAD":
            await self.app({**plain, "method": "GET"}, receive, _HeadSender(answer))
        else:
            await self.app(plain, receive, answer)


class _EtagSender:
    """The way back: a compressed body is another representation, so its tag is another one (RFC 9110, 8.8.3)."""

    def __init__(self, send: Send, *, gzip_tag: bool) -> None:
        self._send = send
        self._gzip_tag = gzip_tag

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            tag = headers.get("etag")
            known = message["status"] == 304 and self._gzip_tag
            if tag is not None and (known or headers.get("content-encoding") == "gzip"):
                headers["etag"] = _TAG.sub(r'"\1-gzip"', tag)
        await self._send(message)


class _HeadSender:
    """The way back without a body. The server then says that the caller left, and work on a long body stops."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def __call__(self, message: Message) -> None:
        if self._begun:
            return
        self._begun = True
        await self._send(message)
        await self._send({"type": "http.response.body", "body": b""})


def _normalize_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers with tags as the application gave them, and no encoding named that the caller refuses."""
    takes_gzip = _accepts_gzip(Headers(raw=headers).get("accept-encoding", ""))
    plain = [
        (name, _GZIP_TAG.sub(b'"', value) if name in _CONDITIONS else value)
        for name, value in headers
        if name != b"accept-encoding"
    ]
    return [*plain, (b"accept-encoding", b"gzip" if takes_gzip else b"identity")]


def _is_gzip_tag(header: tuple[bytes, bytes]) -> bool:
    return header[0] in _CONDITIONS and _GZIP_TAG.search(header[1]) is not None


def _accepts_gzip(accepted: str) -> bool:
    """Whether gzip, or else any encoding, is named with a weight that is not 0 (RFC 9110, 12.5.3)."""
    weights: dict[str, bool] = {}
    for one in accepted.lower().split(","):
        name, *parameters = (part.strip() for part in one.split(";"))
        weights[name] = not any(re.fullmatch(r"q\s*=\s*0(\.0*)?", each) for each in parameters)
    return weights.get("gzip", weights.get("*", False))
