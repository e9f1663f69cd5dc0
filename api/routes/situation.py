"""The situation of a citizen: what an agent of a cycle begins with."""

from __future__ import annotations

from fastapi import APIRouter

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import SITUATION
from api.security.permissions import requires
from orchestration.features.situation.flow import read_situation
from orchestration.features.situation.values import Situation, SituationRequest
from schemas.base import CitizenId

router = APIRouter(prefix="/v1/citizens", tags=["mind"], route_class=StrictRoute)


@router.post("/{citizen_id}/situation", operation_id="read_situation")
@requires(SITUATION)
async def situation(citizen_id: CitizenId, request: SituationRequest, runtime: OpenRuntime, now: Now) -> Situation:
    """State, stimuli, window and focus of the last cycle, seven contexts, rules, what changed (002, prepare).

    A part that is not read in time is empty and named in `degraded`; nothing is changed.
    """
    return await read_situation(citizen_id, request, runtime.deps, now)
