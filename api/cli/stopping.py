"""Running to the end, or until somebody says stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from typing import Any


def run[T](work: Coroutine[Any, Any, T]) -> T:
    """Run to the end. Whoever asks us to stop cancels the work, so that the engine is left in order.

    Raises KeyboardInterrupt when that happened.
    """
    try:
        return asyncio.run(_stoppable(work))
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error


async def _stoppable[T](work: Coroutine[Any, Any, T]) -> T:
    task = asyncio.current_task()
    if task is not None:
        for sign in (signal.SIGTERM, signal.SIGHUP):
            asyncio.get_running_loop().add_signal_handler(sign, task.cancel)
    return await work
