"""The calls on what citizens share: copies, contests, agreement, collectives."""

from __future__ import annotations

from typing import Literal, TypedDict, Unpack
from uuid import uuid4

from api.client import fields
from api.client.transport import Call, Sender, collect_command, quote_segment
from orchestration.features.sharing.values import Agreement, ContestedPage, ContestRequest, Share, Shared, Withdraw
from schemas.collectives import CollectivePage
from schemas.commands import ErasureReport, WriteReceipt

type SharedLevelName = Literal["N2", "N3"]


class ErasureFields(TypedDict, total=False):
    command_id: str | None


class ShareFields(fields.CitizenFields, total=False):
    command_id: str | None
    from_level: Literal["N1", "N2"]
    from_collective: str | None
    id: str
    level: SharedLevelName
    collective: str | None
    with_links: bool


class WithdrawFields(fields.CitizenFields, total=False):
    command_id: str | None
    level: SharedLevelName
    collective: str | None
    id: str


class ContestFields(WithdrawFields, total=False):
    reason: str


class ContestedFields(fields.PageFields, total=False):
    level: SharedLevelName
    collective: str | None
    by: str | None
    author: str | None


class SharingCalls(Sender):
    """The calls of a client on what citizens share."""

    async def share(self, request: Share | None = None, /, **given: Unpack[ShareFields]) -> Shared:
        """Copy a memory with its links to N2 or N3; sent again, it brings the copy up to date."""
        return await self._request(Shared, Call("POST", "/v1/share", collect_command(request, given)))

    async def contest(
        self, request: ContestRequest | None = None, /, **given: Unpack[ContestFields]
    ) -> WriteReceipt:
        """Say that a shared memory of another is wrong, and why; sent again, it changes the reason."""
        return await self._request(WriteReceipt, Call("POST", "/v1/contests", collect_command(request, given)))

    async def withdraw_contest(
        self, request: Withdraw | None = None, /, **given: Unpack[WithdrawFields]
    ) -> WriteReceipt:
        """Take a contest back from now on."""
        return await self._request(
            WriteReceipt, Call("POST", "/v1/contests/withdraw", collect_command(request, given))
        )

    async def list_contested(self, /, **page: Unpack[ContestedFields]) -> ContestedPage:
        """One page of the shared memories that somebody contests, with who does and why."""
        return await self._request(ContestedPage, Call("GET", "/v1/contested", params=page))

    async def agreement(
        self, memory_id: str, /, level: SharedLevelName = "N2", *, collective: str | None = None
    ) -> Agreement:
        """How far the citizens agree on a shared memory: who holds it, who has a copy, who contests it."""
        path = f"/v1/memories/{level}/{quote_segment(memory_id)}/agreement"
        return await self._request(Agreement, Call("GET", path, params={"collective": collective}))

    async def list_collectives(self, /, **page: Unpack[fields.PageFields]) -> CollectivePage:
        """One page of the collectives that the key may read; `cursor` is the `next` of the page before."""
        return await self._request(CollectivePage, Call("GET", "/v1/collectives", params=page))

    async def erase_collective(self, collective: str, /, **given: Unpack[ErasureFields]) -> ErasureReport:
        """Remove a whole collective for good, with all that anybody wrote there."""
        params = {"command_id": given.get("command_id") or uuid4().hex}
        path = f"/v1/collectives/{quote_segment(collective)}"
        return await self._request(ErasureReport, Call("DELETE", path, params=params))
