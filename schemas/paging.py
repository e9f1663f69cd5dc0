"""Pages: how much of a long answer is asked for, and the cursor that says where the next part begins."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from schemas.base import Request
from schemas.errors import InvalidRequest

MOST: Final = 500
"""What a page holds at most."""
_WHOLE: Final = 2**53

Cursor = Annotated[
    Annotated[str, Field(max_length=8000)] | None, Field(description="The `next` of the page before.")
]


class Paged(Request):
    """Which page: at most so many, from where the page before ended.

    A cursor keeps the moment of the first page, so that what is written in between moves nothing.
    """

    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    cursor: Cursor = None


def encode_cursor(*parts: int | str) -> str:
    """The parts as one text that callers hand back."""
    return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def decode_cursor(cursor: str, *kinds: type) -> tuple[Any, ...]:
    """The parts of a cursor, one of each kind. Raises InvalidRequest for what is no cursor of these."""
    try:
        parts = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except ValueError as error:
        raise _no_cursor() from error
    if type(parts) is not list or [type(part) for part in parts] != list(kinds) or not all(map(_fits, parts)):
        raise _no_cursor()
    return tuple(parts)


def _fits(part: int | str) -> bool:
    return "\x00" not in part if isinstance(part, str) else -_WHOLE < part <= _WHOLE


def _no_cursor() -> InvalidRequest:
    fault = "cursor: is not the `next` of a page"
    return InvalidRequest(fault, faults=(fault,))
