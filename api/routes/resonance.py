"""Resonance: find the memories that resonate with a wave signal."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import QUESTION, requires
from orchestration.resonance.ask import resonate
from schemas.wave_signal import Resonances, Resonate

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/resonate", response_model=Resonances, operation_id="resonate")
@requires(QUESTION)
async def send(signal: Resonate, runtime: OpenRuntime, now: Now) -> Response:
    """The memories that resonate with a signal, with the score of each channel (000, 002)."""
    resonances = await resonate(signal, runtime.deps, now)
    return Response(resonances.model_dump_json(), media_type="application/json")
