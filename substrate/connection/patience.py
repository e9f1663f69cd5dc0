"""Waiting for an engine that is busy, or that starts again. A load waits; a request is told at once.

Only what certainly changed nothing is sent again here: a read, and a write that the engine refused or rolled back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from schemas.errors import StoreTimeout, Unavailable
from substrate.connection.errors import ConnectionLost, EngineBusy

LOAD_PATIENCE_S: Final = 600.0
"""How long each statement of a load waits. An engine with a million memories that was killed is back before."""
FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 5.0

_PATIENCE_S: Final[ContextVar[float]] = ContextVar("patience", default=0.0)

type Errors = tuple[type[Unavailable], ...]
NOT_DONE: Final[Errors] = (StoreTimeout, EngineBusy)
"""The statement changed nothing."""
NO_ANSWER: Final[Errors] = (*NOT_DONE, ConnectionLost)
"""A read may be sent again after these."""


def patience_s() -> float:
    """How long a statement that is sent now may wait."""
    return _PATIENCE_S.get()


@contextmanager
def patient(seconds: float) -> Iterator[None]:
    """Within the context each statement waits so long for the engine; 0: its error is raised at once."""
    token = _PATIENCE_S.set(seconds)
    try:
        yield
    finally:
        _PATIENCE_S.reset(token)


async def patiently[Answer](send: Callable[[], Awaitable[Answer]], errors: Errors) -> Answer:
    """Return what `send` returns; while it raises one of these errors, call it again until patience ends."""
    give_up = time.monotonic() + patience_s()
    pause = FIRST_PAUSE_S
    while True:
        try:
            return await send()
        except errors:
            if time.monotonic() + pause > give_up:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)
