"""Association: find memories by words, and others that share their tags."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import QUESTION, requires
from orchestration.association.ask import associate
from schemas.association import Associations, TagWalk
from schemas.base import json_bytes

router = APIRouter(prefix="/v1", tags=["retrieval"], route_class=StrictRoute)


@router.post("/associate", response_model=Associations, operation_id="walk_tags")
@requires(QUESTION)
async def walk(request: TagWalk, runtime: OpenRuntime, now: Now) -> Response:
    """Memories that match the words of a question, and others that tags and links lead to; no vectors (001)."""
    associations = await associate(request, runtime.deps, now)
    return Response(json_bytes(associations), media_type="application/json")
