"""What the head of a request may say once: of two, a proxy before us and we might each believe another."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from schemas.errors import Incorrect

_KEYS: Final = frozenset((b"authorization", b"x-api-key"))
_LENGTHS: Final = frozenset((b"content-length", b"transfer-encoding"))


def check_head(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises Incorrect unless there is at most one key and one length of the body."""
    names = [name for name, _ in headers]
    if sum(name in _KEYS for name in names) > 1:
        raise Incorrect("a request has one key", remedy="Send Authorization or X-API-Key, once.")
    if sum(name in _LENGTHS for name in names) > 1:
        raise Incorrect("a body has one length", remedy="Send Content-Length or Transfer-Encoding, once.")


def shows_key(headers: Iterable[bytes]) -> bool:
    """Whether a key is among these headers, good or not."""
    return not _KEYS.isdisjoint(headers)
