"""Request bodies: how large they may be, and work on large ones off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from fastapi import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.asgi.messages import replay
from api.problems import error_response, http_error_response, invalid_request
from api.request_parsing.json_shape import measure_shape, shape_bound
from schemas.base import DEEPEST

MAX_BODY_BYTES: Final = 40 << 20
"""Room for one text of `MAX_LONG_TEXT` characters, each written as `\\uXXXX`."""
MAX_VALUES: Final = 500_000
"""The most texts, numbers, lists and maps in a body. A list of 1000 commands with all fields has 300,000."""
MAX_DEPTH: Final = DEEPEST + 8
"""The most nested lists and maps: `DEEPEST` of a stored value, 8 of the command, list and MCP call around it."""
MAX_SECONDS: Final = 30.0
LARGE_BODY_BYTES: Final = 64 << 10
"""From this size on, a body is processed off the event loop. A smaller one takes about a millisecond."""

# One worker only: several would share the interpreter lock and hold several times the memory.
_WORKER: Final = ThreadPoolExecutor(1, "large-bodies")


async def run_off_loop[*Args, T](size: int, work: Callable[[*Args], T], *args: *Args) -> T:
    """Run `work` on a body of `size` bytes: in the worker thread if it is large, else at once."""
    if size < LARGE_BODY_BYTES:
        return work(*args)
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work, *args)


class BodyLimit:
    """Reads each body whole, or refuses it over a limit; for an application that parses bodies itself."""

    def __init__(self, app: ASGIApp, seconds: float = MAX_SECONDS) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await read_body(scope, receive, self.seconds)
        await (body(scope, receive, send) if isinstance(body, Response) else self.app(scope, body, send))


async def read_body(scope: Scope, receive: Receive, seconds: float = MAX_SECONDS) -> Receive | Response:
    """Read the whole body. Returns a `receive` that replays it, or the response to a body that is refused.

    413: larger than `MAX_BODY_BYTES`, or more than `MAX_VALUES`. 422: nested deeper than `MAX_DEPTH`. 408: not
    complete in time. A body whose Content-Length is too large is refused unread.
    """
    try:
        async with asyncio.timeout(seconds):
            given = dict(scope["headers"]).get(b"content-length", b"0")
            announced = int(given[:20]) if given.isdigit() else 0
            body = None if announced > MAX_BODY_BYTES else await _whole_body(receive)
    except TimeoutError:
        slow = f"a body has {seconds:.0f} s to arrive; send it in parts"
        return http_error_response(408, scope["path"], slow, {"Connection": "close"})
    if body is None:
        large = f"a body may have {MAX_BODY_BYTES >> 20} MiB; send it in parts"
        return http_error_response(413, scope["path"], large, {"Connection": "close"})
    content = body.get("body", b"")
    scope.setdefault("state", {})["body_bytes"] = len(content)
    refusal = await run_off_loop(len(content), _refuse_shape, content, str(scope["path"]))
    return refusal or replay(body, receive)


def _refuse_shape(body: bytes, path: str) -> Response | None:
    """The response to a body with too many values or too deep nesting; None for any other."""
    shape = shape_bound(body)
    if shape.values > MAX_VALUES or shape.depth > MAX_DEPTH:
        shape = measure_shape(body)
    if shape.values > MAX_VALUES:
        return http_error_response(413, path, f"a body may hold {MAX_VALUES:,} values; send it in parts")
    if shape.depth > MAX_DEPTH:
        fault = f"body: is nested too deeply: at most {MAX_DEPTH} lists and maps may be nested"
        return error_response(invalid_request([fault]), path)
    return None


async def _whole_body(receive: Receive) -> Message | None:
    """The body as one message, or the disconnect of the client; None when the body is too large."""
    content = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return message
        content += message.get("body", b"")
        if len(content) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return {"type": "http.request", "body": bytes(content), "more_body": False}
