"""What rules add to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.rules.operations import OPERATIONS
from orchestration.features.rules.queries import forget_checks
from orchestration.features.rules.stream_rules import rules_of_stream
from substrate.store.kept import Kept

FEATURE: Final = Feature(
    "rules",
    operations=OPERATIONS,
    kept=(Kept("RuleCheck", forget=forget_checks),),
    sections={"rules": rules_of_stream},
)
