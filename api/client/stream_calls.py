"""The calls on the streams of a citizen: what is kept of them, and asking one again."""

from __future__ import annotations

from typing import Any, Unpack

from api.client import fields
from api.client.transport import Call, Sender, quote_segment
from orchestration.features.replay.values import Replay, StreamPage, StreamRecord
from schemas.stream_forms import PART_FIELDS


def with_form(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a question, which asks for each memory once unless it names another form.

    The compact form brings all sections beside its text, unless `max_tokens` bounds it.
    """
    asked = {"form": "references", **fields}
    is_whole = asked["form"] == "compact" and asked.get("max_tokens") is None
    return {"parts": list(PART_FIELDS), **asked} if is_whole else asked


class StreamCalls(Sender):
    """The calls of a client on streams."""

    async def stream(self, stream_id: str) -> StreamRecord:
        """What a stream was asked and showed. Raises NotFound for one that is not noted."""
        return await self._request(StreamRecord, Call("GET", f"/v1/streams/{quote_segment(stream_id)}"))

    async def streams(self, citizen_id: str, /, **page: Unpack[fields.PageFields]) -> StreamPage:
        """A page of the streams of a citizen, the newest first."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/streams"
        return await self._request(StreamPage, Call("GET", path, params=page))

    async def replay(self, stream_id: str) -> Replay:
        """Ask the same again, as of then and known then. Raises NotFound for a stream that is not noted."""
        return await self._request(Replay, Call("POST", f"/v1/streams/{quote_segment(stream_id)}/replay"))
