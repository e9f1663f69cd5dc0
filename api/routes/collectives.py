"""Collectives beside the default one: which there are, export and erasure of a whole one."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import Path
from fastapi.responses import StreamingResponse

from api.dependencies import OpenRuntime
from api.request_parsing.erasures import ErasureRequest, erase_and_report
from api.request_parsing.writes import SingleWrite
from api.routes.citizens import ExportRequest, answer_export
from api.security.exports import ReservedExport
from api.security.permissions import CurrentCaller
from orchestration.transfer.line_format import Origin
from schemas.collectives import CollectiveId, CollectivePage
from schemas.commands import EraseCollective, ErasureReport
from schemas.memory import Level, graph_key
from schemas.operation import ERASES, Called, May, Need, Operation, group
from schemas.paging import Paged, decode_cursor, encode_cursor

CollectiveInPath = Annotated[CollectiveId, Path(description="The id of a collective beside the default one.")]


async def listed(query: Paged, caller: CurrentCaller, runtime: OpenRuntime) -> CollectivePage:
    """The collectives in which something is stored and which the key may read, a page at a time."""
    after = "" if query.cursor is None else decode_cursor(query.cursor, str)[0]
    stored = [name for name in await runtime.deps.graphs.collectives() if name > after]
    names = [name for name in stored if caller.readable((graph_key(Level.N2, name),))]
    shown = names[: query.limit]
    return CollectivePage(
        collectives=tuple(shown), next=encode_cursor(shown[-1]) if len(names) > len(shown) else None
    )


async def export_memory(
    collective: CollectiveInPath,
    query: ExportRequest,
    runtime: OpenRuntime,
    reserved: ReservedExport,
) -> StreamingResponse:
    """The whole collective as lines of JSON, every record on both time axes (`docs/export.md`).

    A key may run one export at a time: a second one is refused with 429 and `Retry-After`.
    `Substrate-Notes` lists what was assumed.
    """
    return await answer_export(Origin(graph_key(Level.N2, collective), None), query, runtime, reserved)


async def erase_collective(
    collective: CollectiveInPath, query: ErasureRequest, writing: SingleWrite
) -> ErasureReport:
    """Remove the whole collective for good, with all that anybody wrote there. Needs a steward of it."""
    return await erase_and_report({**query.model_dump(), "collective": collective}, EraseCollective, writing)


READS: Final = May(
    "collective:ID:read",
    lambda asked: [Need("read", None, graph_key(Level.N2, asked.path["collective"]))],
    of_path=True,
)
OPERATIONS: Final = group(
    "collectives",
    Operation("list_collectives", "GET /v1/collectives", "List collectives",
              May("any key; it sees only the collectives that it may read"), listed,
              call=Called(says="One page of the collectives that the key may read; `cursor` is the `next` of the "
                               "page before.")),
    Operation("export_collective", "GET /v1/collectives/{collective}/export", "Export a collective",
              READS, export_memory, sent=StreamingResponse),
    Operation("erase_collective", "DELETE /v1/collectives/{collective}", "Erase a collective",
              ERASES._replace(says="collective:ID:steward"), erase_collective,
              call=Called(says="Remove a whole collective for good, with all that anybody wrote there.")),
)  # fmt: skip
