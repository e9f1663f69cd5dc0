"""A session and a recall for the OpenAI Agents SDK. Needs the extra `substrate-client[openai-agents]`.

session = SubstrateSession("chat-1", client, "ada")
await Runner.run(agent, "Hello", session=session, run_config=RunConfig(call_model_input_filter=session.recall))
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import blake2b
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from uuid import uuid4

from substrate_client.adapters.recalled import MAX_TOKENS, missing, recall, storable
from substrate_client.async_client import AsyncSubstrate
from substrate_client.errors import NotFound, Refused

try:
    from agents import SessionSettings
    from agents.run import ModelInputData
except ModuleNotFoundError as error:
    raise missing("openai-agents", error) from error

if TYPE_CHECKING:
    from agents import TResponseInputItem
    from agents.run import CallModelData

    from substrate_client.models import ConsciousnessNode

AT_ONCE: Final = 100
PIECE: Final = 40_000
"""So many characters of an item stand in one memory, of which the fields take at most 100,000 bytes."""
MAX_NAME: Final = 120


class SubstrateSession:
    """A conversation, item by item, as the SDK's `Session`. What a user or an assistant said is found by recall.

    Each item comes back as it was. What is popped or cleared is retracted: it stays in the history.
    """

    def __init__(
        self,
        session_id: str,
        client: AsyncSubstrate,
        citizen_id: str,
        settings: SessionSettings | None = None,
        *,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        self.session_id, self.session_settings = session_id, settings or SessionSettings()
        self._client, self._citizen_id, self._max_tokens = client, citizen_id, max_tokens
        self._bucket = f"openai-agents/{blake2b(session_id.encode(), digest_size=12).hexdigest()}"
        self._last = 0

    async def recall(self, data: CallModelData[Any]) -> ModelInputData:
        """The input with what is remembered about the last user's message before it; the session does not keep it.

        For `RunConfig(call_model_input_filter=...)`. It asks once before each call of the model.
        """
        given = data.model_data
        said = [number for number, item in enumerate(given.input) if _spoken(item)[0] == "user"]
        if not said:
            return given
        text = _spoken(given.input[said[-1]])[1]
        found = await recall(
            self._client, self._citizen_id, text, max_tokens=self._max_tokens, conversation=self.session_id
        )
        if not found:
            return given
        told = cast("TResponseInputItem", {"role": "user", "content": found})
        return ModelInputData([*given.input[: said[-1]], told, *given.input[said[-1] :]], given.instructions)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items in their order; with `limit` the last of them."""
        most = self.session_settings.limit if limit is None else limit
        items = [json.loads(written) for _, written in await self._stored() if written]
        return items if most is None else items[max(0, len(items) - most) :] if most > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Store items after those that are there. Raises Refused when they were refused."""
        commands = [command for item in items for command in self._commands(item)]
        for first in range(0, len(commands), AT_ONCE):
            await self._apply(commands[first : first + AT_ONCE], atomic=True)

    async def pop_item(self) -> TResponseInputItem | None:
        """Retract the last item and return it; None when there is none."""
        stored = [each for each in await self._stored() if each.written]
        if not stored:
            return None
        await self._retract(stored[-1].memory_ids)
        return cast("TResponseInputItem", json.loads(stored[-1].written))

    async def clear_session(self) -> None:
        """Retract all items."""
        await self._retract([each for item in await self._stored() for each in item.memory_ids])

    async def _retract(self, memory_ids: list[str]) -> None:
        for first in range(0, len(memory_ids), AT_ONCE):
            part = memory_ids[first : first + AT_ONCE]
            await self._apply([{"command": "retract", "id": memory_id} for memory_id in part], atomic=False)

    async def _apply(self, commands: list[dict[str, Any]], *, atomic: bool) -> None:
        owned = [{**command, "citizen_id": self._citizen_id} for command in commands]
        answer = await self._client.apply(owned, atomic=atomic)
        for receipt in answer.receipts:
            gone = receipt.command == "retract" and receipt.problem in ("conflict", "not-found")
            if receipt.status == "refused" and not gone:  # another caller may have retracted it just now
                raise Refused("; ".join(receipt.faults), faults=receipt.faults)

    def _commands(self, item: TResponseInputItem) -> Iterator[dict[str, Any]]:
        """The memories of an item: its JSON in pieces, and in the first one what was said."""
        self._last = max(self._last + 1, time_ns())
        role, text = _spoken(item)
        token = uuid4().hex[:12]  # of two callers at one moment
        kind, written = str(item.get("type", "message")), json.dumps(item)
        pieces = [written[start : start + PIECE] for start in range(0, len(written), PIECE)]
        for number, piece in enumerate(pieces):
            place = {"at": self._last, "item": token, "piece": number, "of": len(pieces)}
            named = {"node_type": "SessionItem", "name": kind, "source": "tool"}
            if text and number == 0:
                name = f"{role.capitalize()}: {' '.join(text.split())}"[:MAX_NAME]
                named = {"node_type": "Turn", "name": name, "description": text, "speaker": role}
                named["source"] = "ingestion"
            yield {
                "command": "remember",
                "id": f"{self._bucket.replace('/', ':')}:{token}:{number}",
                **named,
                "episode_id": self.session_id,
                "buckets": [self._bucket],
                "extra": {"place": place, "json": piece},
                "restate": True,
            }

    async def _stored(self) -> list[_Stored]:
        """Each item with the ids of its memories, in order."""
        items: dict[tuple[int, str], list[ConsciousnessNode]] = {}
        cursor: str | None = None
        while True:
            try:
                page = await self._client.list_memories(
                    citizen_id=self._citizen_id, bucket=self._bucket, limit=500, cursor=cursor
                )
            except NotFound:  # nothing was remembered yet
                return []
            for memory in page.memories:
                place = memory.extra["place"]
                items.setdefault((place["at"], place["item"]), []).append(memory)
            cursor = page.next
            if cursor is None:
                return [_join(pieces) for _, pieces in sorted(items.items())]


class _Stored(NamedTuple):
    """An item as it is stored. `written` is its JSON; empty where a piece is missing: a write broke off."""

    memory_ids: list[str]
    written: str


def _join(pieces: list[ConsciousnessNode]) -> _Stored:
    pieces.sort(key=lambda memory: int(memory.extra["place"]["piece"]))
    whole = len(pieces) == pieces[0].extra["place"]["of"]
    written = "".join(memory.extra["json"] for memory in pieces) if whole else ""
    return _Stored([memory.node_id for memory in pieces], written)


def _spoken(item: Mapping[str, Any] | TResponseInputItem) -> tuple[str, str]:
    """Who said the item, and its text; nothing of a tool, a thought or an instruction."""
    fields = cast("Mapping[str, Any]", item)
    role, content = fields.get("role"), fields.get("content")
    if role not in ("user", "assistant"):
        return "", ""
    parts = [content] if isinstance(content, str) else [part.get("text") for part in content or ()]
    return str(role), storable("\n".join(part for part in parts if isinstance(part, str)))
