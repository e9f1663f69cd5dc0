"""Health: whether the process lives, and whether it can serve."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter

from api.dependencies import Opened
from api.runtime import Runtime
from schemas.base import Frozen
from schemas.errors import Unavailable
from substrate.connection import GraphMissing
from substrate.graph_schema import Graphs

router = APIRouter(prefix="/health", tags=["health"])


class Alive(Frozen):
    """The process answers."""

    status: Literal["alive"] = "alive"


class Ready(Frozen):
    """The engine answers, and every index of every graph is operational."""

    status: Literal["ready"] = "ready"
    engine: Literal["embedded", "server"]
    ping_ms: float
    graphs: int
    embedding: str
    dimension: int


@router.get("/live")
async def live() -> Alive:
    """200 for as long as the process lives."""
    return Alive()


@router.get("/ready")
async def ready(runtime: Opened) -> Ready:
    """200 when every request can be served, else a problem that names what is not ready."""
    return await _readiness(runtime)


async def _readiness(runtime: Runtime) -> Ready:
    deps = runtime.deps
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
    )


async def _unready(graphs: Graphs, name: str) -> list[str]:
    try:
        return [f"{name}: {label} is not operational" for label in await graphs.unready(name)]
    except GraphMissing:
        return []  # erased since it was listed
