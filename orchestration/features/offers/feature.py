"""What offers add to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.offers.open_offers import offers_of_waking
from orchestration.features.offers.operations import OPERATIONS

FEATURE: Final = Feature("offers", operations=OPERATIONS, sections={"offers": offers_of_waking})
