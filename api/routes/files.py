"""Files: store what one of another program holds, and read a graph as files."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import Base64Bytes, Field

from api.dependencies import Now, OpenRuntime
from api.request_parsing.strict_json import StrictRoute
from api.routes.citizens import answer_mirror
from api.security.exports import ReservedExport
from api.security.ingestion_permissions import FILE
from api.security.permissions import LISTING, CurrentCaller, requires
from api.telemetry import metrics
from orchestration.ingestion.formats import ParsedFiles
from orchestration.ingestion.formats.parsed import FileSet
from orchestration.ingestion.formats.unpacking import is_archive, make_file, unpack
from orchestration.ingestion.intake import parse_readable, parse_strictly
from orchestration.ingestion.pipeline import ingest
from orchestration.ingestion.written_times import read_zone
from orchestration.transfer.mirror_layout import MirrorOf
from schemas.base import Flag, ShortText
from schemas.collectives import GraphRequest
from schemas.errors import InvalidRequest
from schemas.memory import Level
from schemas.responses import IngestReport

router = APIRouter(prefix="/v1/files", tags=["episodes"], route_class=StrictRoute)

TAKEN: Final = (
    "messages", "chatgpt", "claude", "whatsapp", "telegram", "email", "csv", "markdown", "text", "html", "pdf",
)  # fmt: skip
"""The formats that hold what one citizen said, heard or wrote. The others hold commands, which have a route."""
MAX_UNPACKED: Final = 256 << 20


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


@dataclass(frozen=True)
class Context:
    """The runtime, the moment and the caller, beside the file itself."""

    runtime: OpenRuntime
    now: Now
    caller: CurrentCaller


@router.post("", operation_id="ingest_file")
@requires(FILE)
async def ingest_file(file: SentFile, context: Annotated[Context, Depends()]) -> IngestReport:
    """Store a file of another program: a chat, mails, a table, a document, or an archive of such.

    Each conversation becomes an episode; sent again, or longer, it adds only what is new. What cannot be read is
    reported in `faults`, and counts as refused; the rest is stored. `formats` says as what the file was read.
    """
    parsed = await asyncio.to_thread(_parse, file)
    context.caller.commands += [item.command_id for item in parsed.items if item.command_id is not None]
    writer = context.caller.writer_of(file.graph_key, file.citizen_id)
    report = await ingest(parsed, context.runtime.deps, context.now, writer=writer)
    metrics.record_ingestion(report.stored, report.duplicates, report.refused)
    return report


@router.get("/mirror", response_class=StreamingResponse, operation_id="mirror_graph")
@requires(LISTING)
async def mirror_graph(
    query: Annotated[GraphRequest, Query()], runtime: OpenRuntime, now: Now, reserved: ReservedExport
) -> StreamingResponse:
    """The memory of a citizen or a shared graph as it is now, as a tar of Markdown files (`docs/mirror.md`).

    A key may run one export or mirror at a time: a second one is refused with 429 and `Retry-After`.
    """
    citizen_id = query.citizen_id if query.level is Level.N1 else None
    return await answer_mirror(MirrorOf(query.graph_key, citizen_id), runtime, now)


def _parse(file: SentFile) -> ParsedFiles:
    """Raises InvalidRequest for a format that is not taken, and when nothing can be read."""
    _check_taken(file.format)
    zone = None if file.timezone is None else read_zone(file.timezone)
    stem = file.name.rpartition("/")[2]
    raw = file.content
    files = unpack(file.name, raw, most=MAX_UNPACKED) if is_archive(raw) else (make_file(file.name, raw),)
    sent = FileSet(stem.rpartition(".")[0] or stem, files, file.owner, zone)
    parsed = (parse_strictly if file.strict else parse_readable)(file.format, sent).parsed
    for form in parsed.formats:
        _check_taken(form)
    return parsed.into(file.graph_key)


def _check_taken(form: str | None) -> None:
    if form is not None and form not in TAKEN:
        raise InvalidRequest(
            f"the format {form!r} is not taken here",
            remedy=f"Choose one of {', '.join(TAKEN)}; send commands to /v1/commands.",
        )
