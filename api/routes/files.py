"""Files: store what one of another program holds, and read a graph as files."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Final

from fastapi import Depends, Response
from pydantic import Base64Bytes, Field

from api.asgi.disconnects import unless_caller_leaves
from api.routes.episodes import ACCEPTED, INGESTS, IngestionContext, prefers_async
from api.telemetry import metrics
from orchestration.ingestion.file_readers import FileReaders, FilesToRead
from orchestration.ingestion.formats import FORMS
from orchestration.ingestion.formats.reader import ParsedFiles
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.storing import Progress
from orchestration.ingestion.written_times import read_zone
from schemas.base import Flag, ShortText
from schemas.collectives import GraphRequest
from schemas.errors import InvalidRequest
from schemas.memory import graph_fields
from schemas.operation import Called, Operation, group
from schemas.responses import EpisodeReport, IngestReport

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
        parsed = await unless_caller_leaves(context.http, _read(file, task, context))
        context.caller.commands += [item.command_id for item in parsed.items if item.command_id is not None]
        report = await _store(file, parsed, context)
        return Response(report.model_dump_json(), media_type="application/json")

    what = blake2b(file.content, digest_size=10)
    what.update(repr(task._replace(raw=None)).encode())  # of the bytes it would take half a second
    named = f"file:{what.hexdigest()}"

    async def work(progress: Progress) -> EpisodeReport:
        report = await _store(file, await _read(file, task, context), context, progress)
        where = {"citizen_id": file.citizen_id, **graph_fields(file.graph_key)}
        return EpisodeReport(**dict(report), **where, episode_id=named)

    return context.begin(named, file, [], work)


async def _read(file: SentFile, task: FilesToRead, context: IngestionContext) -> ParsedFiles:
    """Raises InvalidRequest for a format that is not taken, and when nothing can be read."""
    readers: FileReaders = context.http.app.state.readers
    parsed = (await readers.read(task)).intake.parsed
    for form in parsed.formats:
        _check_taken(form)
    return parsed.into(file.graph_key)


async def _store(
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
    Operation("ingest_file", "POST /v1/files", "Store a file of another program",
              INGESTS, ingest_file, gives=IngestReport, responses=ACCEPTED, call=Called(by_hand=True)),
)  # fmt: skip
