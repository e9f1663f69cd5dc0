"""Encode the parameters of a query, and decode the typed values of the engine's compact replies. Pure.

Plain replies are read faster, but in them the text `0.5` and the number 0.5 look the same. Whole records, whose
columns are not known, are read from compact replies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import orjson

from schemas.errors import Fault

_INT64 = 2**63


def parameters(values: Mapping[str, Any]) -> str:
    """Return the header that defines the parameters of a query text. Raises Fault for a value of any type but str,
    int (64 bit), finite float, bool, None, list and dict: the driver would write any other value into the query
    without escaping it."""
    return "CYPHER " + " ".join(f"{name}={_encode(name, value)}" for name, value in values.items()) + " "


def _encode(name: str, value: Any) -> str:
    write = _WRITERS.get(type(value))
    if write is None:
        raise Fault(f"parameter {name} has the type {type(value).__name__}, which may not enter a query")
    return write(name, value)


def _refuse(name: str, value: Any) -> Fault:
    return Fault(f"parameter {name} holds a value that cannot enter a query: {str(value)[:40]!r}")


def _list(name: str, values: list[Any]) -> str:
    # A list of numbers, or of texts, is written much faster as a whole.
    kinds = set(map(type, values))
    if kinds == {float} and math.isfinite(sum(values)):  # so every number is finite
        return orjson.dumps(values).decode()
    if kinds == {str}:
        whole = "".join(values)
        if "\\" not in whole and '"' not in whole and "\x00" not in whole:
            return f'["{'","'.join(values)}"]'
    return f"[{','.join([_encode(name, item) for item in values])}]"


def _dict(name: str, values: dict[Any, Any]) -> str:
    parts: list[str] = []
    for key, item in values.items():
        if type(key) is not str or not key or "`" in key or "\x00" in key:
            raise Fault(f"parameter {name} holds a map whose key cannot enter a query: {str(key)[:40]!r}")
        parts.append(f"`{key}`:{_encode(name, item)}")
    return f"{{{','.join(parts)}}}"


def _text(name: str, text: str) -> str:
    if "\x00" in text:
        raise _refuse(name, text)
    if "\\" in text:
        text = text.replace("\\", "\\\\")
    if '"' in text:
        text = text.replace('"', '\\"')
    return f'"{text}"'


def _number(name: str, number: float) -> str:
    if not (math.isfinite(number) if isinstance(number, float) else -_INT64 <= number < _INT64):
        raise _refuse(name, number)
    return str(number)


_WRITERS: Final[Mapping[type, Callable[[str, Any], str]]] = {
    str: _text,
    int: _number,
    float: _number,
    bool: lambda _, value: str(value),
    type(None): lambda _, value: "null",
    list: _list,
    dict: _dict,
}
"""What writes a value of each type that may enter a query, given the name of its parameter."""


def typed_row(row: Sequence[Any]) -> list[Any]:
    """Return the Python values of a row of a compact reply. Raises Fault as `value` does."""
    return list(map(value, row))


def value(typed: Sequence[Any]) -> Any:
    """Return the Python value of `[type, value]`: a vector as a float32 array, anything else in its JSON form.
    Raises Fault for a type that no property has (a node, a path, a point)."""
    kind, raw = typed
    read = _READERS.get(kind)
    if read is None:
        raise Fault(f"the engine returned a value of type {kind}, which no property can have")
    return read(raw)


_READERS: Final[Mapping[int, Callable[[Any], Any]]] = {
    1: lambda _: None,
    2: str,
    3: int,
    4: lambda raw: raw == "true",
    5: float,
    6: lambda raw: list(map(value, raw)),
    10: lambda pairs: {pairs[index]: value(pairs[index + 1]) for index in range(0, len(pairs), 2)},
    12: lambda raw: np.array(list(map(float, raw)), np.float32),
}
"""Functions that read a raw value, by the engine's own type numbers."""
