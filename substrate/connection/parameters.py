"""Values of the engine's compact form, which carries the type of each. Pure.

The plain form reads faster, but there a text `0.5` and the number 0.5 look the same; whatever is carried
whole, without knowing its columns, is read in this form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from schemas.errors import Fault


def typed_row(row: Sequence[Any]) -> list[Any]:
    """The Python values of a row."""
    return [value(typed) for typed in row]


def value(typed: Sequence[Any]) -> Any:
    """The Python value of `[type, value]`: a vector as an array of float32, all else as JSON has it.

    Raises Fault for a type that no property has (a node, a path, a point).
    """
    kind, raw = typed
    read = _READERS.get(kind)
    if read is None:
        raise Fault(f"the engine gave a value of type {kind}, which is no property")
    return read(raw)


def _map(pairs: Sequence[Any]) -> dict[str, Any]:
    return {pairs[place]: value(pairs[place + 1]) for place in range(0, len(pairs), 2)}


_READERS: Final[Mapping[int, Callable[[Any], Any]]] = {
    1: lambda _: None,
    2: str,
    3: int,
    4: lambda raw: raw == "true",
    5: float,
    6: lambda raw: [value(each) for each in raw],
    10: _map,
    12: lambda raw: np.array([float(each) for each in raw], np.float32),
}
"""How each type is read; the numbers are the engine's own."""
