"""Episodes: a conversation in, with no language model."""

from __future__ import annotations

import asyncio
from hashlib import blake2b
from typing import Annotated, Any, Final

import orjson
from fastapi import APIRouter, Path, Query
from pydantic import Field, WithJsonSchema

from api import metrics
from api.bodies import StrictRoute
from api.dependencies import Now, Opened
from api.erasing import OfCitizen, erase_said
from api.needs import CONVERSATION, ERASURES, CallerOf, needs
from api.writing import Write
from orchestration.facts import draw_facts, needed_model
from orchestration.formats import File, Given, Intake, parse
from orchestration.formats.reading import MAX_NAME
from orchestration.ingest import ingest
from schemas.answers import EpisodeReport
from schemas.base import MAX_TEXT, SAYING, CitizenId, Flag, Identifier, Request
from schemas.bounds import AtMost
from schemas.erasure import EraseEpisode, ErasureReport
from schemas.memory import Level

router = APIRouter(prefix="/v1/episodes", tags=["episodes"], route_class=StrictRoute)


_NAME: Final = {"type": "string", "pattern": SAYING, "maxLength": MAX_NAME}
_TEXT: Final = {"type": "string", "pattern": SAYING, "maxLength": MAX_TEXT}
Message = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "title": "Message",
            "type": "object",
            "examples": [{"role": "user", "content": "Hello."}],
            "properties": dict.fromkeys(("speaker", "role", "session"), _NAME)
            | dict.fromkeys(("text", "content"), _TEXT)
            | {name: {"type": "string", "format": "date-time"} for name in ("timestamp", "time")},
            "allOf": [
                {"anyOf": [{"required": [one]} for one in names]}
                for names in (("speaker", "role"), ("text", "content"))
            ],
        }
    ),
]
"""What `orchestration.formats.messages` reads; other fields are kept."""


class Conversation(Request):
    """Messages in their order: each a `speaker` or `role`, a `text` or `content`, and if known a `timestamp`.

    `episode_id` names the conversation; left out, it is made from the messages. Sent again, nothing doubles.
    `extract_facts` has the language model, if one is configured, read typed links out of what was said.
    """

    citizen_id: CitizenId
    episode_id: Identifier | None = None
    extract_facts: Flag = False
    messages: Annotated[list[Message], Field(min_length=1, fail_fast=True), AtMost(10_000)]


@router.post("", operation_id="remember_episode")
@needs(CONVERSATION)
async def remember_episode(
    conversation: Conversation, runtime: Opened, now: Now, caller: CallerOf
) -> EpisodeReport:
    """Store a conversation: turns, who said them, their order, and the session they were said in."""
    if conversation.extract_facts:
        needed_model(runtime.deps)
    episode_id, intake = await asyncio.to_thread(_read, conversation)
    writer = caller.writer_of(Level.N1, conversation.citizen_id)
    report = await ingest(intake, runtime.deps, now, writer=writer)
    caller.commands += [item.command_id for item in intake.items if item.command_id is not None]
    metrics.ingested(report.stored, report.duplicates, report.refused)
    facts = await draw_facts(intake, runtime.deps, now, writer) if conversation.extract_facts else None
    return EpisodeReport(**dict(report), citizen_id=conversation.citizen_id, episode_id=episode_id, facts=facts)


@router.delete("/{episode_id:path}", operation_id="erase_episode")
@needs(ERASURES)
async def erase_episode(
    episode_id: Annotated[Identifier, Path()], of: Annotated[OfCitizen, Query()], writing: Write
) -> ErasureReport:
    """Remove a conversation for good: its memories, its links, and the people whom only it knew."""
    return await erase_said({**of.model_dump(), "episode_id": episode_id}, EraseEpisode, writing)


def _read(conversation: Conversation) -> tuple[str, Intake]:
    """The id of the episode and what it holds. Raises InvalidRequest for what is no message."""
    messages = orjson.dumps(conversation.messages)
    episode_id = conversation.episode_id or f"episode_{blake2b(messages, digest_size=8).hexdigest()}"
    file = File("messages", messages.decode())
    return episode_id, parse("messages", Given(episode_id, (file,), conversation.citizen_id))
