"""Retrieval: an intention in, a consciousness stream out."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.bodies import StrictRoute
from api.dependencies import Now, Opened
from orchestration.retrieval import retrieve_consciousness_context
from schemas.intention import RetrievalIntention
from schemas.stream import ConsciousnessStream

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/retrieve", response_model=ConsciousnessStream)
async def retrieve(intention: RetrievalIntention, runtime: Opened, now: Now) -> Response:
    """The part of a citizen's memory that matters now, over all three levels."""
    stream = await retrieve_consciousness_context(intention, runtime.deps, now)
    return Response(stream.model_dump_json(), media_type="application/json")
