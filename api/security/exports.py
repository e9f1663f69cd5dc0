"""Exports over HTTP: each key may run one at a time, until its caller has read it or disconnects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Annotated, Final

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from api.security.permissions import CurrentCaller
from schemas.errors import RateLimited

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
