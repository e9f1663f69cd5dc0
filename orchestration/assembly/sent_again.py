"""A stream as it was sent, which is sent again with other ids and times. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from schemas.stream import ConsciousnessStream

OWN: Final = ("stream_id", "intention_id", "retrieved_at", "retrieval_latency_ms", "stage_ms")
"""The fields that each answer has for itself."""


class SentStream(NamedTuple):
    """The JSON of a stream: before each of the fields `OWN` that it has, what stands there, and what ends it."""

    pieces: tuple[tuple[bytes, str], ...]
    rest: bytes

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.rest) + sum(len(piece) for piece, _ in self.pieces)

    def again(self, stream: ConsciousnessStream) -> bytes:
        """The same JSON with the fields `OWN` of this stream."""
        values = vars(stream)
        found = b"".join(piece + _dump(values[name]) for piece, name in self.pieces)
        return b"{" + found + self.rest + b"}"


def as_sent(body: bytes) -> SentStream:
    """What was sent, to be sent again."""
    pieces: list[tuple[bytes, str]] = []
    between: dict[str, Any] = {}
    for name, value in orjson.loads(body).items():
        if name in OWN:
            pieces.append(
                (b"".join(_members(between, first=not pieces)) + _name(name, bool(pieces or between)), name)
            )
            between = {}
        else:
            between[name] = value
    return SentStream(tuple(pieces), b"".join(_members(between, first=not pieces)))


def _members(fields: Mapping[str, Any], *, first: bool) -> Iterator[bytes]:
    """The members of an object, each after the first of all with a comma before it."""
    for name, value in fields.items():
        yield _name(name, not first) + _dump(value)
        first = False


def _name(name: str, after_others: bool) -> bytes:
    return (b"," if after_others else b"") + _dump(name) + b":"


def _dump(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)
