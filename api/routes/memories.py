"""Memories: write them, see one as it is or was, revise it, see all its records."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.dependencies import Now, Opened
from api.request_parsing.addresses import AskedOf, At, noted, record_seen
from api.request_parsing.erasures import erase_said
from api.request_parsing.etags import NOT_MODIFIED, IfNoneMatch, tagged
from api.request_parsing.pagination import HistoryAsked, MemoriesAsked, memory_history, page_of
from api.request_parsing.revisions import RevisionBody, of_place
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import MEMORY_WRITTEN, Write, WriteMany, one_or_many, write, write_one
from api.security.permissions import COMMANDS, ERASURES, LISTING, memory_may, needs
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
from schemas.memory import ConsciousnessNode
from schemas.responses import MemoryHistory, MemoryPage
from schemas.unreadable import left_out
from substrate.store.listing import memories
from substrate.store.rows import node

router = APIRouter(prefix="/v1/memories", tags=["memories"], route_class=StrictRoute)

MemoryBody = Annotated[Any, one_or_many(Remember), Body()]


@router.post("", status_code=201, response_model=WriteReceipt, responses=MEMORY_WRITTEN, operation_id="remember")
@needs(COMMANDS)
async def remember(body: MemoryBody, writing: WriteMany) -> Response:
    """Store one memory, or a list of up to 1000 of which each is stored or refused on its own."""
    return await write(body, Remember, writing)


@router.get("", operation_id="list_memories")
@needs(LISTING)
async def listed(asked: MemoriesAsked, runtime: Opened, now: Now, response: Response) -> MemoryPage:
    """What a graph holds, now or at a moment, a page at a time. `Substrate-Notes` says what was assumed."""
    noted(response, asked)
    page = await page_of(memories, asked, asked.node_type, (runtime, now))
    found = tuple(node(row, asked.level, page.known_to) for row in page.rows)
    return MemoryPage(memories=found, next=page.next, degraded=left_out(found))


@router.get("/{level}/{memory_id:path}/history", operation_id="get_memory_history")
@needs(memory_may("read"))
async def history(place: At, asked: HistoryAsked, runtime: Opened, now: Now, response: Response) -> MemoryHistory:
    """All records of a memory, a page at a time: what was known, when, over which time it held, what closed it.

    `Substrate-Notes` says what was assumed.
    """
    noted(response, asked)
    return await memory_history(place, asked, runtime, now)


@router.get(
    "/{level}/{memory_id:path}",
    response_model=ConsciousnessNode,
    responses=NOT_MODIFIED,
    operation_id="get_memory",
)
@needs(memory_may("read"))
async def read(
    place: At, asked: AskedOf, runtime: Opened, now: Now, if_none_match: IfNoneMatch = None
) -> Response:
    """A memory as it is now, or as it was at a moment. `Substrate-Notes` says what was assumed."""
    row = await record_seen(place, asked, runtime, now)
    memory = node(row, place.level, asked.scope(now).known.end)
    answer = tagged(memory, asked.citizen_id, if_none_match)
    noted(answer, asked, memory)
    return answer


@router.post("/{level}/{memory_id:path}/supersede", operation_id="supersede_memory")
@needs(COMMANDS)
async def supersede(
    place: At, body: Annotated[Any, RevisionBody(Supersede), Body()], writing: Write
) -> WriteReceipt:
    """The world changed: the old content ends at `effective_at`, the new begins there."""
    return await write_one(of_place(body, place), Supersede, writing)


@router.post("/{level}/{memory_id:path}/correct", operation_id="correct_memory")
@needs(COMMANDS)
async def correct(place: At, body: Annotated[Any, RevisionBody(Correct), Body()], writing: Write) -> WriteReceipt:
    """We were wrong: the corrected content holds over the same valid time."""
    return await write_one(of_place(body, place), Correct, writing)


@router.post("/{level}/{memory_id:path}/retract", operation_id="retract_memory")
@needs(COMMANDS)
async def retract(place: At, body: Annotated[Any, RevisionBody(Retract), Body()], writing: Write) -> WriteReceipt:
    """The memory no longer holds from `effective_at` on; without one it never did."""
    return await write_one(of_place(body, place), Retract, writing)


@router.post("/{level}/{memory_id:path}/resolve", operation_id="resolve_memory")
@needs(COMMANDS)
async def resolve(place: At, body: Annotated[Any, RevisionBody(Resolve), Body()], writing: Write) -> WriteReceipt:
    """What the memory is about stands otherwise: resolved, unless another state is named."""
    return await write_one(of_place(body, place), Resolve, writing)


@router.post("/{level}/{memory_id:path}/undo", operation_id="undo_memory")
@needs(COMMANDS)
async def undo(place: At, body: Annotated[Any, RevisionBody(Undo), Body()], writing: Write) -> WriteReceipt:
    """Revert the last change by new records; the mistake stays visible in the past."""
    return await write_one(of_place(body, place), Undo, writing)


@router.post("/{level}/{memory_id:path}/erase", operation_id="erase_memory")
@needs(ERASURES)
async def erase(
    place: At, body: Annotated[Any, RevisionBody(EraseMemory), Body()], writing: Write
) -> ErasureReport:
    """Remove the memory for good, from the past too, and from the files of the store. What cannot be undone."""
    return await erase_said(of_place(body, place), EraseMemory, writing)
