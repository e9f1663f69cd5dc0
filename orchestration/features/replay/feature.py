"""What replay adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature

FEATURE: Final = Feature("replay")
