"""Pages of a long answer, and their cursors."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from schemas.base import Request
from schemas.errors import InvalidRequest

MOST: Final = 500
"""The most items of a page."""
_WHOLE: Final = 2**53

Cursor = Annotated[
    Annotated[str, Field(max_length=8000)] | None, Field(description="The `next` of the previous page.")
]


class Paged(Request):
    """One page: at most `limit` items after `cursor`.

    A cursor keeps the moment of the first page: later writes do not move items between pages.
    """

    limit: Annotated[int, Field(ge=1, le=MOST)] = 50
    cursor: Cursor = None


def first_page[T](
    found: Sequence[T], limit: int, place: Callable[[T], tuple[int | str, ...]]
) -> tuple[Sequence[T], str | None]:
    """At most `limit` of what was found, and the cursor of the page after it; None where nothing is left.

    `place`: where an item stands, which becomes the cursor behind it.
    """
    shown = found[:limit]
    return shown, encode_cursor(*place(shown[-1])) if len(found) > limit else None


def encode_cursor(*parts: int | str) -> str:
    """The parts as one opaque text."""
    return urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


def decode_cursor(cursor: str, *kinds: type) -> tuple[Any, ...]:
    """The parts of a cursor, one of each type in `kinds`. Raises InvalidRequest for any other text."""
    fault = "cursor: is not the `next` of a page"
    try:
        parts = orjson.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        fit = type(parts) is list and list(map(type, parts)) == list(kinds)
        for part in parts if fit else ():
            fit &= "\x00" not in part if isinstance(part, str) else -_WHOLE < part <= _WHOLE
        if not fit:
            raise ValueError(fault)
    except ValueError as error:
        raise InvalidRequest(fault, faults=(fault,)) from error
    return tuple(parts)
