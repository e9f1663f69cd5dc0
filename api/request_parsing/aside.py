"""Work on what is large, beside the event loop: whoever asks for little does not wait for whoever sends much.

One worker does it, one piece after another: several would share the interpreter and hold so many times the memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

LARGE: Final = 64 << 10
"""Bytes of a body from which on it is read beside the event loop: what is smaller takes a millisecond."""

_WORKER: Final = ThreadPoolExecutor(1, "large-bodies")


async def aside[*Given, T](size: int, work: Callable[[*Given], T], *given: *Given) -> T:
    """What the work gives; `size` is that of the body which it is about, in bytes."""
    if size < LARGE:
        return work(*given)
    return await asyncio.get_running_loop().run_in_executor(_WORKER, work, *given)
