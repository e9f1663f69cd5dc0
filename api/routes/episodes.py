"""Episodes and files: store a conversation or what another program holds, read the progress, erase it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Annotated, Any, Final, Self
from urllib.parse import quote, urlencode

import orjson
from fastapi import Depends, Header, Path, Response
from fastapi import Request as HttpRequest
from pydantic import Base64Bytes, Field, WithJsonSchema, model_validator

from api.asgi.disconnects import unless_caller_leaves
from api.dependencies import Now, OpenRuntime
from api.request_parsing.erasures import EpisodeErasureRequest, erase_and_report
from api.request_parsing.writes import SingleWrite
from api.runtime.ingestions import BackgroundIngestions, ConversationKey, StoreConversation
from api.security.permissions import CurrentCaller
from api.telemetry import metrics
from orchestration.ingestion.episodes import Episode
from orchestration.ingestion.facts import require_language_model, store_facts
from orchestration.ingestion.file_readers import FileReaders, FilesToRead
from orchestration.ingestion.formats import FORMS, File, FileSet, ParsedFiles, parse
from orchestration.ingestion.formats.messages import MAX_PARTS
from orchestration.ingestion.formats.reader import MAX_NAME
from orchestration.ingestion.hearing import NewMessages, arranged_episodes, hear_messages, name_conversation
from orchestration.ingestion.pipeline import ingest, ingest_as_happened
from orchestration.ingestion.storing import Job, Progress
from orchestration.ingestion.written_times import read_zone
from schemas.base import MAX_LONG_TEXT, VISIBLE_TEXT_PATTERN, AtMost, Flag, Identifier, ShortText
from schemas.collectives import GraphRequest
from schemas.commands import EraseEpisode, ErasureReport
from schemas.errors import InvalidRequest
from schemas.memory import Source, graph_fields
from schemas.operation import ERASES, Claim, May, Method, Need, Operation, RequestParts, Standing, graph_may, group
from schemas.responses import EpisodeProgress, EpisodeReport, HeardReport, IngestReport
from substrate.graphs.names import graph_name


def _any_of(*names: str) -> dict[str, Any]:
    """The JSON schema of an object that has at least one of these fields."""
    return {"anyOf": [{"required": [name]} for name in names]}


_NAME: Final = {"type": "string", "pattern": VISIBLE_TEXT_PATTERN, "maxLength": MAX_NAME}
_WORDS: Final = {"type": "string", "pattern": VISIBLE_TEXT_PATTERN, "maxLength": MAX_LONG_TEXT}
_PARTS: Final = {"type": "object", "properties": {"type": {"type": "string"}, "text": _WORDS}}
_TEXT: Final = {
    "description": "A text, or parts of which those with a `text` are read. A message without words is left out.",
    "anyOf": [_WORDS, {"type": "array", "items": _PARTS, "maxItems": MAX_PARTS}, {"type": "null"}],
}
Message = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "title": "Message",
            "type": "object",
            "examples": [{"role": "user", "content": "Hello."}],
            "properties": dict.fromkeys(("speaker", "role", "session"), _NAME)
            | dict.fromkeys(("text", "content"), _TEXT)
            | {name: {"type": "string", "format": "date-time"} for name in ("timestamp", "time", "edited_at")}
            | {"id": _NAME, "deleted": {"type": "boolean"}},
            "allOf": [_any_of("speaker", "role"), _any_of("text", "content")],
        }
    ),
]
"""The fields that `orchestration.ingestion.formats.messages` reads; all others are stored too."""


ACCEPTED: Final[dict[int | str, dict[str, Any]]] = {
    202: {
        "model": EpisodeProgress,
        "description": "With `Prefer: respond-async`: it is being stored",
        "headers": {"Location": {"description": "The address of its progress.", "schema": {"type": "string"}}},
    }
}


@dataclass(frozen=True)
class IngestionContext:
    """The runtime, the moment and the caller, beside the conversation itself."""

    runtime: OpenRuntime
    now: Now
    caller: CurrentCaller
    http: HttpRequest

    @property
    def ingestions(self) -> BackgroundIngestions:
        ingestions: BackgroundIngestions = self.http.app.state.ingestions
        return ingestions

    def begin(
        self, episode_id: str, sent: GraphRequest, content: list[dict[str, Any]], work: StoreConversation
    ) -> Response:
        """Begin the work on what was sent, unless it goes on already; the answer with the address of its progress.

        Raises as `BackgroundIngestions.begin`.
        """
        key = ConversationKey(graph_name(sent.graph_key, sent.citizen_id), episode_id)
        progress = self.ingestions.begin(key, content, work)
        where = sent.model_dump(mode="json", include={"citizen_id", "level", "collective"}, exclude_unset=True)
        address = f"/v1/episodes/{quote(episode_id, safe='')}?{urlencode(where)}"
        headers = {"Location": address, "Preference-Applied": "respond-async"}
        return Response(progress.model_dump_json(), 202, headers, media_type="application/json")


class Conversation(GraphRequest):
    """Messages in their order: each has a `speaker` or `role`, a `text` or `content`, and maybe a `timestamp`.

    `episode_id` names the conversation; by default it is a digest of the messages that were sent first. Sending it
    again stores nothing twice, and of a list that has grown only what is new. With `extract_facts` the configured
    language model extracts typed links from the messages. With `known_as_happened`, for administrators, each
    message becomes known when it was said: all need a `timestamp`, and the citizen's memory must know nothing of
    that time yet. On a shared level `citizen_id` is the author of what is stored.
    """

    episode_id: Identifier | None = None
    extract_facts: Flag = False
    known_as_happened: Flag = False
    messages: Annotated[list[Message], Field(min_length=1, fail_fast=True), AtMost(10_000)]

    @model_validator(mode="after")
    def _facts_are_of_now(self) -> Self:
        if self.extract_facts and self.known_as_happened:
            raise ValueError("extract_facts does not go with known_as_happened: facts are extracted now")
        return self


class Turns(GraphRequest):
    """Messages of a conversation: its newest ones, a window on its end, or the whole list as it is now."""

    messages: Annotated[list[Message], Field(min_length=1, fail_fast=True), AtMost(10_000)]


def prefers_async(
    prefer: Annotated[
        Annotated[str, Field(max_length=1000)] | None,
        Header(description="`respond-async` (RFC 7240): answer 202 at once, and store in the background."),
    ] = None,
) -> bool:
    names = {part.partition(";")[0].strip().lower() for part in (prefer or "").split(",")}
    return "respond-async" in names


async def remember_episode(
    conversation: Conversation,
    context: Annotated[IngestionContext, Depends()],
    in_background: Annotated[bool, Depends(prefers_async)],
) -> Response:
    """Store a conversation: its turns, their speakers, their order, and their session.

    Ten thousand messages take more than a minute. With `Prefer: respond-async` the answer comes at once; its
    `Location` is the address of the progress.
    """
    if conversation.extract_facts:
        require_language_model(context.runtime.deps)
    messages, deps = conversation.messages, context.runtime.deps
    unnamed = Episode("", conversation.owner, (), graph=conversation.graph_key)
    episode_id = conversation.episode_id or await name_conversation(unnamed, messages, deps)
    parsed = await asyncio.to_thread(_parse, conversation, episode_id)
    context.caller.commands += [item.command_id for item in parsed.items if item.command_id is not None]
    work = partial(_store, context, conversation, parsed, episode_id=episode_id)
    if not in_background:
        report = await work()
        return Response(report.model_dump_json(), media_type="application/json")
    return context.begin(episode_id, conversation, conversation.messages, work)


async def hear(
    episode_id: Annotated[Identifier, Path()], turns: Turns, context: Annotated[IngestionContext, Depends()]
) -> HeardReport:
    """Append messages to a conversation; it begins with the first.

    Only what is new is stored, and each message is reported. A message is known by its `id`, or by its place and
    its words: send the new messages alone, the last ones, or the whole list. An edited message supersedes its
    turn, from its `edited_at` or now on; with `deleted` it is retracted. A pause of more than an hour begins a
    session, unless the message names its `session`.
    """
    graph = turns.graph_key
    job = Job(context.runtime.deps, context.now, context.caller.writer_of(graph, turns.citizen_id))
    heard = await hear_messages(NewMessages(turns.owner, episode_id, turns.messages, graph), job)
    report = heard.model_copy(update={"citizen_id": turns.citizen_id})
    metrics.record_ingestion(report.stored, report.duplicates, report.refused)
    return report


async def progress(
    episode_id: Annotated[Identifier, Path()],
    query: GraphRequest,
    context: Annotated[IngestionContext, Depends()],
) -> EpisodeProgress:
    """The progress of a conversation that was sent with `Prefer: respond-async`, while this process runs.

    A conversation sent without it, or long ago, is not found here, though it may be stored.
    """
    return context.ingestions.progress(ConversationKey(graph_name(query.graph_key, query.citizen_id), episode_id))


async def _store(
    context: IngestionContext,
    conversation: Conversation,
    parsed: ParsedFiles,
    progress: Progress | None = None,
    *,
    episode_id: str,
) -> EpisodeReport:
    deps, citizen_id = context.runtime.deps, conversation.citizen_id
    writer = context.caller.writer_of(conversation.graph_key, citizen_id)
    store = ingest_as_happened if conversation.known_as_happened else ingest
    report = await store(parsed, deps, context.now, progress=progress, writer=writer)
    metrics.record_ingestion(report.stored, report.duplicates, report.refused)
    facts = None
    if conversation.extract_facts:
        arranged = await arranged_episodes(parsed, deps, context.now)
        facts = await store_facts(arranged, deps, context.now, writer)
    fields = {"citizen_id": citizen_id, **graph_fields(conversation.graph_key), "episode_id": episode_id}
    return EpisodeReport(**dict(report), **fields, facts=facts)


async def erase_episode(
    episode_id: Annotated[Identifier, Path()],
    query: EpisodeErasureRequest,
    writing: SingleWrite,
) -> ErasureReport:
    """Remove a conversation for good: its memories, its links, and the people whom only it knew."""
    return await erase_and_report({**query.model_dump(), "episode_id": episode_id}, EraseEpisode, writing)


def _parse(conversation: Conversation, episode_id: str) -> ParsedFiles:
    """Parse the conversation. Raises InvalidRequest for an invalid message."""
    file = File("messages", orjson.dumps(conversation.messages).decode())
    return parse("messages", FileSet(episode_id, (file,), conversation.owner)).into(conversation.graph_key)


def ingests(asked: RequestParts) -> Iterable[Need | Claim]:
    """What comes in has the source ingestion."""
    yield Need("write", asked.request.citizen_id, asked.request.graph_key)
    yield Claim(Source.INGESTION)


def _conversation_needs(asked: RequestParts) -> Iterable[Need | Claim | Standing]:
    """Facts that are drawn from a conversation have the source tool."""
    yield from ingests(asked)
    if asked.request.extract_facts:
        yield Claim(Source.TOOL)
    if asked.request.known_as_happened:
        yield Standing("admin")


INGESTS: Final = May("citizen:ID:write or LEVEL:write", ingests, first="write", shared=True)


TAKEN: Final = tuple(name for name, form in FORMS.items() if not form.of_store)
"""The formats that hold what one citizen said, heard or wrote."""


class SentFile(GraphRequest):
    """A file as it is: `content` in base64, `name` with its ending.

    `format` is told by what the file holds, unless it is named. `timezone` is of times that name none. With
    `strict` nothing is stored when a part cannot be read. On a shared level `citizen_id` is the author.
    """

    name: Annotated[ShortText, Field(examples=["diary.txt"])]
    content: Annotated[Base64Bytes, Field(examples=["VGhlIGJvYXQgaXMgaW4gdGhlIHdhdGVyLg=="])]
    format: Annotated[ShortText | None, Field(description=f"One of {', '.join(TAKEN)}.")] = None
    timezone: Annotated[ShortText | None, Field(examples=["Europe/Berlin"])] = None
    strict: Flag = False


async def ingest_file(
    file: SentFile,
    context: Annotated[IngestionContext, Depends()],
    in_background: Annotated[bool, Depends(prefers_async)],
) -> Response:
    """Store a file of another program: a chat, mails, a table, a document, or an archive of such.

    Each conversation becomes an episode; sent again, or longer, it adds only what is new. What cannot be read is
    reported in `faults`, and counts as refused; the rest is stored. `formats` says as what the file was read. It
    is read within bounds of memory and processor time, and no further when its caller leaves. With
    `Prefer: respond-async` the answer comes at once; its `Location` is the address of the progress.
    """
    _check_taken(file.format)
    zone = None if file.timezone is None else read_zone(file.timezone)
    task = FilesToRead(
        file.name, len(file.content), file.content, file.format, file.owner, zone=zone, strict=file.strict
    )
    if not in_background:
        parsed = await unless_caller_leaves(context.http, _read_file(file, task, context))
        context.caller.commands += [item.command_id for item in parsed.items if item.command_id is not None]
        report = await _store_file(file, parsed, context)
        return Response(report.model_dump_json(), media_type="application/json")

    what = blake2b(file.content, digest_size=10)
    what.update(repr(task._replace(raw=None)).encode())  # of the bytes it would take half a second
    named = f"file:{what.hexdigest()}"

    async def work(progress: Progress) -> EpisodeReport:
        report = await _store_file(file, await _read_file(file, task, context), context, progress)
        where = {"citizen_id": file.citizen_id, **graph_fields(file.graph_key)}
        return EpisodeReport(**dict(report), **where, episode_id=named)

    return context.begin(named, file, [], work)


async def _read_file(file: SentFile, task: FilesToRead, context: IngestionContext) -> ParsedFiles:
    """Raises InvalidRequest for a format that is not taken, and when nothing can be read."""
    readers: FileReaders = context.http.app.state.readers
    parsed = (await readers.read(task)).intake.parsed
    for form in parsed.formats:
        _check_taken(form)
    return parsed.into(file.graph_key)


async def _store_file(
    file: SentFile, parsed: ParsedFiles, context: IngestionContext, progress: Progress | None = None
) -> IngestReport:
    writer = context.caller.writer_of(file.graph_key, file.citizen_id)
    report = await ingest(parsed, context.runtime.deps, context.now, progress=progress, writer=writer)
    metrics.record_ingestion(report.stored, report.duplicates, report.refused)
    return report


def _check_taken(form: str | None) -> None:
    if form is not None and form not in TAKEN:
        raise InvalidRequest(
            f"the format {form!r} is not taken here",
            remedy=f"Choose one of {', '.join(TAKEN)}; send commands to /v1/commands.",
        )


OPERATIONS: Final = group(
    "episodes",
    Operation("remember_episode", "POST /v1/episodes", "Store a conversation",
              INGESTS._replace(says=f"{INGESTS.says}; admin with known_as_happened", needs=_conversation_needs),
              remember_episode, gives=EpisodeReport, responses=ACCEPTED, call=Method("ingest", by_hand=True)),
    Operation("hear", "POST /v1/episodes/{episode_id:path}/turns", "Append messages to a conversation",
              INGESTS, hear, call=Method(by_hand=True)),
    Operation("get_episode_progress", "GET /v1/episodes/{episode_id:path}",
              "Read how far a conversation is stored", graph_may("read"), progress, call=Method(by_hand=True)),
    Operation("erase_episode", "DELETE /v1/episodes/{episode_id:path}", "Erase a conversation for good",
              ERASES, erase_episode, call=Method(takes=EraseEpisode)),
    Operation("ingest_file", "POST /v1/files", "Store a file of another program",
              INGESTS, ingest_file, gives=IngestReport, responses=ACCEPTED, call=Method(by_hand=True)),
)  # fmt: skip
