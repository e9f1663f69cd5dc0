"""All operations, in the order of the documents: those of the core, and those of each feature.

A feature declares its own. What of it needs the door stands in the module of its name in this room.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Final

from api.routes import (
    citizens,
    collectives,
    episodes,
    files,
    health,
    keys,
    receipts,
    resonance,
    retrieval,
    upkeep,
    upkeep_runs,
    validation,
)
from orchestration.features.registry import FEATURES
from schemas.operation import Operation, collect


def _of_features() -> Iterator[Operation]:
    """They are found by name: a feature that is not there has none."""
    for feature in FEATURES.all:
        if Path(__file__).with_name(f"{feature.name}.py").is_file():
            yield from import_module(f"api.routes.{feature.name}").OPERATIONS
        yield from feature.operations


BEFORE: Final = collect(retrieval.OPERATIONS, resonance.OPERATIONS, tuple(_of_features()))
"""Those that come before memories and links."""
AFTER: Final = collect(
    receipts.OPERATIONS,
    episodes.OPERATIONS,
    files.OPERATIONS,
    citizens.STATES,
    citizens.FILES,
    collectives.OPERATIONS,
    upkeep.OPERATIONS,
    upkeep_runs.OPERATIONS,
    validation.OPERATIONS,
    keys.OPERATIONS,
    health.OPERATIONS,
)
