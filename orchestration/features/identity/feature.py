"""What identity adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.identity.learning import learning_moments

FEATURE: Final = Feature("identity", sections={"learning": learning_moments})
