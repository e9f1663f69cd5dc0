"""How many values a JSON text holds and how deep they lie, counted before it is parsed. Pure.

A text of a few megabytes can hold millions of values, which take a hundred times its size and seconds to look
at. Counting commas and brackets takes milliseconds and nearly no memory. What is no JSON is counted as if it were:
whoever parses it afterwards says so.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

_PART: Final = 1 << 20
"""Bytes looked at together: what is held beside the text stays small."""
_QUOTE: Final = ord('"')
_COLON: Final = ord(":")
_OPENING, _CLOSING = b"[{", b"]}"
_NOTHING, _VALUE, _IN, _OUT = range(4)


def _meanings() -> np.ndarray[Any, np.dtype[np.uint8]]:
    """What each byte means outside of a text: another value, a level in or out, or nothing."""
    table = np.zeros(256, np.uint8)
    table[ord(",")] = _VALUE
    table[list(_OPENING)] = _IN
    table[list(_CLOSING)] = _OUT
    return table


_MEANING: Final = _meanings()


class Shape(NamedTuple):
    """At most so many values, a key and its value as one, in lists and maps that lie at most so deep."""

    values: int
    depth: int


def at_most(text: bytes) -> Shape:
    """The shape if no text within the JSON held a comma or a bracket: the real one is never more."""
    opened = sum(text.count(bracket) for bracket in (b"[", b"{"))
    return Shape(1 + opened + text.count(b","), opened)


def shape_of(text: bytes) -> Shape:
    """The shape of a JSON text: what stands within its own texts does not count."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    values, depth, deepest, quoted = 1, 0, 0, 0
    for start in range(0, len(text), _PART):
        part = np.frombuffer(text, np.uint8, min(_PART, len(text) - start), start)
        inside = np.bitwise_xor.accumulate((part == _QUOTE).view(np.uint8)) ^ quoted
        quoted = int(inside[-1])
        meanings = _MEANING[part[inside == 0]]
        meanings = meanings[meanings != _NOTHING]
        values += int(np.count_nonzero(meanings != _OUT))
        levels = depth + np.cumsum((meanings == _IN).astype(np.int32) - (meanings == _OUT))
        if len(levels):
            depth, deepest = int(levels[-1]), max(deepest, int(levels.max()))
    return Shape(values, deepest)


def pairs_of(text: bytes) -> int:
    """How many pairs of a name and a value the maps of a JSON text hold; a name that stands twice counts twice."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    whole = np.frombuffer(text, np.uint8)
    inside = np.bitwise_xor.accumulate((whole == _QUOTE).view(np.uint8))
    return int(np.count_nonzero((whole == _COLON) & (inside == 0)))
