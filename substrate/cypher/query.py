"""A named query text, and the names of a graph's two generations of vectors. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from substrate.cypher.fragments import fill_filters

_LABELS: Final = ("Trace", "PastTrace", "PassageTrace")
_FIRST: Final = {**{label: label for label in _LABELS}, "HAS_TRACE": "HAS_TRACE"}
_SECOND: Final = {**{label: f"{label}B" for label in _LABELS}, "HAS_TRACE": "HAS_TRACE_B"}
TRACE_LABELS: Final = tuple(names[label] for names in (_FIRST, _SECOND) for label in _LABELS)
TRACE_TYPES: Final = tuple(names["HAS_TRACE"] for names in (_FIRST, _SECOND))
"""Labels and relationship types of the trace nodes of both generations, as they are stored."""
_PLACEHOLDER: Final = re.compile(r"\b(?:Other)?(?:Past|Passage)?Trace\b|\bHAS_(?:OTHER_)?TRACE\b")
_FILTERING: Final = ("generalised", "min_energy", "min_confidence", "emotions_needed")
"""With these parameters too `felt` has to be asked."""
_PARAMETER: Final = re.compile(r"\$(\w+)")


class Query(NamedTuple):
    """A query text, and its name in errors and timings.

    The vectors of a graph are on trace nodes of one of two generations, so that vectors of another model can be
    added beside those in use. A text writes `Trace`, `PastTrace`, `PassageTrace` and `HAS_TRACE` for the
    generation in use, and `OtherTrace`, `OtherPastTrace`, `OtherPassageTrace` and `HAS_OTHER_TRACE` for the other
    one. The conditions of a question stand in it as the places that `felt` and `fits` leave for them.
    """

    name: str
    body: str

    @property
    def text(self) -> str:
        """The body with every condition. Cached."""
        return _filled(self.body, filtered=True)

    def for_generation(self, generation: int) -> str:
        """Return the text with the stored names, for a graph that uses generation 0 or 1. Cached."""
        return _with_stored_names(self.text, generation)

    def for_values(self, values: Mapping[str, Any]) -> Query:
        """The query without the conditions that every sound record meets with these parameters. Cached."""
        if not values.get("unfiltered") or any(map(values.get, _FILTERING)):
            return self
        return Query(self.name, _filled(self.body, filtered=False))

    def parameters(self) -> frozenset[str]:
        """The names of the parameters in the text. Cached."""
        return _parameters_of(self.text)


class QueryPair(NamedTuple):
    """A query on the present records alone, and the same on any moment, which reads past records too."""

    now: Query
    then: Query

    @classmethod
    def of(cls, name: str, now: str, then: str) -> QueryPair:
        """The pair of these texts, named `name_now` and `name_then`."""
        return cls(Query(f"{name}_now", now), Query(f"{name}_then", then))


def trace_role(label: str) -> str:
    """The label without its generation, for a stored label of a trace; any other label unchanged."""
    roles = {stored: role for names in (_FIRST, _SECOND) for role, stored in names.items()}
    return roles.get(label, label)


@cache
def _filled(body: str, *, filtered: bool) -> str:
    return fill_filters(body, filtered=filtered)


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
