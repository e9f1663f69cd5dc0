"""The operation that lists rules with their record. A door checks an action against them (`api.routes.rules`)."""

from __future__ import annotations

from typing import Final

from orchestration.features.rules import flow
from schemas.operation import Called, Operation, citizen_may, group

OPERATIONS: Final = group(
    "mind",
    Operation("list_rules", "GET /v1/citizens/{citizen_id}/rules", "List rules with their record",
              citizen_may("read", "citizen:ID:read; LEVEL:read for N2 and N3", narrows=True),
              flow.list_rules, notes=True,
              call=Called("rules", "The rules that hold, the newest first, each with how often it held, failed "
                          "and was checked.")),
)  # fmt: skip
