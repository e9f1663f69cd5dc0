"""Parse JSON bodies strictly.

Refuses what the store could not return unchanged: NaN and infinities, integers beyond 64 bits, lone surrogates,
nesting deeper than the encoder supports, and a name that appears twice in one object.
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

from api.request_parsing.body_limit import read_body, run_off_loop
from api.request_parsing.json_shape import count_pairs
from api.security.permissions import check_path, may_of

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
