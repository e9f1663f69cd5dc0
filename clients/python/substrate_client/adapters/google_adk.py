"""A memory service for Google's ADK. Needs the extra `substrate-client[google-adk]`.

    Runner(agent=agent, app_name="app", memory_service=SubstrateMemoryService(client), ...)

A user of an app is a citizen. Every memory keeps its revisions: `revisions` reads them, and no call changes them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from substrate_client.adapters.recalled import missing, question, storable, told, unmarked
from substrate_client.async_client import AsyncSubstrate
from substrate_client.errors import InvalidRequest, NotFound

try:
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.genai.types import Content, Part
except ModuleNotFoundError as error:
    raise missing("google-adk", error) from error

if TYPE_CHECKING:
    from google.adk.events.event import Event
    from google.adk.sessions.session import Session

    from substrate_client.models import ConsciousnessNode, MemoryRecord

MOST: Final = 10
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}")
_TOLD: Final = ("version", "node_type", "closed_reason")
_TIMES: Final = ("valid_at", "invalid_at", "created_at", "expired_at")


def citizen_of(app_name: str, user_id: str) -> str:
    """The citizen who is this user of this app: `app.user`, or a digest where a name has other characters."""
    if _PLAIN.fullmatch(app_name) and _PLAIN.fullmatch(user_id):
        return f"{app_name}.{user_id}"
    return f"adk.{blake2b(json.dumps([app_name, user_id]).encode(), digest_size=16).hexdigest()}"


class SubstrateMemoryService(BaseMemoryService):
    """The ADK's memory in a Substrate. `citizen` names the citizen of a user; a search has `most` entries."""

    def __init__(
        self, client: AsyncSubstrate, citizen: Callable[[str, str], str] = citizen_of, most: int = MOST
    ) -> None:
        self._client, self._citizen, self._most = client, citizen, most

    async def add_session_to_memory(self, session: Session) -> None:
        """Hear the events of a session; sent again, it adds only what is new."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Hear what a user or an agent said, each event once by its id; calls of tools and thoughts are not heard.

        Raises Refused when a message was refused.
        """
        said = [message for message in map(_message, events) if message["content"]]
        if said:
            citizen_id = self._citizen(app_name, user_id)
            await self._client.hear(session_id or "adk", citizen_id=citizen_id, messages=said)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Remember entries. One with the `id` of a memory that is there becomes its next revision."""
        citizen_id = self._citizen(app_name, user_id)
        for entry in memories:
            text = _text(entry.content)
            if not text:
                raise InvalidRequest("a memory entry has no text", remedy="Give its content a part with a text.")
            fields: dict[str, Any] = {"citizen_id": citizen_id, "name": text[:120], "description": text}
            given_metadata = {**(custom_metadata or {}), **entry.custom_metadata}
            kept = {name: value for name, value in given_metadata.items() if name not in (*_TIMES, *_TOLD)}
            fields |= {"extra": kept} if kept else {}
            if entry.id is not None and await self._is_there(citizen_id, entry.id):
                fields |= {"effective_at": entry.timestamp} if entry.timestamp else {}
                await self._client.supersede(id=entry.id, **fields)
            else:
                given = {"id": entry.id, "speaker": entry.author, "valid_at": entry.timestamp}
                fields |= {name: value for name, value in given.items() if value is not None}
                await self._client.remember(**fields, restate=True)

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """The memories that fit, most active first; none where nothing fits."""
        asked = question(self._citizen(app_name, user_id), query, parts=["activation_tiers"])
        if not asked["query_text"]:
            return SearchMemoryResponse()
        found = told(await self._client.retrieve(**asked))
        return SearchMemoryResponse(memories=[_entry(memory) for memory in found[: self._most]])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:
        """Retract a memory; its revisions stay. Added again with its session, it does not come back."""
        if memory_id is not None:
            await self._client.retract(id=memory_id, citizen_id=self._citizen(app_name, user_id))

    async def revisions(self, *, app_name: str, user_id: str, memory_id: str) -> list[MemoryEntry]:
        """All revisions of a memory, the oldest first; `custom_metadata` says when each held and was known."""
        history = await self._client.history(memory_id, citizen_id=self._citizen(app_name, user_id))
        return [_entry(record) for record in history.records]

    async def _is_there(self, citizen_id: str, memory_id: str) -> bool:
        try:
            await self._client.get(memory_id, citizen_id=citizen_id)
        except NotFound:
            return False
        return True


def _message(event: Event) -> dict[str, Any]:
    """What the event says, for `hear`."""
    content = event.content
    role = "user" if event.author == "user" else "assistant"
    at = datetime.fromtimestamp(event.timestamp, timezone.utc).isoformat()
    text = "" if content is None or event.partial else _text(content)
    return {"id": event.id, "role": role, "content": text, "timestamp": at}


def _text(content: Content) -> str:
    """The text of a content, without thoughts, files and calls."""
    return storable("\n".join(part.text for part in content.parts or () if part.text and not part.thought))


def _entry(memory: ConsciousnessNode | MemoryRecord) -> MemoryEntry:
    times = {name: getattr(memory, name) for name in _TIMES}
    kept = {name: time.isoformat() for name, time in times.items() if time is not None}
    kept |= {"version": memory.version, "node_type": memory.node_type}
    kept |= {} if memory.closed_reason is None else {"closed_reason": memory.closed_reason}
    said = Content(role="user", parts=[Part(text=unmarked(memory.description or memory.name))])
    return MemoryEntry(
        id=memory.node_id,
        content=said,
        author=memory.speaker,
        timestamp=memory.valid_at.isoformat(),
        custom_metadata={**memory.extra, **kept},
    )
