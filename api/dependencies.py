"""What handlers are given: the open runtime, and the clock, read once a request."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from api.runtime import Runtime, now
from schemas.temporal import Instant


async def open_runtime(request: Request) -> Runtime:
    """The store and the embedder that the application opened at its start."""
    runtime: Runtime = request.app.state.runtime
    return runtime


async def read_clock() -> Instant:
    """The moment of the request."""
    return now()


Opened = Annotated[Runtime, Depends(open_runtime)]
Now = Annotated[int, Depends(read_clock)]
