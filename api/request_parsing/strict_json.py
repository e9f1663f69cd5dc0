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

from api.problems import http_problem, invalid, problem_of
from api.request_parsing.aside import aside
from api.request_parsing.json_shape import at_most, pairs_of, shape_of
from api.security.permissions import declared, described
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
_MANY_DIGITS: Final = re.compile(rb"\d{19}")


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
        """The handler, given a request that reads strictly; whom no body could let through is refused unread."""
        handler = super().get_route_handler()
        need = declared(self.endpoint)

        async def strictly(request: Request) -> Response:
            if need is not None:
                need.beforehand(request.state.caller, request.path_params)
            body = await held(request.scope, request.receive)
            return body if isinstance(body, Response) else await handler(_StrictRequest(request.scope, body))

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
        body = await self.body()
        return await aside(len(body), strict_json, body)


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
    pairs = _pairs(value)
    if pairs not in (body.count(b":"), pairs_of(body)):
        raise json.JSONDecodeError("a name stands twice in one object; leave one of them out", "", 0)
    return value


def _pairs(value: Any) -> int:
    """How many pairs of a name and a value all objects hold together."""
    found, left = 0, [value]
    while left:
        part = left.pop()
        if isinstance(part, dict):
            found += len(part)
            left += part.values()
        elif isinstance(part, list):
            left += part
    return found


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
