"""Upkeep: check whole graphs, report their state, and run repairs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import CurrentCaller, requires
from api.security.upkeep_permissions import QUALITY, REPAIR, SWEEP, steward_of
from orchestration.upkeep.quality import read_quality, sweep_and_keep
from orchestration.upkeep.repair import run_repair
from schemas.errors import refusal_error
from schemas.memory import GraphKey
from schemas.upkeep import ApplyCommand, RepairOutcome, RepairRequest, SweepAnswer, SweepRequest
from schemas.upkeep.quality import QualityAnswer, QualityRequest

router = APIRouter(prefix="/v1/upkeep", tags=["upkeep"], route_class=StrictRoute)


@router.post("/sweep", response_model=SweepAnswer, operation_id="sweep")
@requires(SWEEP)
async def sweep_graphs(request: SweepRequest, runtime: OpenRuntime, now: Now) -> Response:
    """Check the graphs page by page while others read and write. With `limit` it checks one batch.

    A whole graph takes about a second for each thousand memories. Its summary is kept for `/v1/upkeep/quality`.
    """
    answer = await sweep_and_keep(request, runtime.deps, now)
    return Response(answer.model_dump_json(), media_type="application/json")


async def _levels(query: Annotated[QualityRequest, Query()]) -> tuple[GraphKey, ...]:
    return query.chosen()


@router.get("/quality", operation_id="get_quality")
@requires(QUALITY)
async def quality(
    query: Annotated[QualityRequest, Query()],
    levels: Annotated[tuple[GraphKey, ...], Depends(_levels)],
    runtime: OpenRuntime,
) -> QualityAnswer:
    """The metadata quality of each graph over time: what each sweep of the whole graph found, oldest first.

    All sweeps of 30 days are kept, and one a week of the time before. `fallen_from`: the grade fell.
    """
    return await read_quality(levels, query.citizen_id, runtime.deps, limit=query.limit)


@router.post("/repair", operation_id="repair")
@requires(REPAIR)
async def repair(request: RepairRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> RepairOutcome:
    """Run the task of a finding. `gone`: the finding no longer holds, and nothing was changed."""
    target = request.task.command if isinstance(request.task, ApplyCommand) else request.task
    outcome = await run_repair(
        request.task, runtime.deps, now, steward_of(caller, target.graph_key, target.citizen_id)
    )
    if outcome.receipt is not None and outcome.status == "done":
        caller.commands.append(outcome.receipt.command_id)
    if outcome.status == "refused":
        version = None if outcome.receipt is None else outcome.receipt.current_version
        raise refusal_error(outcome.problem, (outcome.detail,), version)
    return outcome
