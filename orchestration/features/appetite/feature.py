"""What appetite adds to the core. A door asks what follows from it (`api.routes.appetite`)."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.appetite import flow
from orchestration.features.appetite.flow import pressure_now
from schemas.operation import Called, Operation, citizen_may, group

ASKS: Final = citizen_may(
    "read",
    "citizen:ID:read; also :write with apply_feedback; LEVEL:read for N2 and N3",
    also="apply_feedback",
    narrows=True,
)
OPERATIONS: Final = group(
    "citizens",
    Operation("read_appetite", "GET /v1/citizens/{citizen_id}/appetite", "Read what a citizen has to wake for",
              ASKS, flow.read_appetite, call=Called("appetite")),
)  # fmt: skip
FEATURE: Final = Feature("appetite", operations=OPERATIONS, sections={"pressure": pressure_now})
