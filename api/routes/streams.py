"""The streams of citizens: what is kept of each, their list, and asking one again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.security.mind_permissions import STREAM, readable_graph
from api.security.permissions import CurrentCaller, citizen_may, requires
from orchestration.features.replay import flow as ask
from orchestration.features.replay.values import Replay, StreamPage, StreamRecord
from schemas.base import CitizenId, Identifier
from schemas.paging import Paged

router = APIRouter(prefix="/v1", tags=["streams"], route_class=StrictRoute)

StreamId = Annotated[Identifier, Path(description="The `stream_id` of an answer.")]


@router.get("/streams/{stream_id}", operation_id="get_stream")
@requires(STREAM)
async def stream(stream_id: StreamId, runtime: OpenRuntime, caller: CurrentCaller) -> StreamRecord:
    """What a stream was asked, when, what it saw on both axes of time, and the memories that it showed."""
    return await ask.read_stream(stream_id, runtime.deps, readable_graph(caller))


@router.get("/citizens/{citizen_id}/streams", operation_id="list_streams")
@requires(citizen_may("read"))
async def streams(citizen_id: CitizenId, query: Annotated[Paged, Query()], runtime: OpenRuntime) -> StreamPage:
    """The streams of a citizen, the newest first, a page at a time."""
    return await ask.list_streams(citizen_id, query, runtime.deps)


@router.post("/streams/{stream_id}/replay", operation_id="replay_stream")
@requires(STREAM)
async def replay(stream_id: StreamId, runtime: OpenRuntime, now: Now, caller: CurrentCaller) -> Replay:
    """Ask the same again, as of then and known then: what has become of each memory, and why another one is found.

    It is no new stream of the citizen, and changes nothing.
    """
    return await ask.replay(stream_id, runtime.deps, now, readable_graph(caller))
