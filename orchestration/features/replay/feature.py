"""What replay adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.replay.operations import OPERATIONS

FEATURE: Final = Feature("replay", operations=OPERATIONS)
