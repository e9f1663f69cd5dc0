"""Rules with a verdict: check an action against them, list them with their record."""

from __future__ import annotations

from typing import Final

from api.dependencies import Now
from api.security.permissions import CurrentCaller, may_override
from orchestration.dependencies import Deps
from orchestration.features.rules import feature as rule_checks
from orchestration.features.rules.values import RulesCheck, RulesVerdict
from schemas.operation import Called, Operation, citizen_may, group


async def check_rules(request: RulesCheck, deps: Deps, now: Now, caller: CurrentCaller) -> RulesVerdict:
    """Whether an action may be done by the citizen's rules: `allow`, `warn`, `block`, or `unchecked`.

    No language model is asked (`docs/rules.md`). With a key that may only read, or that speaks only for tools
    or files, the check is not recorded and overrides nothing. `Substrate-Notes` lists what was assumed.
    """
    return await rule_checks.check_rules(request, deps, now, keep=may_override(caller, request.citizen_id))


CHECKS: Final = citizen_may(
    "read", "citizen:ID:read; also :write to be recorded; LEVEL:read for N2 and N3", narrows=True
)
OPERATIONS: Final = group(
    "mind",
    Operation("check_rules", "POST /v1/rules/check", "Check an action against rules",
              CHECKS, check_rules, notes=True,
              call=Called(says="Whether an action may be done by the citizen's rules: `allow`, `warn`, `block` "
                               "or `unchecked`.", once=True)),
)  # fmt: skip
