"""The engine's errors, translated to ours."""

from __future__ import annotations

from typing import Final

from redis import exceptions as redis_errors

from schemas.errors import Conflict, Fault, StoreTimeout, SubstrateError, Unavailable

_BUSY: Final = ("Max pending queries", "No connection available", "Background append only file rewriting already")
_REFUSES_WORK: Final = ("OOM", "NOREPLICAS", "MISCONF", "READONLY")


class GraphMissing(Unavailable):
    """The graph does not exist. The store catches it and treats the graph as empty.

    A caller sees it only when the graph was erased while the store answered; the next try treats it as empty.
    """


class ConnectionLost(Unavailable):
    """No answer came; it is unknown whether the command was carried out."""


class EngineBusy(Unavailable):
    """The engine starts, or has too many queries waiting; it did nothing with this one."""


class WritesPaused(Unavailable):
    """The write came while a backup paused all writes; nothing of it was applied."""


def translate_error(error: Exception, query: str) -> SubstrateError:
    """Return our error for an error of the driver; `query` is the name of the query or command."""
    text = str(error)
    if isinstance(error, redis_errors.BusyLoadingError) or text.startswith("LOADING"):
        return EngineBusy("the engine is loading its data", remedy="Try again in a moment.")
    if text.startswith((*_BUSY, *_REFUSES_WORK)):
        kind = EngineBusy if text.startswith(_BUSY) else Unavailable
        return kind(f"the engine refuses work now: {text[:200]}", remedy="See `substrate doctor`.")
    if isinstance(error, (redis_errors.ConnectionError, redis_errors.TimeoutError, OSError)):
        return ConnectionLost(f"the engine did not answer ({query})", remedy="Try again in a moment.")
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
