"""Identity: who a citizen is, as of any time."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.dependencies import Now, Opened
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import citizen_may, needs
from orchestration.mind.identity import identity
from schemas.base import CitizenId
from schemas.identity import AsOf, Identity, WhoIs

router = APIRouter(prefix="/v1/citizens", tags=["citizens"], route_class=StrictRoute)


@router.get("/{citizen_id}/identity", operation_id="get_identity")
@needs(citizen_may("read"))
async def who(citizen_id: CitizenId, asked: Annotated[AsOf, Query()], runtime: Opened, now: Now) -> Identity:
    """The most connected entities of what was lived, how it felt, and the rules attached (000)."""
    whose = WhoIs(citizen_id=citizen_id, **asked.model_dump())
    for note in asked.notes:  # the dump has zones, and would need none
        whose = whose.noting(note)
    return await identity(whose, runtime.deps, now)
