"""Request bodies: how large they may be, work on large ones off the event loop, and strict JSON.

Refused is what the store could not return unchanged: NaN and infinities, integers beyond 64 bits, lone surrogates,
nesting deeper than the encoder supports, and a name that appears twice in one object.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.asgi.messages import replay
from api.problems import error_response, http_error_response, invalid_request
from api.request_parsing.json_shape import count_pairs, measure_shape, shape_bound
from api.security.permissions import check_path, may_of
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


_MANY_DIGITS: Final = re.compile(rb"\d{19}")


class StrictRoute(APIRoute):
    """A route whose JSON body is read by `parse_strict_json`, and whose permission is documented.

    An id in the path may contain slashes. An action such as `…/history` begins with a plain slash; in an id that
    ends with the same text, that slash must be percent-encoded.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        may = may_of(endpoint)
        if may is not None:
            options["openapi_extra"] = {**(options.get("openapi_extra") or {}), "x-needs": may.says}
        super().__init__(path, endpoint, **options)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match on the path as it was sent, still percent-encoded, where the route ends with an action."""
        action = self.path.rpartition("/")[2]
        sent = scope.get("raw_path") or b""
        if sent and "{" not in action and sent.rpartition(b"/")[2] != action.encode():
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, with the path checked against the permission before the body is read."""
        handler = super().get_route_handler()
        may = may_of(self.endpoint)

        async def handle(request: Request) -> Response:
            if may is not None:
                check_path(may, request.state.caller, request.path_params)
            body = await read_body(request.scope, request.receive)
            return body if isinstance(body, Response) else await handler(_StrictRequest(request.scope, body))

        return handle


class _StrictRequest(Request):
    async def body(self) -> bytes:
        """The body. Raises HTTPException 415 unless its Content-Type is JSON; an empty body needs none."""
        content = await super().body()
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content and not re.fullmatch(r"application/(.+\+)?json", kind):
            raise HTTPException(415, "send the body as JSON, with Content-Type: application/json")
        return content

    async def json(self) -> Any:
        """The value of the body. Raises JSONDecodeError with what is wrong and where."""
        body = await self.body()
        return await run_off_loop(len(body), parse_strict_json, body)


def parse_strict_json(body: bytes) -> Any:
    """The value of a JSON text. Raises JSONDecodeError when it is not JSON, or could not be stored unchanged."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise json.JSONDecodeError(_clearer_message(body, error), "", error.pos) from error
    if _MANY_DIGITS.search(body):
        json.loads(body, parse_int=_parse_64_bit_integer)
    try:
        orjson.dumps([value])
    except TypeError as error:
        raise json.JSONDecodeError("it is nested too deeply", "", 0) from error
    pairs = _count_parsed_pairs(value)
    # There are as many colons as pairs, unless texts contain colons too: only then is the exact count needed.
    if pairs != body.count(b":") and pairs != count_pairs(body):
        raise json.JSONDecodeError("a name stands twice in one object; leave one of them out", "", 0)
    return value


def _count_parsed_pairs(value: Any) -> int:
    """Count the name-value pairs in all objects within the value."""
    count, rest = 0, [value]
    while rest:
        part = rest.pop()
        if isinstance(part, dict):
            count += len(part)
            rest += part.values()
        elif isinstance(part, list):
            rest += part
    return count


def _clearer_message(body: bytes, error: orjson.JSONDecodeError) -> str:
    """The decoder's message, or a better one for what lenient decoders accept, such as NaN."""
    try:
        json.loads(body, parse_constant=_refuse_constant)
    except json.JSONDecodeError as plain:
        return plain.msg if plain.pos == -1 else f"{error.msg}, at character {error.pos}"
    except (ValueError, RecursionError):
        return error.msg
    return f"{error.msg}, at character {error.pos}"


def _refuse_constant(constant: str) -> Any:
    raise json.JSONDecodeError(
        f"{constant} is no JSON number; leave the field out or give a finite number", "", -1
    )


def _parse_64_bit_integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise json.JSONDecodeError("an integer does not fit 64 bits; send it as text", "", 0)
    return int(digits)
