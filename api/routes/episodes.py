"""Episodes: a conversation in, with no language model."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Annotated, Any, Final
from urllib.parse import quote

import orjson
from fastapi import APIRouter, Depends, Header, Path, Query, Response
from fastapi import Request as HttpRequest
from pydantic import Field, WithJsonSchema

from api.dependencies import Now, Opened
from api.request_parsing.erasures import OfCitizen, erase_said
from api.request_parsing.strict_json import StrictRoute
from api.request_parsing.writes import Write
from api.runtime.ingestions import Ingestion, Ingestions
from api.security.permissions import CONVERSATION, ERASURES, Caller, CallerOf, citizen_may, needs
from api.telemetry import metrics
from orchestration.ingestion.facts import draw_facts, needed_model
from orchestration.ingestion.formats import File, Given, Intake, parse
from orchestration.ingestion.formats.reader import MAX_NAME
from orchestration.ingestion.pipeline import Progress, ingest
from schemas.base import MAX_TEXT, SAYING, CitizenId, Flag, Identifier, Request
from schemas.bounds import AtMost
from schemas.commands import EraseEpisode, ErasureReport
from schemas.memory import Level
from schemas.responses import EpisodeProgress, EpisodeReport

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
"""What `orchestration.ingestion.formats.messages` reads; other fields are kept."""


ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "model": EpisodeProgress,
        "description": "With `Prefer: respond-async`: it is being stored",
        "headers": {"Location": {"description": "Where its progress is told.", "schema": {"type": "string"}}},
    }
}


@dataclass(frozen=True)
class Store:
    """The open store, the moment, and what is being ingested."""

    runtime: Opened
    now: Now
    http: HttpRequest

    @property
    def ingestions(self) -> Ingestions:
        """Those of the application."""
        found: Ingestions = self.http.app.state.ingestions
        return found


class OfEpisode(Request):
    """Whose conversation it is."""

    citizen_id: CitizenId


class Conversation(Request):
    """Messages in their order: each a `speaker` or `role`, a `text` or `content`, and if known a `timestamp`.

    `episode_id` names the conversation; left out, it is made from the messages. Sent again, nothing doubles.
    `extract_facts` has the language model, if one is configured, read typed links out of what was said.
    """

    citizen_id: CitizenId
    episode_id: Identifier | None = None
    extract_facts: Flag = False
    messages: Annotated[list[Message], Field(min_length=1, fail_fast=True), AtMost(10_000)]


def _prefers_not_to_wait(
    prefer: Annotated[
        Annotated[str, Field(max_length=1000)] | None,
        Header(description="`respond-async` (RFC 7240): answered with 202 at once, and stored meanwhile."),
    ] = None,
) -> bool:
    names = {one.partition(";")[0].strip().lower() for one in (prefer or "").split(",")}
    return "respond-async" in names


@router.post("", operation_id="remember_episode", response_model=EpisodeReport, responses=ACCEPTED)
@needs(CONVERSATION)
async def remember_episode(
    conversation: Conversation,
    store: Annotated[Store, Depends()],
    unawaited: Annotated[bool, Depends(_prefers_not_to_wait)],
    caller: CallerOf,
) -> Response:
    """Store a conversation: turns, who said them, their order, and the session they were said in.

    Ten thousand messages take a minute and more. With `Prefer: respond-async` the answer comes at once; its
    `Location` tells how far it is.
    """
    if conversation.extract_facts:
        needed_model(store.runtime.deps)
    episode_id, intake = await asyncio.to_thread(_read, conversation)
    caller.commands += [item.command_id for item in intake.items if item.command_id is not None]
    work = partial(_stored, conversation, (episode_id, intake), store, caller)
    if not unawaited:
        report = await work(None)
        return Response(report.model_dump_json(), media_type="application/json")
    progress = store.ingestions.begin(Ingestion(conversation.citizen_id, episode_id), conversation.messages, work)
    address = f"/v1/episodes/{quote(episode_id, safe='')}?citizen_id={conversation.citizen_id}"
    headers = {"Location": address, "Preference-Applied": "respond-async"}
    return Response(progress.model_dump_json(), 202, headers, media_type="application/json")


@router.get("/{episode_id:path}", operation_id="get_episode_progress")
@needs(citizen_may("read"))
async def progress(
    episode_id: Annotated[Identifier, Path()],
    of: Annotated[OfEpisode, Query()],
    store: Annotated[Store, Depends()],
) -> EpisodeProgress:
    """How far a conversation is that was sent with `Prefer: respond-async`, as long as this process lives.

    One that was sent without it, or long ago, is not found here, whatever is stored of it.
    """
    return store.ingestions.progress(Ingestion(of.citizen_id, episode_id))


async def _stored(
    conversation: Conversation, read: tuple[str, Intake], store: Store, caller: Caller, progress: Progress | None
) -> EpisodeReport:
    (episode_id, intake), deps = read, store.runtime.deps
    writer = caller.writer_of(Level.N1, conversation.citizen_id)
    report = await ingest(intake, deps, store.now, progress, writer)
    metrics.ingested(report.stored, report.duplicates, report.refused)
    facts = await draw_facts(intake, deps, store.now, writer) if conversation.extract_facts else None
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
