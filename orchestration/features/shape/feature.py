"""What resonance by shape adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.shape.flow import resonate_by_shape

FEATURE: Final = Feature("shape", sections={"by_shape": resonate_by_shape})
