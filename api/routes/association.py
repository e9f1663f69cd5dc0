"""Walk from words over tags and links, without vectors."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from api.dependencies import Now
from api.routes.retrieval import ASKS
from orchestration.dependencies import Deps
from orchestration.features.association.flow import associate
from orchestration.features.association.values import Associations, TagWalk
from schemas.base import json_bytes
from schemas.operation import Called, Operation, group


async def walk(request: TagWalk, deps: Deps, now: Now) -> Response:
    """Memories that match the words of a question, and others that tags and links lead to; no vectors (001)."""
    associations = await associate(request, deps, now)
    return Response(json_bytes(associations), media_type="application/json")


OPERATIONS: Final = group(
    "retrieval",
    Operation("walk_tags", "POST /v1/associate", "Walk from words over tags and links",
              ASKS, walk, gives=Associations,
              call=Called("associate", "Memories that match the words of a question, and others that their tags "
                          "and links lead to.")),
)  # fmt: skip
