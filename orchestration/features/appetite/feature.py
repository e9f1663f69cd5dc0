"""What appetite adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.appetite.appetite import pressure_now

FEATURE: Final = Feature("appetite", sections={"pressure": pressure_now})
