"""Look at one question by meaning, by shape and by feeling."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from api.dependencies import Now
from api.routes.retrieval import ASKS
from orchestration.dependencies import Deps
from orchestration.features.shape.feature import look
from orchestration.features.shape.values import Look, Perspectives
from schemas.operation import Called, Operation, group


async def perspectives(asked: Look, deps: Deps, now: Now) -> Response:
    """One question looked at by meaning, by shape and by feeling; no memory stands in two of them (004)."""
    looked = await look(asked, deps, now)
    return Response(looked.model_dump_json(), media_type="application/json")


OPERATIONS: Final = group(
    "retrieval",
    Operation("perspectives", "POST /v1/perspectives", "Look at a question in three ways",
              ASKS, perspectives, gives=Perspectives,
              call=Called(says="A question looked at by meaning, by shape and by feeling; no memory stands in "
                               "two of them.")),
)  # fmt: skip
