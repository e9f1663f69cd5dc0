"""Commands of any kind, one or many: what several routes do apart, in one list, all or nothing if so wanted."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import MEMORY_WRITTEN, WriteMany, one_or_many, write
from api.security.permissions import COMMANDS, needs
from schemas.commands import AnyCommand, WriteReceipt

router = APIRouter(prefix="/v1/commands", tags=["commands"], route_class=StrictRoute)

CommandBody = Annotated[Any, one_or_many(AnyCommand), Body()]


@router.post(
    "", status_code=201, response_model=WriteReceipt, responses=MEMORY_WRITTEN, operation_id="apply_commands"
)
@needs(COMMANDS)
async def carry_out(body: CommandBody, writing: WriteMany) -> Response:
    """Carry out one command, or a list of up to 1000, in order; `command` says what each is."""
    return await write(body, None, writing)
