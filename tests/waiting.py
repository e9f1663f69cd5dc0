"""Waits for a condition instead of a fixed time. The limit is generous: only a test that fails waits so long."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Final

LIMIT_S: Final = 300.0
PAUSE_S: Final = 0.02


def becomes(condition: Callable[[], object], limit_s: float = LIMIT_S) -> bool:
    """Whether the condition comes true within the limit."""
    give_up = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(PAUSE_S)
    return True


def wait_until(condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Return when the condition is true. Raises AssertionError after the limit."""
    assert becomes(condition, limit_s), f"not true within {limit_s:g} seconds"


async def becomes_async(condition: Callable[[], object], limit_s: float = LIMIT_S) -> bool:
    """Whether the condition comes true within the limit, while the tasks of the event loop go on."""
    give_up = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        await asyncio.sleep(PAUSE_S / 4)
    return True


async def wait_until_async(condition: Callable[[], object], limit_s: float = LIMIT_S) -> None:
    """Return when the condition is true; other tasks go on. Raises AssertionError after the limit."""
    assert await becomes_async(condition, limit_s), f"not true within {limit_s:g} seconds"
