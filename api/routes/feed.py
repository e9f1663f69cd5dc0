"""The changes of a graph: a page at a time, or as server-sent events."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import Header
from fastapi.responses import StreamingResponse

from api.dependencies import OpenDeps
from api.security.permissions import CurrentCaller
from orchestration.dependencies import Deps
from orchestration.transfer.following import list_changes
from schemas.errors import SubstrateError
from schemas.operation import Method, Operation, graph_may, group
from schemas.upkeep.applied_changes import ChangePage, ChangesRequest

ENDS_AFTER_S: Final = 600.0
"""Then the caller comes again, as browsers do by themselves, and its key is looked at again."""
SILENT_S: Final = 15.0
"""After so long without a change a comment is sent: who has left is noticed, and proxies keep the connection."""


async def stream_changes(
    query: ChangesRequest,
    deps: OpenDeps,
    caller: CurrentCaller,
    last_event_id: Annotated[str | None, Header(description="The `id` of the last event, before `after`.")] = None,
) -> StreamingResponse:
    """The same as server-sent events, as they happen: `change` with a change, `erased` when something was erased.

    The id of an event is its cursor. A stream ends after ten minutes, or when the store does not answer; who sends
    `Last-Event-ID` then, as a browser does by itself, misses nothing.
    """
    asked = query if last_event_id is None else query.model_copy(update={"after": last_event_id})
    first = await list_changes(asked.model_copy(update={"wait": 0.0}), deps)
    caller.graphs.clear()  # upkeep need not wait for the end of a stream that only waits
    return StreamingResponse(
        _events(first, asked, deps), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
    )


async def _events(page: ChangePage, query: ChangesRequest, deps: Deps) -> AsyncIterator[str]:
    """The events of a page and of all after it. The next page is read when the caller has taken this one."""
    ends = time.monotonic() + ENDS_AFTER_S
    while True:
        for change in page.changes:
            yield f"id: {change.cursor}\nevent: change\ndata: {change.model_dump_json(exclude_none=True)}\n\n"
        # An event without data is not given to a page in a browser; its id is kept.
        yield f"id: {page.next}\nevent: erased\ndata: {{}}\n\n" if page.erased else f"id: {page.next}\n\n"
        if time.monotonic() > ends:
            return
        try:
            page = await list_changes(query.model_copy(update={"after": page.next, "wait": SILENT_S}), deps)
        except SubstrateError:
            return  # who comes again is told why


OPERATIONS: Final = group(
    "feed",
    Operation("list_changes", "GET /v1/changes", "Read what changed in a graph",
              graph_may("read"), list_changes,
              call=Method("changes", "What changed in a graph after a cursor, in the order in which it was "
                          "applied; go on with its `next`.")),
    Operation("stream_changes", "GET /v1/changes/stream", "Follow what changes in a graph",
              graph_may("read"), stream_changes, sent=StreamingResponse, call=Method("watch", by_hand=True)),
)  # fmt: skip
