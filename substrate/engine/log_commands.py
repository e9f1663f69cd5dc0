"""The commands in the engine's log, as it writes them: where each ends, and which graph it is about.

A log is a row of arrays of words (`*2`, `$4`, …), with comments (`#`) between them. It needs the standard library
alone: the engine's keeper reads it too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

LINE = b"\r\n"


class Unreadable(Exception):
    """What stands there is no command; `whole` is where the last whole one before it ends."""

    def __init__(self, whole: int) -> None:
        super().__init__(f"no command stands at byte {whole}")
        self.whole = whole


class Command(NamedTuple):
    """One command: where it ends, its name, and its first word, which names the graph or the key."""

    end: int
    name: bytes
    about: bytes


def commands(data: bytes) -> Iterator[Command]:
    """The whole commands from the beginning of `data`. Raises Unreadable where something else stands."""
    place = 0
    while place < len(data):
        end = data.find(LINE, place)
        kind = data[place : place + 1]
        if end < 0 and kind in (b"*", b"#"):
            return
        if kind == b"#":
            place = end + 2
            continue
        words = _words(data, place, end)
        if words is None:
            return
        place = words[-1][1] + 2
        spoken = [data[start:stop] for start, stop in words[:2]]
        yield Command(place, spoken[0].upper(), spoken[1] if len(spoken) > 1 else b"")


def _words(data: bytes, place: int, end: int) -> list[tuple[int, int]] | None:
    """Where the words of the command at `place` stand; None when it is not all there."""
    count = _number(data, place, end, b"*")
    found: list[tuple[int, int]] = []
    at = end + 2
    for _ in range(count):
        stop = data.find(LINE, at, at + 32)
        if stop < 0 and len(data) - at < 32:
            return None
        first = stop + 2
        last = first + _number(data, at, stop, b"$")
        if last + 2 > len(data):
            return None
        if data[last : last + 2] != LINE:
            raise Unreadable(place)
        found.append((first, last))
        at = last + 2
    return found


def _number(data: bytes, place: int, end: int, kind: bytes) -> int:
    digits = data[place + 1 : end] if end > 0 else b""
    if data[place : place + 1] != kind or not digits.isdigit() or (kind == b"*" and int(digits) == 0):
        raise Unreadable(place)
    return int(digits)


def whole_until(data: bytes) -> int:
    """Where the last whole command of `data` ends. Commands between MULTI and EXEC are one.

    Raises Unreadable where something else than a command stands.
    """
    whole = 0
    together = False
    try:
        for command in commands(data):
            together = command.name == b"MULTI" or (together and command.name != b"EXEC")
            whole = whole if together else command.end
    except Unreadable as error:
        raise Unreadable(whole) from error
    return whole
