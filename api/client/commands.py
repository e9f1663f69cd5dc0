"""Commands of any kind, many at once, and what became of one."""

from __future__ import annotations

from collections.abc import Sequence

from api.client.transport import Call, Given, Sender, commands_of, segment
from schemas.commands import Command, WriteReceipt
from schemas.responses import ReceiptList


class Commands(Sender):
    """Many commands, and receipts to be read again."""

    async def apply(self, commands: Sequence[Command | Given], *, atomic: bool = False) -> ReceiptList:
        """Carry out up to 1000 commands in order, each stored or refused on its own; fields say their `command`.

        With `atomic` all of them or none: at most 100, for one graph.
        """
        params = {"atomic": "true"} if atomic else {}
        return await self._answer(ReceiptList, Call("POST", "/v1/commands", commands_of(commands), params))

    async def receipt(
        self, command_id: str, *, citizen_id: str | None = None, level: str | None = None
    ) -> WriteReceipt:
        """What became of a command that was applied. Raises NotFound when none was; a refused one left none."""
        where = {"citizen_id": citizen_id, "level": level}
        return await self._answer(WriteReceipt, Call("GET", f"/v1/receipts/{segment(command_id)}", params=where))
