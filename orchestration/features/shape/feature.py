"""What resonance by shape adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.shape.flow import look, resonate_by_shape
from schemas.operation import ASKS, Called, Operation, group

OPERATIONS: Final = group(
    "retrieval",
    Operation("perspectives", "POST /v1/perspectives", "Look at a question in three ways", ASKS, look,
              call=Called(says="A question looked at by meaning, by shape and by feeling; no memory stands in "
                               "two of them.")),
)  # fmt: skip
FEATURE: Final = Feature("shape", operations=OPERATIONS, sections={"by_shape": resonate_by_shape})
