"""Dependencies of handlers: the open runtime, and the moment, read from the engine once per request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from api.runtime.idle_upkeep import Traffic
from api.runtime.opening import StoreHolder
from api.runtime.runtime import Runtime
from api.security.authentication import Keyring
from orchestration.dependencies import Deps
from schemas.temporal import Instant


async def get_runtime(request: Request) -> Runtime:
    """The open store and embedder. Raises Unavailable until they are open, or the error that keeps them closed."""
    store: StoreHolder[Keyring] = request.app.state.store
    return store.get()[0]


async def read_clock(request: Request) -> Instant:
    """The moment of the request, by the clock of the engine's host."""
    return await (await get_runtime(request)).moment()


OpenRuntime = Annotated[Runtime, Depends(get_runtime)]


async def get_deps(runtime: OpenRuntime) -> Deps:
    """What the flows need. Raises as `get_runtime`."""
    return runtime.deps


async def get_traffic(request: Request) -> Traffic:
    """The requests that this process answers, and has answered."""
    traffic: Traffic = request.app.state.traffic
    return traffic


ServiceTraffic = Annotated[Traffic, Depends(get_traffic)]
OpenDeps = Annotated[Deps, Depends(get_deps)]
Now = Annotated[int, Depends(read_clock)]
