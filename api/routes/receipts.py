"""Receipts, to be read again: after a lost answer this says what became of a command."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from api.dependencies import Opened
from api.request_parsing.addresses import Whose
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import RECEIPT, needs
from orchestration.writing.receipts import of_erasure, of_kept
from schemas.base import Identifier
from schemas.commands import WriteReceipt
from schemas.errors import NotFound
from schemas.memory import Level
from substrate.graphs.graph import Graph
from substrate.graphs.names import graph_name
from substrate.store import erasure, reader

router = APIRouter(prefix="/v1/receipts", tags=["receipts"], route_class=StrictRoute)


class Where(Whose):
    """Where to look: one level, or the citizen's own, then the shared ones."""

    level: Level | None = None


async def _levels(where: Annotated[Where, Query()]) -> tuple[Level, ...]:
    """The levels in the order in which they are looked at. Raises InvalidRequest."""
    if where.level is not None:
        return (where.level,)
    return tuple(level for level in Level if level is not Level.N1 or where.citizen_id is not None)


@router.get("/{command_id:path}", operation_id="get_receipt")
@needs(RECEIPT)
async def read(
    command_id: Annotated[Identifier, Path()],
    where: Annotated[Where, Query()],
    levels: Annotated[tuple[Level, ...], Depends(_levels)],
    runtime: Opened,
) -> WriteReceipt:
    """The receipt of a command that was applied, an erasure too. A refused command left none."""
    connection = runtime.deps.connection
    for level in levels:
        graph = graph_name(level, where.citizen_id)
        if await runtime.deps.graphs.for_reading(graph):
            kept = await reader.receipts(Graph(connection, graph), [command_id])
            if command_id in kept:
                return of_kept(kept[command_id], level)
        erased = await erasure.mark(Graph(connection, graph), command_id)
        if erased is not None:
            return of_erasure(command_id, level, erased.at, finished=erased.log_rewritten is not None)
    raise NotFound(f"no command {command_id} was applied", remedy="Send it: it will be applied once.")
