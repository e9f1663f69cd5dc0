"""The service itself: its health, its keys, and what it says of a link before one is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.client.transport import Call, Sender, fields_of, segment
from schemas.keys import KeyChange, KeyInfo, KeyList, KeyRequest, NewKey
from schemas.responses import Alive, Ready
from schemas.upkeep import RepairOutcome, RepairRequest, SweepAnswer, SweepRequest
from schemas.validation import ValidationResult


class Service(Sender):
    """What is about no citizen."""

    async def live(self) -> Alive:
        """Whether the process answers."""
        return await self._answer(Alive, Call("GET", "/health/live", again=False))

    async def health(self) -> Ready:
        """Whether every request can be served. Raises Unavailable at once when not."""
        return await self._answer(Ready, Call("GET", "/health/ready", again=False))

    async def validate_link(self, link: Mapping[str, Any]) -> ValidationResult:
        """Errors, warnings and completeness of a link's metadata; nothing is stored."""
        return await self._answer(ValidationResult, Call("POST", "/v1/validation/link", dict(link)))

    async def sweep(self, request: SweepRequest | None = None, /, **fields: Any) -> SweepAnswer:
        """Go over whole graphs and report their state; with `limit` in batches, each from `next`."""
        return await self._answer(SweepAnswer, Call("POST", "/v1/upkeep/sweep", fields_of(request, fields)))

    async def repair(self, request: RepairRequest | None = None, /, **fields: Any) -> RepairOutcome:
        """Run the task of a finding. `gone`: it is no longer as it was seen, and nothing was changed."""
        return await self._answer(RepairOutcome, Call("POST", "/v1/upkeep/repair", fields_of(request, fields)))

    async def create_key(self, request: KeyRequest | None = None, /, **fields: Any) -> NewKey:
        """Make a key. It is shown this once."""
        return await self._answer(NewKey, Call("POST", "/v1/keys", fields_of(request, fields), again=False))

    async def list_keys(self) -> KeyList:
        """All keys, oldest first, those revoked or expired included."""
        return await self._answer(KeyList, Call("GET", "/v1/keys"))

    async def change_key(self, key_id: str, change: KeyChange | None = None, /, **fields: Any) -> KeyInfo:
        """Raise or lower the highest source that the key may claim."""
        return await self._answer(KeyInfo, Call("PATCH", f"/v1/keys/{segment(key_id)}", fields_of(change, fields)))

    async def revoke_key(self, key_id: str) -> KeyInfo:
        """The key counts no longer."""
        return await self._answer(KeyInfo, Call("DELETE", f"/v1/keys/{segment(key_id)}"))
