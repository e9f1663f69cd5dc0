"""Appetite: what a citizen has to wake for, and the stream that follows from it."""

from __future__ import annotations

from typing import Final

from fastapi import Response

from api.dependencies import Now
from orchestration.assembly.budget import budget_of
from orchestration.assembly.fitting import send_intended
from orchestration.dependencies import Deps
from orchestration.features.appetite import feature as intending
from orchestration.features.appetite.feature import ASKS
from schemas.base import CitizenId
from schemas.mind.appetite import IntendRequest
from schemas.operation import Called, Operation, group
from schemas.responses import SentIntended, expand_intended


async def intend(citizen_id: CitizenId, request: IntendRequest, deps: Deps, now: Now) -> Response:
    """Decide what the appetite leads to, and ask it: 003's autonomous intention, a waking, or nothing."""
    intended = await intending.intend(citizen_id, request, deps, now)
    return Response(send_intended(intended, request, budget_of(request)), media_type="application/json")


OPERATIONS: Final = group(
    "citizens",
    Operation("intend", "POST /v1/citizens/{citizen_id}/intend", "Decide what an appetite leads to, and ask it",
              ASKS, intend, gives=SentIntended,
              call=Called(says="Decide what the appetite leads to, and ask it; with `run=False` only the "
                               "decision is told.", once="apply_feedback", reads=expand_intended)),
)  # fmt: skip
