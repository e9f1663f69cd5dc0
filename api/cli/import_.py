"""`substrate import`: read an export into an empty memory, whole or not at all, or a file of another program."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from api.cli import support
from api.cli.ingest import AsHappened, How, take_in
from orchestration.ingestion.file_readers import FilesToRead, read_once
from orchestration.ingestion.formats.files import size_of
from orchestration.transfer.importer import ImportReport, import_lines
from schemas.base import CitizenId, Request
from schemas.errors import InvalidRequest
from schemas.settings import Settings
from substrate.connection.errors import LOAD_PATIENCE_S, patient
from substrate.language.text import count_of

app = typer.Typer(add_completion=False)


class ExportedBy(StrEnum):
    """The program that wrote the file."""

    SUBSTRATE = "substrate"
    GRAPHITI = "graphiti"
    MEM0 = "mem0"
    MCP_MEMORY = "mcp-memory"


class CitizenOverride(Request):
    citizen_id: CitizenId | None


@app.command("import")
def import_file(
    ctx: typer.Context,
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file from `substrate export`, or from another program.")
    ],
    *,
    citizen: Annotated[
        str | None,
        typer.Option(
            "--citizen", "-c", metavar="ID", help="Import for this citizen instead of the one in the file."
        ),
    ] = None,
    origin: Annotated[ExportedBy, typer.Option("--from", help="The program that wrote the file.")] = (
        ExportedBy.SUBSTRATE
    ),
    as_happened: AsHappened = False,
    restamp: Annotated[
        bool, typer.Option("--restamp", help="Move what is stamped ahead of now back to now, in its order.")
    ] = False,
) -> None:
    """Read an export into an empty memory. A file that is damaged or edited changes nothing.

    A file `--from` another program is added to the memory; importing it again stores nothing twice.
    """
    citizen_id = support.validate(CitizenOverride, {"citizen_id": citizen}, {"citizen_id": "--citizen"}).citizen_id
    if origin is not ExportedBy.SUBSTRATE:
        if restamp:
            raise InvalidRequest("--restamp is for exports of Substrate", remedy="Leave it out.")
        task = FilesToRead(str(path), size_of(path), None, origin.value, citizen_id, strict=True)
        take_in(ctx, support.run(read_once(task)).intake.parsed, how=How(as_happened=as_happened))
        return
    if as_happened:
        raise InvalidRequest(
            "--known-as-happened is for files of other programs: an export of Substrate has its own times",
            remedy="Leave it out.",
        )
    report = support.run(_import(support.read_settings(ctx), path, citizen_id, restamp=restamp))
    counts = ", ".join(count_of(count, kind) for kind, count in sorted(report.counts.items()))
    support.output().print(
        Text(f"{', '.join(report.graphs) or 'no graph'}: {counts or 'nothing'}"), soft_wrap=True
    )
    if restamp:
        said = f"{count_of(report.moved, 'moment')} of writing moved back to now"
        support.messages().print(Text(said, "yellow"), soft_wrap=True)
    if report.mended:
        note = (
            f"{count_of(report.mended, 'record')} had maps nested too deeply; the deeper part is stored as a text"
        )
        support.messages().print(Text(note, "yellow"), soft_wrap=True)


async def _import(settings: Settings, path: Path, citizen_id: str | None, *, restamp: bool) -> ImportReport:
    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from file

    async with support.open_store(settings) as runtime:
        try:
            with support.progress_bar(support.messages(), 0, "records") as advance, patient(LOAD_PATIENCE_S):
                now = await runtime.moment()
                return await import_lines(
                    lines, runtime.deps, now, citizen_id=citizen_id, restamp=restamp, progress=advance
                )
        except OSError as error:
            raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error
