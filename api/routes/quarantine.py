"""Quarantines: hide what came from a distrusted source, list, release, or make it final."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import CurrentCaller, requires
from api.security.upkeep_permissions import GRAPH_CHANGE, GRAPH_READING, steward_of
from orchestration.features.withholding import quarantine
from orchestration.features.withholding.values import (
    Quarantine,
    QuarantineChange,
    QuarantineRequest,
    QuarantinesAnswer,
)
from schemas.base import Identifier
from schemas.collectives import GraphRequest

router = APIRouter(prefix="/v1/upkeep/quarantine", tags=["upkeep"], route_class=StrictRoute)

GraphInQuery = Annotated[GraphRequest, Query()]


@router.post("", operation_id="quarantine")
@requires(GRAPH_CHANGE)
async def hide(request: QuarantineRequest, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> Quarantine:
    """Hide what was written by a source, in an episode, with a key or since a time, and what follows from it.

    It answers when all of it is hidden. With `dry_run` nothing is changed, and the answer lists what would be.
    """
    writer = steward_of(caller, request.graph_key, request.citizen_id)
    return await quarantine.quarantine(request, runtime.deps, now, writer)


@router.get("", operation_id="list_quarantines")
@requires(GRAPH_READING)
async def listed(query: GraphInQuery, runtime: OpenRuntime) -> QuarantinesAnswer:
    """The quarantines of a graph, the newest first."""
    return await quarantine.list_quarantines(query, runtime.deps)


@router.get("/{quarantine_id}", operation_id="get_quarantine")
@requires(GRAPH_READING)
async def shown(quarantine_id: Identifier, query: GraphInQuery, runtime: OpenRuntime) -> Quarantine:
    """A quarantine with the first things that it hid."""
    return await quarantine.read_quarantine(quarantine_id, query, runtime.deps)


@router.post("/{quarantine_id}/release", operation_id="release_quarantine")
@requires(GRAPH_CHANGE)
async def release(
    quarantine_id: Identifier, request: QuarantineChange, runtime: OpenRuntime, now: Now, caller: CurrentCaller
) -> Quarantine:
    """Bring back everything that it hid, but what was changed since. Released again, nothing happens."""
    writer = steward_of(caller, request.graph_key, request.citizen_id)
    return await quarantine.release(quarantine_id, request, runtime.deps, now, writer=writer)


@router.post("/{quarantine_id}/retract", operation_id="retract_quarantine")
@requires(GRAPH_CHANGE)
async def retract(
    quarantine_id: Identifier, request: QuarantineChange, runtime: OpenRuntime, now: Now
) -> Quarantine:
    """Make it final: what it hid stays retracted, and the feedback that it put aside is removed."""
    return await quarantine.retract(quarantine_id, request, runtime.deps, now)
