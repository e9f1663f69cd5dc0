"""What withholding adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.withholding.erasure_job import ErasureJob
from orchestration.features.withholding.operations import OPERATIONS
from orchestration.features.withholding.retention_job import RetentionJob
from substrate.store.kept import Kept

FEATURE: Final = Feature(
    "withholding",
    operations=OPERATIONS,
    kept=(
        Kept("Quarantine", why="has what its writer named: a source, an episode, a tag", is_carried=True),
        Kept("RetentionPolicy", why="has what its writer named", is_carried=True),
    ),
    jobs=(RetentionJob(), ErasureJob()),
)
