"""What identity adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.identity import flow, learning
from orchestration.features.identity.learning import learning_moments
from schemas.operation import Operation, citizen_may, group

LEARNED: Final = group(
    "citizens",
    Operation("list_dissonances", "GET /v1/citizens/{citizen_id}/dissonances", "List beliefs that changed",
              citizen_may("read"), learning.learning_page, notes=True, call="dissonances"),
)  # fmt: skip
COMPARED: Final = group(
    "citizens",
    Operation("compare_identity", "GET /v1/citizens/{citizen_id}/identity/diff", "Read what changed in a citizen",
              citizen_may("read"), flow.read_identity_diff, call="identity_diff"),
)  # fmt: skip
OPERATIONS: Final = (*LEARNED, *COMPARED)
FEATURE: Final = Feature("identity", operations=OPERATIONS, sections={"learning": learning_moments})
