"""Links: written, revised, read, now or as they were."""

from __future__ import annotations

from typing import Any

from api.client.transport import Call, Sender, address, command_of
from schemas.commands import CorrectLink, Relate, ResolveLink, SupersedeLink, UndoLink, Unrelate, WriteReceipt
from schemas.memory import ConsciousnessRelationship
from schemas.responses import LinkHistory, LinkPage


class Links(Sender):
    """The commands on links, and their reading. `level` is N1 unless said."""

    async def relate(self, command: Relate | None = None, /, **fields: Any) -> WriteReceipt:
        """Store one link between two memories."""
        return await self._answer(WriteReceipt, Call("POST", "/v1/links", command_of(command, fields)))

    async def supersede_link(self, command: SupersedeLink | None = None, /, **fields: Any) -> WriteReceipt:
        """The world changed: the old metadata end at `effective_at`, the new begin there."""
        return await self._revise("links/supersede", command_of(command, fields))

    async def correct_link(self, command: CorrectLink | None = None, /, **fields: Any) -> WriteReceipt:
        """We were wrong: the corrected metadata hold over the same valid time."""
        return await self._revise("links/correct", command_of(command, fields))

    async def unrelate(self, command: Unrelate | None = None, /, **fields: Any) -> WriteReceipt:
        """The link no longer holds from `effective_at` on; without one it never did."""
        return await self._revise("links/retract", command_of(command, fields))

    async def resolve_link(self, command: ResolveLink | None = None, /, **fields: Any) -> WriteReceipt:
        """What the link is about stands otherwise: resolved, unless another state is named."""
        return await self._revise("links/resolve", command_of(command, fields))

    async def undo_link(self, command: UndoLink | None = None, /, **fields: Any) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        return await self._revise("links/undo", command_of(command, fields))

    async def get_link(self, link_id: str, /, **where: Any) -> ConsciousnessRelationship:
        """The link as it is now; with `as_of_time`, `known_at` as it was, and as was known, then."""
        said = {**where, "id": link_id}
        return await self._answer(ConsciousnessRelationship, Call("GET", address("links", said), params=said))

    async def link_history(self, link_id: str, /, **whose: Any) -> LinkHistory:
        """All records of the link, in the order in which they became known; with `limit` or `cursor` a page."""
        said = {**whose, "id": link_id}
        call = Call("GET", f"{address('links', said)}/history", params=said)
        return await self._whole(LinkHistory, call, "records")

    async def list_links(self, /, **asked: Any) -> LinkPage:
        """What a graph holds, now or at a moment, a page at a time: `cursor` is the `next` of the page before."""
        return await self._answer(LinkPage, Call("GET", "/v1/links", params=asked))
