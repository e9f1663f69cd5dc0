"""Memories: written, revised, read, now or as they were."""

from __future__ import annotations

from typing import Any

from api.client.transport import Call, Sender, address, command_of
from schemas.commands import Correct, Remember, Resolve, Retract, Supersede, Undo, WriteReceipt
from schemas.memory import ConsciousnessNode
from schemas.responses import MemoryHistory, MemoryPage


class Memories(Sender):
    """The commands on memories, and their reading. `level` is N1 unless said."""

    async def remember(self, command: Remember | None = None, /, **fields: Any) -> WriteReceipt:
        """Store one memory."""
        return await self._answer(WriteReceipt, Call("POST", "/v1/memories", command_of(command, fields)))

    async def supersede(self, command: Supersede | None = None, /, **fields: Any) -> WriteReceipt:
        """The world changed: the old content ends at `effective_at`, the new begins there."""
        return await self._revise("memories/supersede", command_of(command, fields))

    async def correct(self, command: Correct | None = None, /, **fields: Any) -> WriteReceipt:
        """We were wrong: the corrected content holds over the same valid time."""
        return await self._revise("memories/correct", command_of(command, fields))

    async def retract(self, command: Retract | None = None, /, **fields: Any) -> WriteReceipt:
        """The memory no longer holds from `effective_at` on; without one it never did."""
        return await self._revise("memories/retract", command_of(command, fields))

    async def resolve(self, command: Resolve | None = None, /, **fields: Any) -> WriteReceipt:
        """What the memory is about stands otherwise: resolved, unless another state is named."""
        return await self._revise("memories/resolve", command_of(command, fields))

    async def undo(self, command: Undo | None = None, /, **fields: Any) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        return await self._revise("memories/undo", command_of(command, fields))

    async def get(self, memory_id: str, /, **where: Any) -> ConsciousnessNode:
        """The memory as it is now; with `as_of_time`, `known_at` as it was, and as was known, then."""
        said = {**where, "id": memory_id}
        return await self._answer(ConsciousnessNode, Call("GET", address("memories", said), params=said))

    async def history(self, memory_id: str, /, **whose: Any) -> MemoryHistory:
        """All records of the memory, in the order in which they became known; with `limit` or `cursor` a page."""
        said = {**whose, "id": memory_id}
        call = Call("GET", f"{address('memories', said)}/history", params=said)
        return await self._whole(MemoryHistory, call, "records")

    async def list_memories(self, /, **asked: Any) -> MemoryPage:
        """What a graph holds, now or at a moment, a page at a time: `cursor` is the `next` of the page before."""
        return await self._answer(MemoryPage, Call("GET", "/v1/memories", params=asked))
