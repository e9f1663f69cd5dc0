"""What identity adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.identity.learning import learning_moments
from orchestration.features.identity.operations import OPERATIONS

FEATURE: Final = Feature("identity", operations=OPERATIONS, sections={"learning": learning_moments})
