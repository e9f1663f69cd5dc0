"""Memories: write, list, read, revise and erase them, and read their history."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.addresses import MemoryInPath, MomentInQuery, add_notes, key_of, read_memory_row
from api.request_parsing.erasures import erase_and_report
from api.request_parsing.etags import NOT_MODIFIED, IfNoneMatch, etag_response
from api.request_parsing.pagination import (
    MEMORIES,
    HistoryInQuery,
    MemoryListInQuery,
    read_memory_history,
    read_page,
)
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import MEMORY_RESPONSES, ListWrite, SingleWrite, one_or_many, write_one_or_many
from api.routes.revisions import RevisionBody, RevisionRoute, add_revision_routes, command_at
from api.security.permissions import of_record, requires
from orchestration.mind.energy import Decay
from schemas.commands import (
    Correct,
    EraseMemory,
    ErasureReport,
    Remember,
    Resolve,
    Retract,
    Supersede,
    Undo,
    WriteReceipt,
)
from schemas.memory import ConsciousnessNode, describe_unreadable
from schemas.operation import COMMANDS, ERASES, graph_may
from schemas.responses import MemoryHistory, MemoryPage
from substrate.store.rows import node

router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=StrictRoute)


@router.post("", status_code=201, response_model=WriteReceipt, responses=MEMORY_RESPONSES, operation_id="remember")
@requires(COMMANDS)
async def remember(body: Annotated[Any, one_or_many(Remember), Body()], writing: ListWrite) -> Response:
    """Store one memory, or a list of up to 1000. In a list each memory is stored or refused on its own."""
    return await write_one_or_many(body, Remember, writing)


@router.get("", operation_id="list_memories")
@requires(graph_may("read"))
async def listed(query: MemoryListInQuery, runtime: OpenRuntime, now: Now, response: Response) -> MemoryPage:
    """The memories of a graph, now or at a moment, a page at a time. `Substrate-Notes` lists what was assumed."""
    add_notes(response, query)
    page = await read_page(MEMORIES, query, runtime, now)
    stored = [node(row, query.graph_key, page.known_to) for row in page.rows]
    memories = Decay(runtime.deps.half_lives, page.moment).show(stored)
    return MemoryPage(memories=memories, next=page.next, notes=page.notes, degraded=describe_unreadable(memories))


@router.get("/{level}/{memory_id:path}/history", operation_id="get_memory_history")
@requires(of_record("read"))
async def history(
    address: MemoryInPath, query: HistoryInQuery, runtime: OpenRuntime, now: Now, response: Response
) -> MemoryHistory:
    """All records of a memory, a page at a time: content, valid time, transaction time, and what closed each.

    `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, query)
    return await read_memory_history(address, query, runtime, now)


@router.get(
    "/{level}/{memory_id:path}",
    response_model=ConsciousnessNode,
    responses=NOT_MODIFIED,
    operation_id="get_memory",
)
@requires(of_record("read"))
async def read(
    address: MemoryInPath, query: MomentInQuery, runtime: OpenRuntime, now: Now, if_none_match: IfNoneMatch = None
) -> Response:
    """A memory as it is now, or as it was at a moment. `Substrate-Notes` lists what was assumed."""
    row = await read_memory_row(address, query, runtime, now)
    scope = query.scope(now)
    memory = node(row, key_of(address, query), scope.known.end)
    decay = Decay(runtime.deps.half_lives, scope.moment(now))
    response = etag_response(memory, decay, query.citizen_id, if_none_match)
    add_notes(response, query, memory)
    return response


REVISIONS = (
    RevisionRoute(
        "supersede", Supersede, "The world changed: the old content ends at `effective_at`, the new begins there."
    ),
    RevisionRoute("correct", Correct, "We were wrong: the corrected content holds over the same valid time."),
    RevisionRoute(
        "retract",
        Retract,
        "The memory does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`, by default "
        "for good. With none of the three, the record that holds now never held.",
    ),
    RevisionRoute(
        "resolve", Resolve, "Set the resolution state of the memory: `resolved`, unless another one is named."
    ),
    RevisionRoute("undo", Undo, "Revert the last change by new records; the mistake stays visible in the past."),
)
add_revision_routes(router, "memory", REVISIONS)


@router.post("/{level}/{memory_id:path}/erase", operation_id="erase_memory")
@requires(ERASES)
async def erase(
    address: MemoryInPath, body: Annotated[Any, RevisionBody(EraseMemory), Body()], writing: SingleWrite
) -> ErasureReport:
    """Remove the memory for good, from the past and from the files of the store too. This cannot be undone."""
    return await erase_and_report(command_at(address, body), EraseMemory, writing)
