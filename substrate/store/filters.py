"""The parameters of `fragments.felt`: which memories a query takes, beside its time. Pure.

The engine stores the lists of a record as JSON: a record has a label when its text holds the label in quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from schemas.intention import Filters, RetrievalIntention
from schemas.memory import GENERALISATION, Source
from schemas.temporal import AFTER_ALL, BEGINNING_OF_TIME, to_instant
from substrate.emotions import normal_emotion

UNFILTERED: Final[Mapping[str, Any]] = {
    "unfiltered": True,
    "generalised": False,
    "asked": False,
    "node_types": [],
    "speakers": [],
    "episodes": [],
    "sources": [],
    "labels": [],
    "began_from": BEGINNING_OF_TIME,
    "began_to": AFTER_ALL,
}
"""The parameters of `fragments.fits` for a query without filters, for which what upkeep generalised is none of the
memories: each of them is there itself."""
GENERALISED: Final[Mapping[str, Any]] = {"generalised": True}
"""Beside the others: generalisations pass too."""
EVERY_MEMORY: Final[Mapping[str, Any]] = {
    "min_energy": 0.0,
    "min_confidence": 0.0,
    "required_emotions": [],
    "emotions_needed": 0,
    **UNFILTERED,
}
"""The parameters of `fragments.felt` for a query that takes every memory."""


def felt_values(intention: RetrievalIntention) -> dict[str, Any]:
    """The parameters of `fragments.felt`: the memories that the intention takes."""
    required = sorted(set(map(normal_emotion, intention.required_emotions or ())))
    return {
        "min_energy": intention.min_energy or 0.0,
        "min_confidence": intention.min_confidence or 0.0,
        "required_emotions": required,
        "emotions_needed": min(1, len(required)) if intention.emotions_match == "any" else len(required),
        **filter_values(intention.filters),
        **({} if intention.prefer is None else GENERALISED),
    }


def filter_values(filters: Filters | None) -> Mapping[str, Any]:
    """The parameters of `fragments.fits`."""
    if filters is None or filters.empty:
        return UNFILTERED
    labels = [*(("tags", tag) for tag in filters.tags), *(("buckets", bucket) for bucket in filters.buckets)]
    return {
        "unfiltered": False,
        "asked": False,
        "generalised": GENERALISATION in filters.node_types or Source.UPKEEP in filters.sources,
        "node_types": list(filters.node_types),
        "speakers": list(filters.speakers),
        "episodes": list(filters.episodes),
        "sources": [source.value for source in filters.sources],
        "labels": [[column, orjson.dumps(label).decode()] for column, label in labels],
        "began_from": BEGINNING_OF_TIME if filters.valid_from is None else to_instant(filters.valid_from),
        "began_to": AFTER_ALL if filters.valid_to is None else to_instant(filters.valid_to),
    }
