"""Health: whether the process lives, and whether it can serve."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request

from api.dependencies import Opened
from api.request_parsing.strict_json import StrictRoute
from api.runtime.runtime import Runtime
from api.security.middleware import caller_if_any
from api.security.permissions import PUBLIC, Caller, needs
from schemas.errors import StoreDamaged, Unavailable
from schemas.responses import Alive, Ready
from substrate.connection.errors import GraphMissing
from substrate.engine import checksums, disk_space
from substrate.engine.embedded import EmbeddedEngine
from substrate.engine.process import REMEDY_DAMAGE
from substrate.graphs.registry import Graphs

router = APIRouter(prefix="/health", tags=["health"], route_class=StrictRoute)


@router.get("/live", operation_id="get_liveness")
@needs(PUBLIC)
async def live(request: Request) -> Alive:
    """200 for as long as the process lives."""
    return Alive(open=request.app.state.open)


@router.get("/ready", operation_id="get_readiness")
@needs(PUBLIC)
async def ready(request: Request, runtime: Opened) -> Ready:
    """200 when every request can be served, else a problem; to administrators it names what is not ready."""
    caller = await caller_if_any(request)
    try:
        said = await _readiness(runtime)
    except StoreDamaged as error:
        if _is_admin(caller):
            raise
        raise StoreDamaged("the stored data is damaged", remedy=error.remedy) from error
    except Unavailable as error:
        if _is_admin(caller):
            raise
        raise Unavailable(error.detail, remedy=error.remedy) from error
    hidden: dict[str, Any] = {} if _is_admin(caller) else {"graphs": None}
    return said.model_copy(update={"open": request.app.state.open, **hidden})


def _is_admin(caller: Caller | None) -> bool:
    return caller is not None and caller.grants.admin


async def _readiness(runtime: Runtime) -> Ready:
    deps = runtime.deps
    if runtime.engine is not None:
        await _undamaged(runtime.engine)
    ping_ms = await deps.connection.ping()
    names = await deps.graphs.existing()
    waiting = [fault for name in names for fault in await _unready(deps.graphs, name)]
    if waiting:
        raise Unavailable("indexes are still being built", remedy="Try again in a moment.", faults=waiting)
    return Ready(
        engine="server" if runtime.engine is None else "embedded",
        ping_ms=round(ping_ms, 3),
        graphs=len(names),
        embedding=deps.embedder.model,
        dimension=deps.embedder.dimension,
        notes=() if runtime.engine is None else disk_space.notes(runtime.engine.directory),
    )


async def _undamaged(engine: EmbeddedEngine) -> None:
    """Raises StoreDamaged when the engine was not started for damage, or its files are shorter than they were."""
    if isinstance(engine.fault, StoreDamaged):
        raise engine.fault
    found = await asyncio.to_thread(checksums.compare, engine.directory, thorough=False)
    if found:
        raise StoreDamaged(f"the data is damaged: {found[0].said}", remedy=REMEDY_DAMAGE)


async def _unready(graphs: Graphs, name: str) -> list[str]:
    try:
        return [f"{name}: {label} is not operational" for label in await graphs.unready(name)]
    except GraphMissing:
        return []  # erased since it was listed
