"""A memory as a tar of Markdown files."""

from __future__ import annotations

from typing import Final

from fastapi.responses import StreamingResponse

from api.dependencies import Now, OpenRuntime
from api.runtime.runtime import Runtime
from api.security.rate_limits import ReservedExport
from orchestration.features.mirror.flow import stream_tar, take_snapshot
from orchestration.features.mirror.layout import MirrorOf
from schemas.base import CitizenId
from schemas.collectives import GraphRequest
from schemas.memory import Level
from schemas.operation import Method, Operation, citizen_may, graph_may, group
from schemas.temporal import Instant


async def mirror_memory(
    citizen_id: CitizenId, runtime: OpenRuntime, now: Now, reserved: ReservedExport
) -> StreamingResponse:
    """The personal memory as it is now, as a tar of Markdown files (`docs/mirror.md`).

    A key may run one export or mirror at a time: a second one is refused with 429 and `Retry-After`.
    """
    return await answer_mirror(MirrorOf(Level.N1, citizen_id), runtime, now)


async def answer_mirror(of: MirrorOf, runtime: Runtime, now: Instant) -> StreamingResponse:
    """The mirror of a graph as a tar. Raises NotFound where nothing is stored."""
    blocks = stream_tar(await take_snapshot(of, runtime.deps, now))
    name = f'attachment; filename="{of.folder}.tar"'
    return StreamingResponse(blocks, media_type="application/x-tar", headers={"Content-Disposition": name})


async def mirror_graph(
    query: GraphRequest, runtime: OpenRuntime, now: Now, reserved: ReservedExport
) -> StreamingResponse:
    """The memory of a citizen or a shared graph as it is now, as a tar of Markdown files (`docs/mirror.md`).

    A key may run one export or mirror at a time: a second one is refused with 429 and `Retry-After`.
    """
    citizen_id = query.citizen_id if query.level is Level.N1 else None
    return await answer_mirror(MirrorOf(query.graph_key, citizen_id), runtime, now)


OPERATIONS: Final = (
    *group(
        "citizens",
    Operation("mirror_citizen", "GET /v1/citizens/{citizen_id}/mirror",
              "Stream a citizen's memory as a tar of files",
              citizen_may("read"), mirror_memory, sent=StreamingResponse),
    ),
    *group(
        "episodes",
    Operation("mirror_graph", "GET /v1/files/mirror", "Read a graph as files",
              graph_may("read"), mirror_graph, sent=StreamingResponse, call=Method("save_mirror", by_hand=True)),
    ),
)  # fmt: skip
