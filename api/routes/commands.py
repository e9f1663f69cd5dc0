"""Commands of any kind: one, or a list that is applied in order, as a whole if `atomic`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import MEMORY_RESPONSES, ListWrite, one_or_many, write_one_or_many
from api.security.permissions import requires
from schemas.commands import AnyCommand, WriteReceipt
from schemas.operation import COMMANDS

router = APIRouter(prefix="/v1/commands", tags=["commands"], route_class=StrictRoute)


@router.post(
    "", status_code=201, response_model=WriteReceipt, responses=MEMORY_RESPONSES, operation_id="apply_commands"
)
@requires(COMMANDS)
async def carry_out(body: Annotated[Any, one_or_many(AnyCommand), Body()], writing: ListWrite) -> Response:
    """Apply one command, or a list of up to 1000, in order; `command` names the kind of each."""
    return await write_one_or_many(body, None, writing)
