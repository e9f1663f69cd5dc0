"""How much a request may hold: lengths and depths that are asked before any value is looked at. Pure.

Validating a list costs most where every element is wrong: each fault is kept. So what is too long is refused by
its length alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import PydanticCustomError, PydanticKnownError, core_schema

MOST_FIELDS: Final = 200
"""Fields of one object of a request, known ones and others: six times what the largest one has."""
LONGEST_TIME: Final = 64
"""Characters of a written time: the longest form there is takes half as many."""
DEEPEST: Final = 32
"""Lists and maps within one another in what is kept as it came."""


@dataclass(frozen=True, slots=True)
class AtMost:
    """The mark of a list or a map: it holds at most `most` elements, or none of them is looked at."""

    most: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """The schema of the list or map, with its length asked first."""
        inner: Any = handler(source)
        kind = {"tuple": "Tuple", "list": "List", "dict": "Dictionary"}[inner["type"]]
        inner["max_length"] = self.most

        def bounded(raw: Any) -> Any:
            if isinstance(raw, list | tuple | dict) and len(raw) > self.most:
                said = {"field_type": kind, "max_length": self.most, "actual_length": len(raw)}
                raise PydanticKnownError("too_long", said)
            return raw

        return core_schema.no_info_before_validator_function(bounded, inner)


def few_fields(raw: Any) -> Any:
    """What came in for an object. Raises an error of pydantic's when it has more fields than any object has."""
    if isinstance(raw, dict) and len(raw) > MOST_FIELDS:
        said = {"count": len(raw), "most": MOST_FIELDS}
        raise PydanticCustomError("too_many_fields", "has {count} fields, at most {most} are read", said)
    return raw


def is_deeper(value: Any, most: int) -> bool:
    """Whether lists and maps lie more than `most` deep in the value, itself counted."""
    layer = _containers((value,))
    for _ in range(most):
        if not layer:
            return False
        layer = [inner for one in layer for inner in _containers(one.values() if isinstance(one, dict) else one)]
    return bool(layer)


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list | tuple)]
