"""Links between memories: write, list, read and revise them, and read their history."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from api.dependencies import Now, OpenRuntime
from api.request_parsing.addresses import LinkInPath, MomentInQuery, add_notes, key_of, read_link_row
from api.request_parsing.pagination import LINKS, HistoryInQuery, LinkListInQuery, read_link_history, read_page
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import LINK_RESPONSES, ListWrite, one_or_many, write_one_or_many
from api.routes.revisions import RevisionRoute, add_revision_routes
from api.security.permissions import of_record, requires
from orchestration.mind.energy import Decay
from schemas.commands import CorrectLink, Relate, ResolveLink, SupersedeLink, UndoLink, Unrelate, WriteReceipt
from schemas.memory import ConsciousnessRelationship, describe_unreadable
from schemas.operation import COMMANDS, graph_may
from schemas.responses import LinkHistory, LinkPage
from substrate.store.rows import link_with_ends

router = APIRouter(prefix="/v1/links", tags=["links"], route_class=StrictRoute)


@router.post("", status_code=201, response_model=WriteReceipt, responses=LINK_RESPONSES, operation_id="relate")
@requires(COMMANDS)
async def relate(body: Annotated[Any, one_or_many(Relate), Body()], writing: ListWrite) -> Response:
    """Store one link, or a list of up to 1000; the metadata of each is checked in three tiers."""
    return await write_one_or_many(body, Relate, writing)


@router.get("", operation_id="list_links")
@requires(graph_may("read"))
async def listed(query: LinkListInQuery, runtime: OpenRuntime, now: Now, response: Response) -> LinkPage:
    """The links of a graph, now or at a moment, a page at a time: all that hold then, even if their ends do not.

    `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, query)
    page = await read_page(LINKS, query, runtime, now)
    stored = [link_with_ends(row, query.graph_key, page.known_to) for row in page.rows]
    links = Decay(runtime.deps.half_lives, page.moment).show(stored)
    return LinkPage(links=links, next=page.next, degraded=describe_unreadable(links))


@router.get("/{level}/{link_id:path}/history", operation_id="get_link_history")
@requires(of_record("read"))
async def history(
    address: LinkInPath, query: HistoryInQuery, runtime: OpenRuntime, now: Now, response: Response
) -> LinkHistory:
    """All records of a link, a page at a time: content, valid time, transaction time, and what closed each.

    `Substrate-Notes` lists what was assumed.
    """
    add_notes(response, query)
    return await read_link_history(address, query, runtime, now)


@router.get("/{level}/{link_id:path}", operation_id="get_link")
@requires(of_record("read"))
async def read(
    address: LinkInPath, query: MomentInQuery, runtime: OpenRuntime, now: Now, response: Response
) -> ConsciousnessRelationship:
    """A link as it is now, or as it was at a moment. `Substrate-Notes` lists what was assumed."""
    row = await read_link_row(address, query, runtime, now)
    scope = query.scope(now)
    stored = link_with_ends(row, key_of(address, query), scope.known.end)
    [link] = Decay(runtime.deps.half_lives, scope.moment(now)).show([stored])
    add_notes(response, query, link)
    return link


REVISIONS = (
    RevisionRoute(
        "supersede",
        SupersedeLink,
        "The world changed: the old metadata end at `effective_at`, the new begin there.",
    ),
    RevisionRoute("correct", CorrectLink, "We were wrong: the corrected metadata hold over the same valid time."),
    RevisionRoute(
        "retract",
        Unrelate,
        "The link does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`, by default for "
        "good. With none of the three, the record that holds now never held.",
    ),
    RevisionRoute(
        "resolve", ResolveLink, "Set the resolution state of the link: `resolved`, unless another one is named."
    ),
    RevisionRoute(
        "undo", UndoLink, "Revert the last change by new records; the mistake stays visible in the past."
    ),
)
add_revision_routes(router, "link", REVISIONS)
