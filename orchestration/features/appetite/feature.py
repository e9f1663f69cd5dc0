"""What appetite adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.appetite.appetite import pressure_now
from orchestration.features.appetite.operations import OPERATIONS

FEATURE: Final = Feature("appetite", operations=OPERATIONS, sections={"pressure": pressure_now})
