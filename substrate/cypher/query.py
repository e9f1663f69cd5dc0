"""A named query text, and the names of a graph's two generations of vectors. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from substrate.cypher.fragments import felt, fits, told

_LABELS: Final = ("Trace", "PastTrace", "PassageTrace")
_FIRST: Final = {**{label: label for label in _LABELS}, "HAS_TRACE": "HAS_TRACE"}
_SECOND: Final = {**{label: f"{label}B" for label in _LABELS}, "HAS_TRACE": "HAS_TRACE_B"}
TRACE_LABELS: Final = tuple(names[label] for names in (_FIRST, _SECOND) for label in _LABELS)
TRACE_TYPES: Final = tuple(names["HAS_TRACE"] for names in (_FIRST, _SECOND))
"""Labels and relationship types of the trace nodes of both generations, as they are stored."""
_PLACEHOLDER: Final = re.compile(r"\b(?:Other)?(?:Past|Passage)?Trace\b|\bHAS_(?:OTHER_)?TRACE\b")
_FITTING: Final = re.compile(r"\((\w+)\.node_type <>")
_FILTERING: Final = ("generalised", "min_energy", "min_confidence", "emotions_needed")
"""With these parameters too `felt` has to be asked."""
_PARAMETER: Final = re.compile(r"\$(\w+)")


class Query(NamedTuple):
    """A query text, and its name in errors and timings.

    The vectors of a graph are on trace nodes of one of two generations, so that vectors of another model can be
    added beside those in use. A text writes `Trace`, `PastTrace`, `PassageTrace` and `HAS_TRACE` for the
    generation in use, and `OtherTrace`, `OtherPastTrace`, `OtherPassageTrace` and `HAS_OTHER_TRACE` for the other
    one.
    """

    name: str
    text: str

    def for_generation(self, generation: int) -> str:
        """Return the text with the stored names, for a graph that uses generation 0 or 1. Cached."""
        return _with_stored_names(self.text, generation)

    def for_values(self, values: Mapping[str, Any]) -> Query:
        """The query without the conditions that every sound record meets with these parameters. Cached.

        A damaged record, whose energy or confidence is no number of at least 0, is found by no question.
        """
        if not values.get("unfiltered") or any(values.get(name) for name in _FILTERING):
            return self
        return _without_filters(self)

    def parameters(self) -> frozenset[str]:
        """The names of the parameters in the text. Cached."""
        return _parameters_of(self.text)


def trace_role(label: str) -> str:
    """The label without its generation, for a stored label of a trace; any other label unchanged."""
    roles = {stored: role for names in (_FIRST, _SECOND) for role, stored in names.items()}
    return roles.get(label, label)


@cache
def _without_filters(query: Query) -> Query:
    text = query.text
    for name in set(_FITTING.findall(text)):
        sound = f"{name}.energy >= 0.0 AND {name}.confidence >= 0.0"
        text = text.replace(felt(name), f"{sound} AND {told(name)}").replace(fits(name), told(name))
    return Query(query.name, text)


@cache
def _with_stored_names(text: str, generation: int) -> str:
    in_use, other = (_FIRST, _SECOND) if generation == 0 else (_SECOND, _FIRST)
    stored = dict(in_use)
    for name in other:
        of_other = name.replace("HAS_", "HAS_OTHER_") if name.startswith("HAS_") else f"Other{name}"
        stored[of_other] = other[name]
    return _PLACEHOLDER.sub(lambda match: stored[match[0]], text)


@cache
def _parameters_of(text: str) -> frozenset[str]:
    return frozenset(_PARAMETER.findall(text))
