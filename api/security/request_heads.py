"""What the head of a request may say once: of two, a proxy before us and we might each believe another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.types import Scope

from schemas.errors import Incorrect

LONGEST_TARGET: Final = 16_384
"""Bytes of a path and its query; a cursor has 8,000, an id 200."""
_KEYS: Final = frozenset((b"authorization", b"x-api-key"))
_LENGTHS: Final = frozenset((b"content-length", b"transfer-encoding"))


def check_head(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises Incorrect unless there is at most one key and one length of the body."""
    names = [name for name, _ in headers]
    if sum(name in _KEYS for name in names) > 1:
        raise Incorrect("a request has one key", remedy="Send Authorization or X-API-Key, once.")
    if sum(name in _LENGTHS for name in names) > 1:
        raise Incorrect("a body has one length", remedy="Send Content-Length or Transfer-Encoding, once.")


def is_long(scope: Scope) -> bool:
    """Whether the address of a request has more than `LONGEST_TARGET` bytes."""
    return len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > LONGEST_TARGET


def shows_key(headers: Iterable[bytes]) -> bool:
    """Whether a key is among these headers, good or not."""
    return not _KEYS.isdisjoint(headers)
