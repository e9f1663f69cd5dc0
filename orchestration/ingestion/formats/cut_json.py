"""Reads JSON documents of which the end may be missing: what is whole before the cut is kept. Pure."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from orchestration.ingestion.formats.parsed import File
from orchestration.ingestion.formats.reader import Reader, load_json

_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|["{}\[\]]', re.DOTALL)
_KEY: Final = re.compile(r"\s*:")
_CLOSING: Final = {"[": "]", "{": "}"}
LOOKED_AT: Final = 1 << 18
"""So many characters of a file tell by its names what it is."""


class Name(NamedTuple):
    """A name in a document, and the number of lists and objects around it."""

    depth: int
    name: str


def names_in(text: str, most: int = LOOKED_AT) -> frozenset[Name]:
    """Return the names in the first `most` characters of a document, each with its depth."""
    found: set[Name] = set()
    depth = 0
    text = text[:most]
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            depth += 1
        elif token in "}]":
            depth -= 1
        elif _KEY.match(text, match.end()):
            found.add(Name(depth, token[1:-1]))
    return frozenset(found)


def read_document(reader: Reader, file: File, depths: Collection[int]) -> Any:
    """Parse a file as one JSON value. When its end is missing, return what is whole, and keep the fault.

    `depths`: how many lists and objects stand around an item of the lists whose last, incomplete item is dropped.
    Raises InvalidRequest for a file that is not JSON, or holds no whole item.
    """
    try:
        return load_json(file.text)
    except json.JSONDecodeError as error:
        place, problem = f"line {error.lineno}, column {error.colno}", error.msg
        kept = _whole_part(file.text[: error.pos], depths)
        if kept is None:
            reader.fail(place, f"is not JSON ({problem})")
    except (ValueError, RecursionError) as error:
        reader.fail("", f"is not JSON ({error})")
    with reader.item():
        reader.fail(place, f"is cut or damaged ({problem}); only what stands before was read")
    return kept


def _whole_part(text: str, depths: Collection[int]) -> Any:
    """Return the document up to its last whole item of the lists, or None without any."""
    last = next(iter(deque(_ends_of_items(text, depths), maxlen=1)), None)
    if last is None:
        return None
    try:
        return load_json(text[: last.at] + "".join(_CLOSING[opening] for opening in reversed(last.around)))
    except (ValueError, RecursionError):
        return None


class _End(NamedTuple):
    """The place behind an item of a list, and the lists and objects that are open there."""

    at: int
    around: str


def _ends_of_items(text: str, depths: Collection[int]) -> Iterator[_End]:
    opened: list[str] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in "{[":
            opened.append(token)
        elif token in "}]" and opened:
            opened.pop()
            if len(opened) in depths and opened[-1] == "[":
                yield _End(match.end(), "".join(opened))
        elif token == '"':
            return  # a text whose end is missing: what follows are its characters
