"""What appetite adds to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.appetite import flow
from orchestration.features.appetite.flow import pressure_now
from schemas.operation import Called, Operation, citizen_may, group
from schemas.responses import SentIntended, expand_intended

ASKS: Final = citizen_may(
    "read",
    "citizen:ID:read; also :write with apply_feedback; LEVEL:read for N2 and N3",
    also="apply_feedback",
    narrows=True,
)
OPERATIONS: Final = group(
    "citizens",
    Operation("intend", "POST /v1/citizens/{citizen_id}/intend", "Decide what an appetite leads to, and ask it",
              ASKS, flow.send_intended, gives=SentIntended,
              call=Called(says="Decide what the appetite leads to, and ask it; with `run=False` only the "
                               "decision is told.", once="apply_feedback", reads=expand_intended)),
    Operation("read_appetite", "GET /v1/citizens/{citizen_id}/appetite", "Read what a citizen has to wake for",
              ASKS, flow.read_appetite, call=Called("appetite")),
)  # fmt: skip
FEATURE: Final = Feature("appetite", operations=OPERATIONS, sections={"pressure": pressure_now})
