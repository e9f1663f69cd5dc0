"""Request bodies: how large they may be, and JSON read strictly.

What the store cannot give back as it came is refused here: NaN and infinities, integers beyond 64 bits,
lone surrogates, nesting deeper than the encoder goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any, Final

import orjson
from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from api.request_parsing.body_limit import aside, held
from api.request_parsing.json_shape import pairs_of
from api.security.permissions import declared, described

_MANY_DIGITS: Final = re.compile(rb"\d{19}")


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
