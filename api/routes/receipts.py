"""Receipts: after a lost answer a client reads here whether its command was applied."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Final

from fastapi import Path

from api.request_parsing.reading import CitizenRequest
from orchestration.dependencies import Deps
from orchestration.writing.receipts import build_erasure_receipt, rebuild_receipt
from schemas.base import Identifier
from schemas.collectives import named_graph
from schemas.commands import WriteReceipt
from schemas.errors import NotFound
from schemas.memory import GraphKey, Level
from schemas.operation import May, Method, Need, Operation, RequestParts, group
from substrate.graphs.names import graph_name
from substrate.store import erasure, reader

type MayRead = Callable[[GraphKey], bool]


class ReceiptRequest(CitizenRequest):
    """Where to look: on one level, or in a collective. By default on N1 if a citizen is named, then N2, N3."""

    level: Level | None = None


def _graphs(query: ReceiptRequest) -> tuple[GraphKey, ...]:
    """The graphs to look in, in this order."""
    if query.collective is not None:
        return (named_graph(query.level or Level.N2, query.collective),)
    if query.level is not None:
        return (query.level,)
    return tuple(level for level in Level if level is not Level.N1 or query.citizen_id is not None)


async def read(
    command_id: Annotated[Identifier, Path()],
    query: ReceiptRequest,
    deps: Deps,
    may_read: MayRead,
) -> WriteReceipt:
    """The receipt of an applied command or erasure. A refused command leaves none: 404."""
    for level in filter(may_read, _graphs(query)):
        graph = deps.graph(graph_name(level, query.citizen_id))
        if await deps.graphs.for_reading(graph.name):
            receipts = await reader.receipts(graph, [command_id])
            if command_id in receipts:
                return rebuild_receipt(receipts[command_id], level)
        erasure_mark = await erasure.read_mark(graph, command_id)
        if erasure_mark is not None:
            finished = erasure_mark.log_rewritten is not None
            return build_erasure_receipt(command_id, level, erasure_mark.at, finished=finished)
    raise NotFound(f"no command {command_id} was applied", remedy="Send it: it will be applied once.")


def _needs(asked: RequestParts) -> Iterable[Need]:
    """Shared levels that the request does not name are left out where the caller may not read them."""
    query = asked.request
    if query.level is not None or query.collective is not None or query.citizen_id is not None:
        yield Need("read", query.citizen_id, _graphs(query)[0])


OPERATIONS: Final = group(
    "receipts",
    Operation("get_receipt", "GET /v1/receipts/{command_id:path}", "Read the receipt of a command",
              May("citizen:ID:read or LEVEL:read", _needs), read,
              call=Method("receipt", "The receipt of an applied command. Raises NotFound if there is none: a "
                          "refused command leaves none.")),
)  # fmt: skip
