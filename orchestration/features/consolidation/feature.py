"""What consolidation adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.consolidation.job import ConsolidationJob

FEATURE: Final = Feature("consolidation", jobs=(ConsolidationJob(),))
