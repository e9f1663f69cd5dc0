"""Works that run at once. One that has nothing to wait for costs no turn of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, overload

type Work[Result] = Coroutine[Any, Any, Result]


@overload
async def together[First, Second](first: Work[First], second: Work[Second], /) -> tuple[First, Second]: ...
@overload
async def together[Result](*works: Work[Result]) -> list[Result]: ...
async def together(*works: Work[Any]) -> Any:
    """The results of the works in their order, as `asyncio.gather` has them; each begins before the next one.
    Raises the first error; what has begun goes on."""
    if len(works) == 1:
        return [await works[0]]
    loop = asyncio.get_running_loop()
    tasks = [asyncio.Task(work, loop=loop, eager_start=True) for work in works]
    lacking = [task for task in tasks if not task.done() or task.cancelled() or task.exception() is not None]
    if len(lacking) > 1:
        return list(await asyncio.gather(*tasks))
    for task in lacking:
        await task  # a gathering wakes a turn of the loop later
    return [task.result() for task in tasks]
