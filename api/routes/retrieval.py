"""Retrieval: an intention or a state in, a consciousness stream out."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.dependencies import Now, Opened
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import ASKING, needs
from api.telemetry import metrics
from orchestration.retrieval import retrieve_consciousness_context
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.base import json_bytes
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.stream import ConsciousnessStream

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/retrieve", response_model=ConsciousnessStream, operation_id="retrieve")
@needs(ASKING)
async def retrieve(intention: RetrievalIntention, runtime: Opened, now: Now) -> Response:
    """The part of a citizen's memory that matters now, over all three levels."""
    return _answer(await retrieve_consciousness_context(intention, runtime.deps, now), "retrieve")


@router.post("/wake", response_model=ConsciousnessStream, operation_id="wake")
@needs(ASKING)
async def wake(state: StateBasedRetrieval, runtime: Opened, now: Now) -> Response:
    """What fits how a citizen is, with no question asked."""
    return _answer(await retrieve_consciousness_context_from_state(state, runtime.deps, now), "wake")


def _answer(stream: ConsciousnessStream, door: str) -> Response:
    """The stream, with the time that each stage took where the tools of browsers look for it."""
    stages = [f"{stage};dur={spent:g}" for stage, spent in stream.stage_ms.items()]
    timing = ", ".join([*stages, f"total;dur={stream.retrieval_latency_ms:g}"])
    body = json_bytes(stream)
    metrics.stream(stream, door, len(body))
    return Response(body, media_type="application/json", headers={"Server-Timing": timing})
