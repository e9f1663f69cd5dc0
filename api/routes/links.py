"""Links: relate one memory to another, see a link as it is or was, revise it, see all its records."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.dependencies import Now, Opened
from api.request_parsing.addresses import AskedOf, AtLink, link_seen, noted
from api.request_parsing.pagination import HistoryAsked, LinksAsked, link_history, page_of
from api.request_parsing.revisions import RevisionBody, of_place
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import LINK_WRITTEN, Write, WriteMany, one_or_many, write, write_one
from api.security.permissions import COMMANDS, LISTING, memory_may, needs
from schemas.commands import CorrectLink, Relate, ResolveLink, SupersedeLink, UndoLink, Unrelate, WriteReceipt
from schemas.memory import ConsciousnessRelationship
from schemas.responses import LinkHistory, LinkPage
from schemas.unreadable import left_out
from substrate.cypher.fragments import LINK_COLUMNS
from substrate.store.listing import links
from substrate.store.rows import link

router = APIRouter(prefix="/v1/links", tags=["links"], route_class=StrictRoute)

LinkBody = Annotated[Any, one_or_many(Relate), Body()]


@router.post("", status_code=201, response_model=WriteReceipt, responses=LINK_WRITTEN, operation_id="relate")
@needs(COMMANDS)
async def relate(body: LinkBody, writing: WriteMany) -> Response:
    """Store one link, or a list of up to 1000; the metadata of each is checked in three tiers."""
    return await write(body, Relate, writing)


@router.get("", operation_id="list_links")
@needs(LISTING)
async def listed(asked: LinksAsked, runtime: Opened, now: Now, response: Response) -> LinkPage:
    """The links of a graph, now or at a moment, a page at a time: each that holds, however its ends stand.

    `Substrate-Notes` says what was assumed.
    """
    noted(response, asked)
    page = await page_of(links, asked, asked.relation_type, (runtime, now))
    found = tuple(link(row[2:], (row[0], row[1]), asked.level, page.known_to) for row in page.rows)
    return LinkPage(links=found, next=page.next, degraded=left_out(found))


@router.get("/{level}/{link_id:path}/history", operation_id="get_link_history")
@needs(memory_may("read"))
async def history(
    place: AtLink, asked: HistoryAsked, runtime: Opened, now: Now, response: Response
) -> LinkHistory:
    """All records of a link, a page at a time: what was known, when, over which time it held, what closed it.

    `Substrate-Notes` says what was assumed.
    """
    noted(response, asked)
    return await link_history(place, asked, runtime, now)


@router.get("/{level}/{link_id:path}", operation_id="get_link")
@needs(memory_may("read"))
async def read(
    place: AtLink, asked: AskedOf, runtime: Opened, now: Now, response: Response
) -> ConsciousnessRelationship:
    """A link as it is now, or as it was at a moment. `Substrate-Notes` says what was assumed."""
    row = await link_seen(place, asked, runtime, now)
    known_to = asked.scope(now).known.end
    found = link(row[2 : 2 + len(LINK_COLUMNS)], (row[0], row[1]), place.level, known_to)
    noted(response, asked, found)
    return found


@router.post("/{level}/{link_id:path}/supersede", operation_id="supersede_link")
@needs(COMMANDS)
async def supersede(
    place: AtLink, body: Annotated[Any, RevisionBody(SupersedeLink), Body()], writing: Write
) -> WriteReceipt:
    """The world changed: the old metadata end at `effective_at`, the new begin there."""
    return await write_one(of_place(body, place), SupersedeLink, writing)


@router.post("/{level}/{link_id:path}/correct", operation_id="correct_link")
@needs(COMMANDS)
async def correct(
    place: AtLink, body: Annotated[Any, RevisionBody(CorrectLink), Body()], writing: Write
) -> WriteReceipt:
    """We were wrong: the corrected metadata hold over the same valid time."""
    return await write_one(of_place(body, place), CorrectLink, writing)


@router.post("/{level}/{link_id:path}/retract", operation_id="retract_link")
@needs(COMMANDS)
async def retract(
    place: AtLink, body: Annotated[Any, RevisionBody(Unrelate), Body()], writing: Write
) -> WriteReceipt:
    """The link no longer holds from `effective_at` on; without one it never did."""
    return await write_one(of_place(body, place), Unrelate, writing)


@router.post("/{level}/{link_id:path}/resolve", operation_id="resolve_link")
@needs(COMMANDS)
async def resolve(
    place: AtLink, body: Annotated[Any, RevisionBody(ResolveLink), Body()], writing: Write
) -> WriteReceipt:
    """What the link is about stands otherwise: resolved, unless another state is named."""
    return await write_one(of_place(body, place), ResolveLink, writing)


@router.post("/{level}/{link_id:path}/undo", operation_id="undo_link")
@needs(COMMANDS)
async def undo(
    place: AtLink, body: Annotated[Any, RevisionBody(UndoLink), Body()], writing: Write
) -> WriteReceipt:
    """Revert the last change by new records; the mistake stays visible in the past."""
    return await write_one(of_place(body, place), UndoLink, writing)
