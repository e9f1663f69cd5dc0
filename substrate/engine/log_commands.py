"""Commands in the engine's append-only log: where each one ends and which graph it concerns. Pure.

A log is a sequence of RESP arrays (`*2`, `$4`, ...), with comment lines (`#`) between them. Only the standard
library is imported: the engine's keeper reads the log too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

LINE_END: Final = b"\r\n"
_HEADER_LIMIT: Final = 32
"""The most bytes of the line that holds a word's length."""


class Unreadable(Exception):
    """The bytes are no command; the last complete command before them ends at `readable_bytes`."""

    def __init__(self, readable_bytes: int) -> None:
        super().__init__(f"no command at byte {readable_bytes}")
        self.readable_bytes = readable_bytes


class LogCommand(NamedTuple):
    """A command, the byte after it, and its first argument, which is the name of a graph or key."""

    end: int
    name: bytes
    key: bytes


def commands(data: bytes) -> Iterator[LogCommand]:
    """The complete commands from the start of `data`. Raises Unreadable at bytes that are no command."""
    position = 0
    while position < len(data):
        end = data.find(LINE_END, position)
        kind = data[position : position + 1]
        if end < 0 and kind in (b"*", b"#"):
            return
        if kind == b"#":
            position = end + 2
            continue
        spans = _word_spans(data, position, end)
        if spans is None:
            return
        position = spans[-1][1] + 2
        words = [data[start:stop] for start, stop in spans[:2]]
        yield LogCommand(position, words[0].upper(), words[1] if len(words) > 1 else b"")


def _word_spans(data: bytes, position: int, end: int) -> list[tuple[int, int]] | None:
    """Start and end of each word of the command at `position`; None when the command is incomplete."""
    count = _length(data, position, end, b"*")
    spans: list[tuple[int, int]] = []
    header = end + 2
    for _ in range(count):
        stop = data.find(LINE_END, header, header + _HEADER_LIMIT)
        if stop < 0 and len(data) - header < _HEADER_LIMIT:
            return None
        first = stop + 2
        last = first + _length(data, header, stop, b"$")
        if last + 2 > len(data):
            return None
        if data[last : last + 2] != LINE_END:
            raise Unreadable(position)
        spans.append((first, last))
        header = last + 2
    return spans


def _length(data: bytes, position: int, end: int, kind: bytes) -> int:
    digits = data[position + 1 : end] if end > 0 else b""
    if data[position : position + 1] != kind or not digits.isdigit() or (kind == b"*" and int(digits) == 0):
        raise Unreadable(position)
    return int(digits)


def readable_bytes(data: bytes) -> int:
    """Return the length of the complete commands at the start of `data`; MULTI to EXEC counts as one command.
    Raises Unreadable at bytes that are no command."""
    complete = 0
    in_transaction = False
    try:
        for command in commands(data):
            in_transaction = command.name == b"MULTI" or (in_transaction and command.name != b"EXEC")
            complete = complete if in_transaction else command.end
    except Unreadable as error:
        raise Unreadable(complete) from error
    return complete
