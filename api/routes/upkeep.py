"""Upkeep: check whole graphs, report their state, and run repairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from fastapi import Response

from api.dependencies import Now, OpenDeps, OpenRuntime
from api.security.permissions import CurrentCaller
from orchestration.upkeep.repair import run_repair
from orchestration.upkeep.sweep import read_quality, sweep_and_keep
from schemas.commands import Writer
from schemas.errors import refusal_error
from schemas.memory import Level, level_of
from schemas.operation import Asked, Called, Claim, May, Need, Operation, group
from schemas.upkeep.findings import (
    ApplyCommand,
    QualityAnswer,
    QualityRequest,
    RepairOutcome,
    RepairRequest,
    SweepAnswer,
    SweepRequest,
)


async def sweep_graphs(request: SweepRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> Response:
    """Check the graphs page by page while others read and write. With `limit` it checks one batch.

    A whole graph takes about a second for each thousand memories. Its summary is kept for `/v1/upkeep/quality`.
    """
    graphs = request.chosen() if request.levels else caller.readable(request.chosen())
    for graph in graphs or (Level.N2,):
        caller.require(graph, request.citizen_id, "read")
    request = request.model_copy(update={"levels": tuple(dict.fromkeys(map(level_of, graphs)))})
    answer = await sweep_and_keep(request, runtime.deps, now)
    return Response(answer.model_dump_json(), media_type="application/json")


async def quality(query: QualityRequest, runtime: OpenRuntime, caller: CurrentCaller) -> QualityAnswer:
    """The metadata quality of each graph over time: what each sweep of the whole graph found, oldest first.

    All sweeps of 30 days are kept, and one a week of the time before. `fallen_from`: the grade fell.
    """
    levels = query.chosen() if query.level else caller.readable(query.chosen())
    for level in levels or (Level.N2,):
        caller.require(level, query.citizen_id, "read")
    return await read_quality(levels, query.citizen_id, runtime.deps, limit=query.limit)


async def repair(
    request: RepairRequest, *, deps: OpenDeps, now: Now, caller: CurrentCaller, writer: Writer
) -> RepairOutcome:
    """Run the task of a finding. `gone`: the finding no longer holds, and nothing was changed."""
    outcome = await run_repair(request.task, deps, now, writer)
    if outcome.receipt is not None and outcome.status == "done":
        caller.commands.append(outcome.receipt.command_id)
    if outcome.status == "refused":
        version = None if outcome.receipt is None else outcome.receipt.current_version
        raise refusal_error(outcome.problem, (outcome.detail,), version)
    return outcome


def _repair_needs(asked: Asked) -> Iterable[Need | Claim]:
    task = asked.request.task
    target = task.command if isinstance(task, ApplyCommand) else task
    yield Need("write", target.citizen_id, target.graph_key)
    if isinstance(task, ApplyCommand) and "source" in task.command.model_fields_set:
        yield Claim(task.command.source)


OPERATIONS: Final = group(
    "upkeep",
    Operation("sweep", "POST /v1/upkeep/sweep", "Look for faults in the graphs",
              May("upkeep, and citizen:ID:read or LEVEL:read", scope="upkeep"), sweep_graphs, gives=SweepAnswer,
              call=Called(says="Check whole graphs and report their state; with `limit` one batch, and `next` "
                               "for the following one.")),
    Operation("get_quality", "GET /v1/upkeep/quality", "Read the quality of graphs over time",
              May("citizen:ID:read or LEVEL:read"), quality,
              call=Called("quality", "What sweeps of each whole graph found, oldest first; `fallen_from` is set "
                          "where the grade fell.")),
    Operation("repair", "POST /v1/upkeep/repair", "Repair a finding of a sweep",
              May("upkeep, and citizen:ID:write or LEVEL:write", _repair_needs, scope="upkeep"), repair,
              call=Called(says="Run the repair task of a finding. `gone`: the record changed since, and nothing "
                               "was done.")),
)  # fmt: skip
