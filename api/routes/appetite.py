"""Appetite: what a citizen has to wake for, and the stream that follows from it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import APPETITE
from api.security.permissions import requires
from orchestration.assembly.fitting import send_intended
from orchestration.assembly.options import budget_of
from orchestration.features.appetite import appetite
from orchestration.features.appetite import flow as intending
from schemas.base import CitizenId
from schemas.mind.appetite import Appetite, AppetiteRequest, IntendRequest
from schemas.responses import SentIntended

router = APIRouter(prefix="/v1/citizens", tags=["citizens"], route_class=StrictRoute)


@router.get("/{citizen_id}/appetite", operation_id="read_appetite")
@requires(APPETITE)
async def read(
    citizen_id: CitizenId, request: Annotated[AppetiteRequest, Query()], runtime: OpenRuntime, now: Now
) -> Appetite:
    """What the citizen has to wake for: readings from 0 to 1, each with its reason and its memories.

    Nothing is changed, and nothing is asked: a stream that follows from it comes with `intend`.
    """
    return await appetite.read_appetite(citizen_id, request, runtime.deps, now)


@router.post("/{citizen_id}/intend", response_model=SentIntended, operation_id="intend")
@requires(APPETITE)
async def intend(citizen_id: CitizenId, request: IntendRequest, runtime: OpenRuntime, now: Now) -> Response:
    """Decide what the appetite leads to, and ask it: 003's autonomous intention, a waking, or nothing."""
    intended = await intending.intend(citizen_id, request, runtime.deps, now)
    return Response(send_intended(intended, request, budget_of(request)), media_type="application/json")
