"""What sharing adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.sharing.contested import contests_shown
from orchestration.features.sharing.operations import OPERATIONS

FEATURE: Final = Feature("sharing", operations=OPERATIONS, sections={"contested": contests_shown})
