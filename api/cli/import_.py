"""`substrate import`: an export into an empty memory, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from api.cli import edge
from api.cli.progress import bar
from api.runtime import now, running
from orchestration.moving.importing import ImportReport, import_lines
from schemas.base import CitizenId, Request
from schemas.errors import InvalidRequest
from schemas.settings import Settings

app = typer.Typer(add_completion=False)


class Named(Request):
    """Another citizen for what is imported."""

    citizen_id: CitizenId | None


@app.command("import")
def import_file(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="What `substrate export` wrote.")],
    *,
    citizen: Annotated[
        str | None, typer.Option("--citizen", "-c", metavar="ID", help="Another citizen for the one in the file.")
    ] = None,
) -> None:
    """Read an export into an empty memory. A file that is damaged or edited changes nothing."""
    citizen_id = edge.checked(Named, {"citizen_id": citizen}, {"citizen_id": "--citizen"}).citizen_id
    report = edge.run(_imported(edge.settings_of(ctx), path, citizen_id))
    held = ", ".join(f"{count:,} {kind}s" for kind, count in sorted(report.counts.items()))
    edge.output().print(Text(f"{', '.join(report.graphs) or 'no graph'}: {held or 'nothing'}"), soft_wrap=True)


async def _imported(settings: Settings, path: Path, citizen_id: str | None) -> ImportReport:
    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            yield from file

    async with running(settings) as runtime:
        try:
            with bar(edge.messages(), 0) as advance:
                return await import_lines(lines, citizen_id, (runtime.deps, now()), advance)
        except OSError as error:
            raise InvalidRequest(f"{path} cannot be read: {error.strerror}") from error
