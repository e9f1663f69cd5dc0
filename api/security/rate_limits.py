"""Limits of a caller: requests in moving windows, wrong keys of an address, and one export at a time.

Requests and wrong keys are counted in this process or, for several processes together, in Redis.
"""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Annotated, Final

import limits
from fastapi import Depends, Request
from limits.aio.strategies import MovingWindowRateLimiter
from limits.errors import StorageError
from limits.storage import storage_from_string
from starlette.concurrency import run_in_threadpool

from api.asgi.disconnects import QUESTION_PATHS
from api.security.permissions import CurrentCaller
from schemas.errors import RateLimited, Unavailable
from schemas.settings import AuthSettings

QUESTION_COST, EXPORT_COST = 4, 40
_CITIZEN_READ_COSTS: Final = {"identity": QUESTION_COST, "dissonances": QUESTION_COST, "export": EXPORT_COST}
"""By the last part of a path under /v1/citizens/."""
WRONG_KEY_PREFIX: Final = "wrong key from "
"""No key id has a space, so no key is counted under such a name."""
RATE_HEADERS: Final = ("RateLimit-Policy", "RateLimit")


def request_cost(method: str, path: str) -> int:
    """How many requests this one counts as: searching a whole memory costs more than reading or writing a part."""
    asks_again = path.startswith("/v1/citizens/") and path.endswith("/feedback")
    if method == "POST" and (path in QUESTION_PATHS or asks_again):
        return QUESTION_COST
    if method == "GET" and path.startswith("/v1/citizens/"):
        return _CITIZEN_READ_COSTS.get(path.rpartition("/")[2], 1)
    return 1


class RateLimits:
    """Counts the requests of each key, and the wrong keys of each address."""

    def __init__(self, settings: AuthSettings) -> None:
        self._limit = None if settings.rate_limit == "off" else limits.parse(settings.rate_limit)
        url = settings.rate_limit_url
        storage = (
            storage_from_string("async+memory://")
            if url is None
            else storage_from_string(
                f"async+{url.get_secret_value()}", implementation="redispy", wrap_exceptions=True
            )
        )
        self._window = MovingWindowRateLimiter(storage)
        wrong = settings.wrong_key_limit
        self._wrong_limit = None if wrong == "off" else limits.parse(wrong)

    async def count(self, key_id: str, cost: int = 1) -> dict[str, str]:
        """Count a request of the key as `cost` requests, at most as the whole limit; return the rate headers.

        Raises RateLimited, and Unavailable when the Redis that counts does not answer.
        """
        if self._limit is None:
            return {}
        within, left, seconds = await self._hit(self._limit, key_id, cost)
        if not within:
            raise RateLimited(
                f"this key may send {self._limit}", remedy="Wait, or send lists.", retry_after=seconds
            )
        window = self._limit.get_expiry()
        policy = f'"key";q={self._limit.amount};w={window}'
        return dict(zip(RATE_HEADERS, (policy, f'"key";r={left};t={seconds}'), strict=True))

    async def count_wrong(self, address: str) -> None:
        """Count an invalid key from this address. Raises what `count` raises."""
        if self._wrong_limit is None:
            return
        within, _, seconds = await self._hit(self._wrong_limit, f"{WRONG_KEY_PREFIX}{address}")
        if not within:
            raise RateLimited(
                f"too many wrong keys came from this address; the limit is {self._wrong_limit}",
                remedy="Send a valid key: it is accepted at once.",
                retry_after=seconds,
            )

    async def _hit(self, limit: limits.RateLimitItem, name: str, cost: int = 1) -> tuple[bool, int, int]:
        """Count. Returns (within the limit, requests left, seconds until the window resets)."""
        try:
            within = await self._window.hit(limit, name, cost=min(cost, limit.amount))
            reset, left = await self._window.get_window_stats(limit, name)
        except StorageError as error:
            raise Unavailable("the store of the rate limits does not answer", remedy="Try again.") from error
        return within, left, max(1, math.ceil(reset - time.time()))


RETRY_AFTER_S: Final = 5
LINES_PER_BLOCK: Final = 100


class Exports:
    """The keys that have an export under way in this process."""

    def __init__(self) -> None:
        self._under_way: set[str] = set()

    @contextmanager
    def reserve(self, key_id: str) -> Iterator[None]:
        """Reserve the one export of the key within the context. Raises RateLimited when it has one already."""
        if key_id in self._under_way:
            raise RateLimited(
                "this key has an export under way, and may have one at a time",
                remedy="Read that one to its end or close it, then ask again.",
                retry_after=RETRY_AFTER_S,
            )
        self._under_way.add(key_id)
        try:
            yield
        finally:
            self._under_way.discard(key_id)


async def _reserve_export(request: Request, caller: CurrentCaller) -> AsyncIterator[ExitStack]:
    exports: Exports = request.app.state.exports
    with exports.reserve(caller.principal.key_id), ExitStack() as stack:
        yield stack


ReservedExport = Annotated[ExitStack, Depends(_reserve_export)]
"""The one export of a key. The stack is closed when the response is sent, or the caller has disconnected."""


async def stream_blocks(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The lines in blocks. Each block is read in a thread, because reading sorts and decodes."""
    while block := await run_in_threadpool(lambda: b"".join(islice(lines, LINES_PER_BLOCK))):
        yield block
