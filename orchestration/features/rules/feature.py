"""What rules add to the core."""

from __future__ import annotations

from typing import Final

from orchestration.feature import Feature
from orchestration.features.rules import flow
from orchestration.features.rules.flow import rules_of_stream
from orchestration.features.rules.queries import forget_checks
from schemas.operation import Called, Operation, citizen_may, group
from substrate.store.kept import Kept

OPERATIONS: Final = group(
    "mind",
    Operation("check_rules", "POST /v1/rules/check", "Check an action against rules",
              citizen_may("read", "citizen:ID:read; also :write to be recorded; LEVEL:read for N2 and N3",
                          narrows=True),
              flow.check, notes=True,
              call=Called(says="Whether an action may be done by the citizen's rules: `allow`, `warn`, `block` "
                               "or `unchecked`.", once=True)),
    Operation("list_rules", "GET /v1/citizens/{citizen_id}/rules", "List rules with their record",
              citizen_may("read", "citizen:ID:read; LEVEL:read for N2 and N3", narrows=True),
              flow.list_rules, notes=True,
              call=Called("rules", "The rules that hold, the newest first, each with how often it held, failed "
                          "and was checked.")),
)  # fmt: skip
FEATURE: Final = Feature(
    "rules",
    operations=OPERATIONS,
    kept=(Kept("RuleCheck", forget=forget_checks),),
    sections={"rules": rules_of_stream},
)
