"""What the situation adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.situation import flow
from schemas.operation import Method, Operation, citizen_may, group

OPERATIONS: Final = group(
    "mind",
    Operation("read_situation", "POST /v1/citizens/{citizen_id}/situation", "Read all that a cycle begins with",
              citizen_may("read", "citizen:ID:read; LEVEL:read for N2 and N3", narrows=True),
              flow.read_situation,
              call=Method("situation", "All that an agent of a cycle begins with: state, stimuli, window, "
                          "contexts, rules, changes, a text.")),
)  # fmt: skip
FEATURE: Final = Feature("situation", operations=OPERATIONS, needs=("appetite", "rules"))
