"""What revaluation adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.revaluation.job import RevaluationJob
from orchestration.features.revaluation.queries import forget_stamps
from substrate.store.kept import Kept

FEATURE: Final = Feature(
    "revaluation", kept=(Kept("Revaluation", forget=forget_stamps),), jobs=(RevaluationJob(),)
)
