"""Count the values and the nesting depth of a JSON text before it is parsed. Pure.

A text of a few megabytes can hold millions of values; parsed, they take a hundred times its size, and seconds.
Counting commas and brackets takes milliseconds and hardly any memory. A text that is not JSON is counted too; the
parser refuses it later.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

_CHUNK_BYTES: Final = 1 << 20
"""Bytes counted together, so that the arrays beside the text stay small."""
_QUOTE: Final = ord('"')
_COLON: Final = ord(":")
_OPENING, _CLOSING = b"[{", b"]}"
_IGNORED, _VALUE, _IN, _OUT = range(4)


def _byte_meanings() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The meaning of each byte outside of a text: another value, one level in, one level out, or none."""
    table = np.zeros(256, np.uint8)
    table[ord(",")] = _VALUE
    table[list(_OPENING)] = _IN
    table[list(_CLOSING)] = _OUT
    return table


_BYTE_MEANINGS: Final = _byte_meanings()


class Shape(NamedTuple):
    """`values`: a key and its value count as one. `depth`: the most lists and maps nested in each other."""

    values: int
    depth: int


def shape_bound(text: bytes) -> Shape:
    """An upper bound of `measure_shape`, several times faster: it counts commas and brackets within texts too."""
    opened = sum(map(text.count, (b"[", b"{")))
    return Shape(1 + opened + text.count(b","), opened)


def measure_shape(text: bytes) -> Shape:
    """The shape of a JSON text. Each comma and each opening bracket outside of texts adds a value."""
    text = _without_escapes(text)
    values, depth, deepest, quoted = 1, 0, 0, 0
    for start in range(0, len(text), _CHUNK_BYTES):
        chunk = np.frombuffer(text, np.uint8, min(_CHUNK_BYTES, len(text) - start), start)
        inside = np.bitwise_xor.accumulate((chunk == _QUOTE).view(np.uint8)) ^ quoted
        quoted = int(inside[-1])
        meanings = _BYTE_MEANINGS[chunk[inside == 0]]
        meanings = meanings[meanings != _IGNORED]
        values += int(np.count_nonzero(meanings != _OUT))
        levels = depth + np.cumsum((meanings == _IN).astype(np.int32) - (meanings == _OUT))
        if len(levels):
            depth, deepest = int(levels[-1]), max(deepest, int(levels.max()))
    return Shape(values, deepest)


def count_pairs(text: bytes) -> int:
    """Count the name-value pairs in all maps of a JSON text; a repeated name counts each time."""
    whole = np.frombuffer(_without_escapes(text), np.uint8)
    inside = np.bitwise_xor.accumulate((whole == _QUOTE).view(np.uint8))
    return int(np.count_nonzero((whole == _COLON) & (inside == 0)))


def _without_escapes(text: bytes) -> bytes:
    """The text with escaped quotes masked, so that every quote that is left begins or ends a text."""
    return text.replace(b"\\\\", b"__").replace(b'\\"', b"__") if b"\\" in text else text
