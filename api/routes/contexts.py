"""Contexts: write an episode in one call, and read the notes that agents left with theirs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import CONTEXT
from api.security.permissions import CurrentCaller, citizen_may, requires
from orchestration.features.contexts import flow as contexts
from orchestration.features.contexts.values import AgentLog, AgentLogQuery, ContextReceipt, WriteContext
from schemas.base import CitizenId
from schemas.memory import Level

router = APIRouter(prefix="/v1", tags=["mind"], route_class=StrictRoute)


@router.post("/contexts", status_code=201, operation_id="write_context")
@requires(CONTEXT)
async def write_context(
    context: WriteContext, runtime: OpenRuntime, now: Now, caller: CurrentCaller
) -> ContextReceipt:
    """Write an episode with nodes by name, typed edges, feeling, result and rule, as a whole or not at all.

    With `outcome_of` it says what came of a kept prediction. `warnings` tell what was mended.
    """
    writer = caller.writer_of(Level.N1, context.citizen_id)
    receipt = await contexts.write_context(context, runtime.deps, now, writer)
    caller.commands.append(receipt.command_id)
    return receipt


@router.get("/citizens/{citizen_id}/agent-log", operation_id="list_agent_log")
@requires(citizen_may("read"))
async def agent_log(
    citizen_id: CitizenId, query: Annotated[AgentLogQuery, Query()], runtime: OpenRuntime
) -> AgentLog:
    """The notes that agents left with written contexts: who, what, the decision, the tokens; the newest first."""
    return await contexts.read_agent_log(citizen_id, query, runtime.deps)
