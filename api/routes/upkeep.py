"""Upkeep: check whole graphs, report their state, and run repairs."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.dependencies import Now, OpenRuntime
from api.problems import refusal_error
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import CurrentCaller, requires
from api.security.upkeep_permissions import REPAIR, SWEEP
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.sweep import sweep
from schemas.upkeep import ApplyCommand, RepairOutcome, RepairRequest, SweepAnswer, SweepRequest

router = APIRouter(prefix="/v1/upkeep", tags=["upkeep"], route_class=StrictRoute)


@router.post("/sweep", response_model=SweepAnswer, operation_id="sweep")
@requires(SWEEP)
async def sweep_graphs(request: SweepRequest, runtime: OpenRuntime) -> Response:
    """Check the graphs page by page while others read and write. With `limit` it checks one batch.

    A whole graph takes about a second for each thousand memories.
    """
    answer = await sweep(request, runtime.deps)
    return Response(answer.model_dump_json(), media_type="application/json")


@router.post("/repair", operation_id="repair")
@requires(REPAIR)
async def repair(request: RepairRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> RepairOutcome:
    """Run the task of a finding. `gone`: the finding no longer holds, and nothing was changed."""
    target = request.task.command if isinstance(request.task, ApplyCommand) else request.task
    outcome = await run_repair(request.task, runtime.deps, now, caller.writer_of(target.level, target.citizen_id))
    if outcome.receipt is not None and outcome.status == "done":
        caller.commands.append(outcome.receipt.command_id)
    if outcome.status == "refused":
        version = None if outcome.receipt is None else outcome.receipt.current_version
        raise refusal_error(outcome.problem, (outcome.detail,), version)
    return outcome
