"""Resonance: a wave signal in, what resonates out."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.bodies import StrictRoute
from api.dependencies import Now, Opened
from api.needs import ASKING, needs
from orchestration.resonating import resonate
from schemas.signal import Resonances, Resonate

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/resonate", response_model=Resonances, operation_id="resonate")
@needs(ASKING)
async def send(signal: Resonate, runtime: Opened, now: Now) -> Response:
    """The memories that resonate with a signal, with the score of each channel (000, 002)."""
    found = await resonate(signal, runtime.deps, now)
    return Response(found.model_dump_json(), media_type="application/json")
