"""Retrieval: an intention or a state in, a consciousness stream out."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import QUESTION, requires
from api.telemetry import metrics
from orchestration.assembly.fitting import send
from orchestration.assembly.options import budget_of
from orchestration.retrieval import retrieve as retrieve_stream
from orchestration.waking.ask import retrieve_consciousness_context_from_state
from schemas.intention import RetrievalIntention, StateBasedRetrieval
from schemas.stream import ConsciousnessStream
from schemas.stream_forms import StreamAnswer

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/retrieve", response_model=StreamAnswer, operation_id="retrieve")
@requires(QUESTION)
async def retrieve(intention: RetrievalIntention, runtime: OpenRuntime, now: Now) -> Response:
    """The part of a citizen's memory that matters now, over all three levels."""
    retrieved = await retrieve_stream(intention, runtime.deps, now)
    body = retrieved.send(intention, runtime.deps)
    return _stream_response(retrieved.stream, "retrieve", body, was_kept=retrieved.was_kept)


@router.post("/wake", response_model=StreamAnswer, operation_id="wake")
@requires(QUESTION)
async def wake(state: StateBasedRetrieval, runtime: OpenRuntime, now: Now) -> Response:
    """The memories that fit a citizen's state, with no question asked."""
    stream = await retrieve_consciousness_context_from_state(state, runtime.deps, now)
    return _stream_response(stream, "wake", send(stream, state, budget_of(state)))


def _stream_response(stream: ConsciousnessStream, door: str, body: bytes, *, was_kept: bool = False) -> Response:
    """The stream, with the milliseconds of each stage in `Server-Timing`, which browsers show."""
    stages = [f"{stage};dur={milliseconds:g}" for stage, milliseconds in stream.stage_ms.items()]
    timing = ", ".join([*stages, f"total;dur={stream.retrieval_latency_ms:g}"])
    metrics.record_stream(stream, door, len(body), was_kept=was_kept)
    return Response(body, media_type="application/json", headers={"Server-Timing": timing})
