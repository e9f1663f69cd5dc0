"""Find memories that resonate with a wave signal or have the shape of another; perspectives; tags and words."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import QUESTION, requires
from orchestration.features.association.flow import associate
from orchestration.features.association.values import Associations, TagWalk
from orchestration.features.shape.perspectives import look
from orchestration.features.shape.values import Look, Perspectives
from orchestration.resonance.ask import resonate
from schemas.base import json_bytes
from schemas.wave_signal import Resonances, Resonate

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/resonate", response_model=Resonances, operation_id="resonate")
@requires(QUESTION)
async def send(signal: Resonate, runtime: OpenRuntime, now: Now) -> Response:
    """The memories that resonate with a signal, with the score of each channel (000, 002).

    With `by: shape` those around which the same happened as around the memory `id`, in other words (004).
    """
    resonances = await resonate(signal, runtime.deps, now)
    return Response(resonances.model_dump_json(), media_type="application/json")


@router.post("/perspectives", response_model=Perspectives, operation_id="perspectives")
@requires(QUESTION)
async def perspectives(asked: Look, runtime: OpenRuntime, now: Now) -> Response:
    """One question looked at by meaning, by shape and by feeling; no memory stands in two of them (004)."""
    looked = await look(asked, runtime.deps, now)
    return Response(looked.model_dump_json(), media_type="application/json")


@router.post("/associate", response_model=Associations, operation_id="walk_tags")
@requires(QUESTION)
async def walk(request: TagWalk, runtime: OpenRuntime, now: Now) -> Response:
    """Memories that match the words of a question, and others that tags and links lead to; no vectors (001)."""
    associations = await associate(request, runtime.deps, now)
    return Response(json_bytes(associations), media_type="application/json")
