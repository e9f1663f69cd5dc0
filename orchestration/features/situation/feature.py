"""What the situation adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.situation.operations import OPERATIONS

FEATURE: Final = Feature("situation", operations=OPERATIONS, needs=("appetite", "rules"))
