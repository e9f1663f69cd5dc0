"""Health: liveness, readiness and metrics of the service."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fastapi import Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from api.dependencies import OpenRuntime
from api.runtime.runtime import Runtime
from api.security.middleware import find_caller
from api.security.permissions import Caller
from api.telemetry import metrics
from schemas.errors import StoreDamaged, Unavailable
from schemas.operation import PUBLIC, May, Method, Operation, group
from schemas.responses import Alive, Ready
from substrate.connection.errors import GraphMissing
from substrate.engine import checksums
from substrate.engine.data_directory import space_notes
from substrate.engine.process import REMEDY_DAMAGE
from substrate.graphs.registry import Graphs

NEW_GRAPH_S: Final = 0.25
"""Within so long the indexes of a graph that is being made are operational: the service is ready meanwhile."""


async def live(request: Request) -> Alive:
    """200 while the process runs."""
    return Alive(open=request.app.state.open)


async def ready(request: Request, runtime: OpenRuntime) -> Ready:
    """200 when every request can be served, else a problem. Only administrators see which part is not ready."""
    caller = await find_caller(request)
    try:
        readiness = await _readiness(runtime)
    except StoreDamaged as error:
        if _is_admin(caller):
            raise
        raise StoreDamaged("the stored data is damaged", remedy=error.remedy) from error
    except Unavailable as error:
        if _is_admin(caller):
            raise
        raise Unavailable(error.detail, remedy=error.remedy) from error
    hidden: dict[str, Any] = {} if _is_admin(caller) else {"graphs": None}
    return readiness.model_copy(update={"open": request.app.state.open, **hidden})


def _is_admin(caller: Caller | None) -> bool:
    return caller is not None and caller.grants.admin


async def _readiness(runtime: Runtime) -> Ready:
    """Raises StoreDamaged for damaged data, Unavailable while the engine does not answer or builds indexes."""
    deps = runtime.deps
    if runtime.engine is not None:
        if isinstance(runtime.engine.fault, StoreDamaged):
            raise runtime.engine.fault
        damages = await asyncio.to_thread(checksums.compare, runtime.engine.directory, thorough=False)
        if damages:
            raise StoreDamaged(f"the data is damaged: {damages[0].description}", remedy=REMEDY_DAMAGE)
    ping_ms = await deps.connection.ping()
    names, faults = await _look_at_indexes(deps.graphs)
    if faults:
        await asyncio.sleep(NEW_GRAPH_S)
        names, faults = await _look_at_indexes(deps.graphs)
    if faults:
        raise Unavailable("indexes are still being built", remedy="Try again in a moment.", faults=faults)
    return Ready(
        engine="server" if runtime.engine is None else "embedded",
        ping_ms=round(ping_ms, 3),
        graphs=len(names),
        embedding=deps.embedder.model,
        dimension=deps.embedder.dimension,
        notes=() if runtime.engine is None else space_notes(runtime.engine.directory),
    )


async def _look_at_indexes(graphs: Graphs) -> tuple[list[str], list[str]]:
    """The names of all graphs, and what is not operational yet."""
    names = await graphs.existing()
    return names, [fault for name in names for fault in await _unready_indexes(graphs, name)]


async def _unready_indexes(graphs: Graphs, name: str) -> list[str]:
    try:
        return [f"{name}: {label} is not operational" for label in await graphs.unready(name)]
    except GraphMissing:
        return []  # erased since it was listed


async def read_metrics(runtime: OpenRuntime) -> PlainTextResponse:
    """The metrics of this process and the size of the store, in the text format of Prometheus."""
    return PlainTextResponse(await metrics.render_metrics(runtime), media_type=CONTENT_TYPE_PLAIN_0_0_4)


OPERATIONS: Final = group(
    "health",
    Operation("get_liveness", "GET /health/live", "Ask whether the process runs", PUBLIC, live,
              call=Method("live", "Check that the process answers. Raises Unavailable at once when it does not.",
                          once=True)),
    Operation("get_readiness", "GET /health/ready", "Ask whether requests can be served", PUBLIC, ready,
              call=Method("health", "Check that every request can be served. Raises Unavailable at once when "
                          "not.", once=True)),
    Operation("get_metrics", "GET /metrics", "Read the metrics", May("upkeep", scope="upkeep"), read_metrics,
              sent=PlainTextResponse),
)  # fmt: skip
