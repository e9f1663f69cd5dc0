"""Request bodies: how large they may be, and JSON read strictly.

What the store cannot give back as it came is refused here: NaN and infinities, integers beyond 64 bits,
lone surrogates, nesting deeper than the encoder goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.needs import declared, described
from api.problems import http_problem

MAX_BODY_BYTES: Final = 8 << 20
_DRAINED_BYTES: Final = 8 * MAX_BODY_BYTES
MAX_SECONDS: Final = 30.0
DRAIN_SECONDS: Final = 2.0
_MANY_DIGITS: Final = re.compile(rb"\d{19}")


class BodyLimit:
    """Middleware that holds a request's body: 413 when it is larger than `MAX_BODY_BYTES`, 408 when it is late.

    A body that says it is too large is answered unread. What comes of it all the same is thrown away, up to a
    bound, so that a client that sends before it looks gets to see the answer.
    """

    def __init__(self, app: ASGIApp, seconds: float = MAX_SECONDS) -> None:
        self.app = app
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.seconds):
                if _announced(scope) > MAX_BODY_BYTES:
                    await _too_large(scope, receive, send)
                    return
                body = await _whole_body(receive)
        except TimeoutError:
            await _refused(408, f"a body has {self.seconds:.0f} s to arrive; send it in parts", scope)(
                scope, receive, send
            )
            return
        if body is None:
            await _too_large(scope, receive, send)
            return
        messages = iter([body])

        async def again() -> Message:
            held = next(messages, None)
            return await receive() if held is None else held

        await self.app(scope, again, send)


def _announced(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


def _refused(status: int, detail: str, scope: Scope) -> Response:
    refusal = http_problem(status, str(scope["path"]), detail)
    refusal.headers["connection"] = "close"
    return refusal


async def _too_large(scope: Scope, receive: Receive, send: Send) -> None:
    """The whole answer first, its end when the client has been heard out or has left."""
    refusal = _refused(413, f"a body may have {MAX_BODY_BYTES >> 20} MiB; send it in parts", scope)
    await send({"type": "http.response.start", "status": 413, "headers": refusal.raw_headers})
    await send({"type": "http.response.body", "body": refusal.body, "more_body": True})
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


class StrictRoute(APIRoute):
    """A route whose JSON body is read by `strict_json`, documented with what its caller needs.

    An id in the path may hold slashes. Where one ends like the address of an action, `…/history`, its own slash
    is percent-encoded: only a plain slash begins the action.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        need = declared(endpoint)
        if need is not None:
            options["openapi_extra"] = {**(options.get("openapi_extra") or {}), **described(need)}
        super().__init__(path, endpoint, **options)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this route is meant, by the path as it was sent."""
        action = self.path.rpartition("/")[2]
        sent = scope.get("raw_path") or b""
        if sent and "{" not in action and sent.rpartition(b"/")[2] != action.encode():
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, given a request that reads strictly."""
        handler = super().get_route_handler()

        async def strictly(request: Request) -> Response:
            return await handler(_StrictRequest(request.scope, request.receive))

        return strictly


class _StrictRequest(Request):
    async def body(self) -> bytes:
        """The body, which must say that it is JSON when there is one."""
        content = await super().body()
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content and not re.fullmatch(r"application/(.+\+)?json", kind):
            raise HTTPException(415, "send the body as JSON, with Content-Type: application/json")
        return content

    async def json(self) -> Any:
        """The value of the body. JSONDecodeError says what is wrong and where."""
        return strict_json(await self.body())


def strict_json(body: bytes) -> Any:
    """The value of a JSON text. Raises JSONDecodeError for what is not JSON or could not be kept as it is."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise json.JSONDecodeError(_clearer(body, error), "", error.pos) from error
    if _MANY_DIGITS.search(body):
        json.loads(body, parse_int=_of_64_bits)
    try:
        orjson.dumps([value])
    except TypeError as error:
        raise json.JSONDecodeError("it is nested too deeply", "", 0) from error
    return value


def _clearer(body: bytes, error: orjson.JSONDecodeError) -> str:
    """The decoder's words, or better ones for what other decoders would let pass."""
    try:
        json.loads(body, parse_constant=_no_number)
    except json.JSONDecodeError as plain:
        return plain.msg if plain.pos == -1 else f"{error.msg}, at character {error.pos}"
    except (ValueError, RecursionError):
        return error.msg
    return f"{error.msg}, at character {error.pos}"


def _no_number(word: str) -> Any:
    raise json.JSONDecodeError(f"{word} is no JSON number; leave the field out or give a finite number", "", -1)


def _of_64_bits(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise json.JSONDecodeError("an integer does not fit 64 bits; send it as text", "", 0)
    return int(digits)
