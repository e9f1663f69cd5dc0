"""What a question is narrowed to, as the engine's queries take it. Pure.

Lists of a record are stored as JSON: one has a label when its text holds the label in quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from schemas.filters import Filters

UNFILTERED: Final[Mapping[str, Any]] = {"unfiltered": True, "node_types": [], "labels": []}
"""The values of a question that is narrowed to nothing."""


class Narrow(NamedTuple):
    """The rarest label that a question demands, by the name of its node, and how many memories have it now."""

    label: str
    members: int


def filter_values(filters: Filters | None) -> Mapping[str, Any]:
    """The values that `columns.felt` asks for."""
    if filters is None or not (filters.node_types or filters.tags or filters.buckets):
        return UNFILTERED
    labels = [*(("tags", tag) for tag in filters.tags), *(("buckets", bucket) for bucket in filters.buckets)]
    return {
        "unfiltered": False,
        "node_types": list(filters.node_types),
        "labels": [[column, orjson.dumps(label).decode()] for column, label in labels],
    }
