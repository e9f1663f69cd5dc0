"""Request bodies: how large they may be, and work on large ones apart from the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fastapi import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import http_problem, invalid, problem_of
from api.request_parsing.aside import aside
from api.request_parsing.json_shape import at_most, shape_of
from schemas.bounds import DEEPEST

MAX_BODY_BYTES: Final = 8 << 20
_DRAINED_BYTES: Final = 8 * MAX_BODY_BYTES
MAX_VALUES: Final = 500_000
"""Texts, numbers, lists and maps of a body: a list of 1000 commands with every field and emotion has 300,000."""
MAX_DEPTH: Final = DEEPEST + 8
"""Lists and maps within one another: what is kept as it came, in a command, in a list, in a call over MCP."""
_DIGITS: Final = 20
MAX_SECONDS: Final = 30.0
DRAIN_SECONDS: Final = 2.0
LARGE: Final = 64 << 10
"""Bytes of a body from which on it is read beside the event loop: what is smaller takes a millisecond."""

_WORKER: Final = ThreadPoolExecutor(1, "large-bodies")


async def aside[*Given, T](size: int, work: Callable[[*Given], T], *given: *Given) -> T:
    """What the work gives; `size` is that of the body which it is about, in bytes."""
    if size < LARGE:
        return work(*given)
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work, *given)


class BodyLimit:
    """What an application that reads its bodies itself is wrapped in: it gets them whole, as `held` lets them."""

    def __init__(self, app: ASGIApp, seconds: float = MAX_SECONDS) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body, or refuse it."""
        body = await held(scope, receive, self.seconds)
        await (body(scope, receive, send) if isinstance(body, Response) else self.app(scope, body, send))


async def held(scope: Scope, receive: Receive, seconds: float = MAX_SECONDS) -> Receive | Response:
    """The body, once it is there as a whole, or the answer to one that is not read.

    413 when it is larger than `MAX_BODY_BYTES` or holds more than `MAX_VALUES`, 422 when it is nested deeper than
    `MAX_DEPTH`, 408 when it is late. One that says it is too large is answered unread.
    """
    try:
        async with asyncio.timeout(seconds):
            body = None if _announced(scope) > MAX_BODY_BYTES else await _whole_body(receive)
    except TimeoutError:
        return _closing(408, f"a body has {seconds:.0f} s to arrive; send it in parts", scope)
    if body is None:
        return _TooLarge(_closing(413, f"a body may have {MAX_BODY_BYTES >> 20} MiB; send it in parts", scope))
    content = body.get("body", b"")
    scope.setdefault("state", {})["body_bytes"] = len(content)
    refusal = await aside(len(content), _misshapen, content, str(scope["path"]))
    return refusal or _again(body, receive)


def _again(body: Message, receive: Receive) -> Receive:
    """What gives the body once more, and then what comes behind it."""
    messages = iter([body])

    async def again() -> Message:
        held_back = next(messages, None)
        return await receive() if held_back is None else held_back

    return again


def _announced(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length[:_DIGITS]) if length.isdigit() else 0


def _misshapen(body: bytes, path: str) -> Response | None:
    """The answer to a body of more values, or of more lists within one another, than any request has."""
    shape = at_most(body)
    if shape.values > MAX_VALUES or shape.depth > MAX_DEPTH:
        shape = shape_of(body)
    if shape.values > MAX_VALUES:
        return http_problem(413, path, f"a body may hold {MAX_VALUES:,} values; send it in parts")
    if shape.depth > MAX_DEPTH:
        fault = f"body: is nested too deeply: at most {MAX_DEPTH} lists and maps lie within one another"
        return problem_of(invalid([fault]), path)
    return None


def _closing(status: int, detail: str, scope: Scope) -> Response:
    refusal = http_problem(status, str(scope["path"]), detail)
    refusal.headers["connection"] = "close"
    return refusal


class _TooLarge(Response):
    """The whole answer first, its end when the client has been heard out or has left.

    What comes all the same is thrown away, up to a bound, so that a client that sends before it looks gets to see
    the answer.
    """

    def __init__(self, refusal: Response) -> None:
        super().__init__(refusal.body, refusal.status_code)
        self.raw_headers = refusal.raw_headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await send({"type": "http.response.body", "body": self.body, "more_body": True})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                await _drain(receive)
        await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    size = 0
    while size <= _DRAINED_BYTES:
        message = await receive()
        size += len(message.get("body", b""))
        if not message.get("more_body", False):
            return


async def _whole_body(receive: Receive) -> Message | None:
    """The body as one message; None when it is too large. A client that leaves ends it early."""
    kept = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message
        kept += message.get("body", b"")
        if len(kept) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return {"type": "http.request", "body": bytes(kept), "more_body": False}
