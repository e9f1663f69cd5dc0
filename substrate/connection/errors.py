"""The engine's errors, translated to ours, and waiting for an engine that is busy, or that starts again.

A load waits; a request is told at once. Only what certainly changed nothing is sent again here: a read, and a
write that the engine refused or rolled back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from redis import exceptions as redis_errors

from schemas.errors import Conflict, Fault, StoreTimeout, SubstrateError, Unavailable
from substrate.connection.topology import MOVING, Unconfirmed

_BUSY: Final = ("Max pending queries", "No connection available", "Background append only file rewriting already")
_REFUSES_WORK: Final = ("OOM", "NOREPLICAS", "MISCONF")


class GraphMissing(Unavailable):
    """The graph does not exist. The store catches it and treats the graph as empty. A caller sees it only when the
    graph was erased while the store answered; the next try treats it as empty."""


class ConnectionLost(Unavailable):
    """No answer came; it is unknown whether the command was carried out."""


class EngineBusy(Unavailable):
    """The engine starts, or has too many queries waiting; it did nothing with this one."""


class Moving(EngineBusy):
    """No server holds the graph now, or another one than a moment ago; nothing was done."""


class NotConfirmed(ConnectionLost):
    """The primary carried the write out, and too few replicas said in time that they have it: a failover may keep
    it or lose it."""


class WritesPaused(Unavailable):
    """The write came while a backup paused all writes; nothing of it was applied."""


def translate_error(error: Exception, query: str) -> SubstrateError:
    """Return our error for an error of the driver; `query` is the name of the query or command."""
    text = str(error)
    if isinstance(error, (Unconfirmed, *MOVING)) or text.startswith(("LOADING", "READONLY")):
        return _translate_move(error, text)
    if text.startswith((*_BUSY, *_REFUSES_WORK)):
        kind = EngineBusy if text.startswith(_BUSY) else Unavailable
        return kind(f"the engine refuses work now: {text[:200]}", remedy="See `substrate doctor`.")
    lost = (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError)
    if isinstance(error, lost) or text.startswith("UNBLOCKED"):  # it became a replica while it worked
        return _translate_loss(error, text, query)
    if "timed out" in text:
        return StoreTimeout(
            f"the query {query} ran past its deadline", remedy="Ask for fewer results or try again."
        )
    if "currently paused" in text:
        return WritesPaused("writes wait for a backup", remedy="Try again in a moment.")
    if "empty key" in text:
        return GraphMissing(f"the graph was removed meanwhile ({query})", remedy="Try again.")
    if "constraint violation" in text:
        return Conflict("a record with this id exists already")
    return Fault(f"the engine refused the query {query}: {text[:300]}")


def _translate_loss(error: Exception, text: str, query: str) -> SubstrateError:
    if isinstance(error, redis_errors.AuthenticationError):
        return Unavailable(
            f"the engine refuses the user or the password ({query}): {text[:200]}",
            remedy="Set FALKORDB_USERNAME and FALKORDB_PASSWORD, or both in SUBSTRATE_URL.",
        )
    return ConnectionLost(f"the engine did not answer ({query})", remedy="Try again in a moment.")


def _translate_move(error: Exception, text: str) -> SubstrateError:
    if isinstance(error, Unconfirmed):
        return NotConfirmed(
            f"a write is not confirmed: {text}",
            remedy="Send the same command again: its receipt says whether it was stored.",
        )
    loading = isinstance(error, redis_errors.BusyLoadingError) or text.startswith("LOADING")
    told = "loading its data" if loading else f"not where it was: {text[:200]}"
    return Moving(f"the engine is {told}", remedy="Try again in a moment.")


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


async def patiently[Answer](
    send: Callable[[], Awaitable[Answer]], errors: Errors, moving_s: float = 0.0
) -> Answer:
    """Return what `send` returns; while it raises one of these errors, call it again until patience ends.
    `moving_s`: how long a request waits as well where no server holds its graph, or did not answer."""
    begun = time.monotonic()
    pause = FIRST_PAUSE_S
    while True:
        try:
            return await send()
        except errors as error:
            most = max(patience_s(), moving_s if isinstance(error, (Moving, ConnectionLost)) else 0.0)
            if time.monotonic() + pause > begun + most:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_S)
