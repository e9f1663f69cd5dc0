"""A citizen's own state, and its learning moments."""

from __future__ import annotations

from fastapi import APIRouter

from api.bodies import StrictRoute
from api.dependencies import Now, Opened
from orchestration import citizen
from schemas.base import CitizenId
from schemas.citizen import CitizenState, LearningMoments, StateChange

router = APIRouter(prefix="/v1/citizens", tags=["citizens"], route_class=StrictRoute)


@router.get("/{citizen_id}/state")
async def state(citizen_id: CitizenId, runtime: Opened) -> CitizenState:
    """What the citizen feels and wants, as it is kept."""
    return await citizen.read_state(citizen_id, runtime.deps)


@router.put("/{citizen_id}/state")
async def set_state(citizen_id: CitizenId, change: StateChange, runtime: Opened, now: Now) -> CitizenState:
    """Set what is given; what is left out stays."""
    return await citizen.change_state(citizen_id, change, runtime.deps, now)


@router.get("/{citizen_id}/dissonances")
async def dissonances(citizen_id: CitizenId, runtime: Opened) -> LearningMoments:
    """Every belief that changed, and how often each correction pattern recurs."""
    return await citizen.learning_moments(citizen_id, runtime.deps)
