"""Links: relate one memory to another."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.bodies import StrictRoute
from api.needs import COMMANDS, needs
from api.writing import MANY, Write, one_or_many, write
from schemas.commands import Relate, WriteReceipt

router = APIRouter(prefix="/v1/links", tags=["links"], route_class=StrictRoute)

LinkBody = Annotated[Any, one_or_many(Relate | list[Relate]), Body()]


@router.post("", status_code=201, response_model=WriteReceipt, responses=MANY)
@needs(COMMANDS)
async def relate(body: LinkBody, writing: Write) -> Response:
    """Store one link, or a list of up to 1000; the metadata of each is checked in three tiers."""
    return await write(body, Relate, writing)
