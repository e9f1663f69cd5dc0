"""What tagging adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.tagging.job import TagsJob

FEATURE: Final = Feature("tagging", jobs=(TagsJob(),))
