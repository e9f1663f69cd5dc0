"""All operations, in the order of the documents: those of the core, and those of each feature.

A feature declares its own. What of it needs the door stands in the module of its name in this room.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from api.routes import citizens, episodes, feed, health, keys, memories, receipts, retrieval, upkeep
from orchestration.features.registry import FEATURES
from schemas.operation import Operation, collect


def _of_features() -> Iterator[Operation]:
    """They are found by name: a feature that is not there has none."""
    for feature in FEATURES.all:
        if Path(__file__).with_name(f"{feature.name}.py").is_file():
            yield from import_module(f"api.routes.{feature.name}").OPERATIONS
        yield from feature.operations


OPERATIONS: Final = collect(
    retrieval.OPERATIONS,
    tuple(_of_features()),
    memories.OPERATIONS,
    receipts.OPERATIONS,
    feed.OPERATIONS,
    episodes.OPERATIONS,
    citizens.OPERATIONS,
    upkeep.OPERATIONS,
    memories.VALIDATION,
    keys.OPERATIONS,
    health.OPERATIONS,
)
