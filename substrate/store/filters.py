"""The parameters of `fragments.felt`: which memories a query takes, beside its time. Pure.

The engine stores the lists of a record as JSON: a record has a label when its text holds the label in quotes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from schemas.intention import Filters

UNFILTERED: Final[Mapping[str, Any]] = {"unfiltered": True, "node_types": [], "labels": []}
"""The parameters of `fragments.fits` for a query without filters."""


def felt_values(
    *,
    min_energy: float = 0.0,
    min_confidence: float = 0.0,
    required_emotions: Sequence[str] = (),
    filters: Filters | None = None,
) -> dict[str, Any]:
    """The parameters of `fragments.felt`; by default every memory is taken."""
    return {
        "min_energy": min_energy,
        "min_confidence": min_confidence,
        "required_emotions": list(required_emotions),
        **filter_values(filters),
    }


def filter_values(filters: Filters | None) -> Mapping[str, Any]:
    """The parameters of `fragments.fits`."""
    if filters is None or not (filters.node_types or filters.tags or filters.buckets):
        return UNFILTERED
    labels = [*(("tags", tag) for tag in filters.tags), *(("buckets", bucket) for bucket in filters.buckets)]
    return {
        "unfiltered": False,
        "node_types": list(filters.node_types),
        "labels": [[column, orjson.dumps(label).decode()] for column, label in labels],
    }
