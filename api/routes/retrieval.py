"""Retrieval: an intention or a state in, a consciousness stream out."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.bodies import StrictRoute
from api.dependencies import Now, Opened
from api.needs import ASKING, needs
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking import retrieve_consciousness_context_from_state
from schemas.base import json_bytes
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.stream import ConsciousnessStream

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/retrieve", response_model=ConsciousnessStream)
@needs(ASKING)
async def retrieve(intention: RetrievalIntention, runtime: Opened, now: Now) -> Response:
    """The part of a citizen's memory that matters now, over all three levels."""
    stream = await retrieve_consciousness_context(intention, runtime.deps, now)
    return Response(json_bytes(stream), media_type="application/json")


@router.post("/wake", response_model=ConsciousnessStream)
@needs(ASKING)
async def wake(state: StateBasedRetrieval, runtime: Opened, now: Now) -> Response:
    """What fits how a citizen is, with no question asked."""
    stream = await retrieve_consciousness_context_from_state(state, runtime.deps, now)
    return Response(json_bytes(stream), media_type="application/json")
