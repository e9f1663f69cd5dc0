"""Rules with a verdict: check an action against them, list them with their record."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.addresses import add_notes
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import RULES, RULES_LIST, may_override
from api.security.permissions import CurrentCaller, requires
from orchestration.features.rules import flow as rule_checks
from orchestration.features.rules.values import RulesAnswer, RulesCheck, RulesPage, RulesVerdict
from schemas.base import CitizenId

router = APIRouter(prefix="/v1", tags=["mind"], route_class=StrictRoute)


@router.post("/rules/check", operation_id="check_rules")
@requires(RULES)
async def check_rules(
    request: RulesCheck, runtime: OpenRuntime, now: Now, caller: CurrentCaller, response: Response
) -> RulesVerdict:
    """Whether an action may be done by the citizen's rules: `allow`, `warn`, `block`, or `unchecked`.

    No language model is asked (`docs/rules.md`). With a key that may only read, or that speaks only for tools
    or files, the check is not recorded and overrides nothing. `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, request)
    return await rule_checks.check_rules(request, runtime.deps, now, keep=may_override(caller, request.citizen_id))


@router.get("/citizens/{citizen_id}/rules", operation_id="list_rules")
@requires(RULES_LIST)
async def list_rules(
    citizen_id: CitizenId, query: Annotated[RulesPage, Query()], runtime: OpenRuntime, now: Now, response: Response
) -> RulesAnswer:
    """The rules that hold, a page at a time, each with how often it held, failed, was checked and overridden.

    `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, query)
    return await rule_checks.list_rules(citizen_id, query, runtime.deps, now)
