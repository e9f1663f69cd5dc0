"""A named query text."""

from __future__ import annotations

import re
from functools import cache
from typing import Final, NamedTuple

_FIRST: Final = {"Trace": "Trace", "PastTrace": "PastTrace", "HAS_TRACE": "HAS_TRACE"}
_SECOND: Final = {"Trace": "TraceB", "PastTrace": "PastTraceB", "HAS_TRACE": "HAS_TRACE_B"}
_NAMES: Final = tuple(
    {
        **own,
        **{name.replace("HAS_", "HAS_OTHER_") if "_" in name else f"Other{name}": other[name] for name in other},
    }
    for own, other in ((_FIRST, _SECOND), (_SECOND, _FIRST))
)
TRACE_LABELS: Final = tuple(names[label] for names in (_FIRST, _SECOND) for label in ("Trace", "PastTrace"))
TRACE_TYPES: Final = tuple(names["HAS_TRACE"] for names in (_FIRST, _SECOND))
"""What the satellites of both generations are called in a graph."""
_TRACE_NAME: Final = re.compile(r"\b(?:Other)?(?:Past)?Trace\b|\bHAS_(?:OTHER_)?TRACE\b")


class Query(NamedTuple):
    """A fixed query text under the name by which errors and timings call it.

    The vectors of a graph lie on one of two generations of satellites, so that another model's can be made
    beside those in use. A text says `Trace`, `PastTrace` and `HAS_TRACE` of the generation in use, and
    `OtherTrace`, `OtherPastTrace` and `HAS_OTHER_TRACE` of the other one.
    """

    name: str
    text: str

    def of(self, generation: int) -> str:
        """The text for a graph whose generation in use is 0 or 1; each is made once."""
        return _written(self.text, generation)


def role_of(label: str) -> str:
    """What a label of either generation is called in a text: `Trace` or `PastTrace`."""
    return next((role for names in (_FIRST, _SECOND) for role, name in names.items() if name == label), label)


@cache
def _written(text: str, generation: int) -> str:
    return _TRACE_NAME.sub(lambda found: _NAMES[generation][found[0]], text)
