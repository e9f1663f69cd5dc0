"""Exports over HTTP: one at a time for each key, as long as its caller reads."""

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
    """Which keys have an export under way in this process."""

    def __init__(self) -> None:
        self._under_way: set[str] = set()

    @contextmanager
    def alone(self, key_id: str) -> Iterator[None]:
        """As long as it is open, the key has an export. Raises RateLimited when it has one already."""
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
    with exports.alone(caller.principal.key_id), ExitStack() as held:
        yield held


ReservedExport = Annotated[ExitStack, Depends(_reserve_export)]
"""The only export of a key; what is put into it is closed when the answer has been sent, or its caller left."""


async def stream_blocks(lines: Iterator[bytes]) -> AsyncIterator[bytes]:
    """The lines, some at a time: each block is sorted and read by a thread."""
    while block := await run_in_threadpool(_block, lines):
        yield block


def _block(lines: Iterator[bytes]) -> bytes:
    return b"".join(islice(lines, LINES_PER_BLOCK))
