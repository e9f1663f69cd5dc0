"""What handlers are given: the open runtime, and the moment, asked of the engine once a request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from api.runtime import Runtime
from schemas.temporal import Instant


async def open_runtime(request: Request) -> Runtime:
    """The store and the embedder that the application opened at its start."""
    runtime: Runtime = request.app.state.runtime
    return runtime


async def read_clock(runtime: Annotated[Runtime, Depends(open_runtime)]) -> Instant:
    """The moment of the request, by the clock of the engine's host."""
    return await runtime.moment()


Opened = Annotated[Runtime, Depends(open_runtime)]
Now = Annotated[int, Depends(read_clock)]
