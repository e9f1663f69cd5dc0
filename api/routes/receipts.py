"""Receipts: after a lost answer a client reads here whether its command was applied."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from api.dependencies import OpenRuntime
from api.request_parsing.addresses import CitizenRequest
from api.request_parsing.strict_json import StrictRoute
from api.security.permissions import RECEIPT, named_graph, requires
from orchestration.writing.receipts import build_erasure_receipt, rebuild_receipt
from schemas.base import Identifier
from schemas.commands import WriteReceipt
from schemas.errors import NotFound
from schemas.memory import GraphKey, Level
from substrate.graphs.names import graph_name
from substrate.store import erasure, reader

router = APIRouter(prefix="/v1/receipts", tags=["receipts"], route_class=StrictRoute)


class ReceiptRequest(CitizenRequest):
    """Where to look: on one level, or in a collective. By default on N1 if a citizen is named, then N2, N3."""

    level: Level | None = None


async def _levels(query: Annotated[ReceiptRequest, Query()]) -> tuple[GraphKey, ...]:
    """The graphs to look in, in this order."""
    if query.collective is not None:
        return (named_graph(query.level or Level.N2, query),)
    if query.level is not None:
        return (query.level,)
    return tuple(level for level in Level if level is not Level.N1 or query.citizen_id is not None)


@router.get("/{command_id:path}", operation_id="get_receipt")
@requires(RECEIPT)
async def read(
    command_id: Annotated[Identifier, Path()],
    query: Annotated[ReceiptRequest, Query()],
    levels: Annotated[tuple[GraphKey, ...], Depends(_levels)],
    runtime: OpenRuntime,
) -> WriteReceipt:
    """The receipt of an applied command or erasure. A refused command leaves none: 404."""
    for level in levels:
        graph = runtime.deps.graph(graph_name(level, query.citizen_id))
        if await runtime.deps.graphs.for_reading(graph.name):
            receipts = await reader.receipts(graph, [command_id])
            if command_id in receipts:
                return rebuild_receipt(receipts[command_id], level)
        erasure_mark = await erasure.read_mark(graph, command_id)
        if erasure_mark is not None:
            finished = erasure_mark.log_rewritten is not None
            return build_erasure_receipt(command_id, level, erasure_mark.at, finished=finished)
    raise NotFound(f"no command {command_id} was applied", remedy="Send it: it will be applied once.")
