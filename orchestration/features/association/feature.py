"""What association adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.association.flow import walk
from orchestration.features.association.values import Associations
from schemas.operation import ASKS, Method, Operation, group

OPERATIONS: Final = group(
    "retrieval",
    Operation("walk_tags", "POST /v1/associate", "Walk from words over tags and links", ASKS, walk,
              gives=Associations,
              call=Method("associate", "Memories that match the words of a question, and others that their tags "
                          "and links lead to.")),
)  # fmt: skip
FEATURE: Final = Feature("association", operations=OPERATIONS)
