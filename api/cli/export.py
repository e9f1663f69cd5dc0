"""`substrate export`: whole memories as lines of JSON, to a file or to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkstemp
from typing import Annotated

import typer
from rich.text import Text

from api.cli import options, support
from api.runtime.runtime import Runtime
from orchestration.transfer.exporter import export
from orchestration.transfer.line_format import Origin
from schemas.base import Request
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import Level
from schemas.settings import Settings
from schemas.temporal import Instant, KnownMoment, to_instant
from substrate.graphs.names import origin_of
from substrate.language.text import count_of

OPTIONS = {"citizen_id": "--citizen", "level": "--level", "collective": "--collective", "known_at": "--known-at"}

app = typer.Typer(add_completion=False)


class KnownAt(Request):
    known_at: KnownMoment | None = None


@app.command("export")
def export_graphs(
    ctx: typer.Context,
    target: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Default: standard output.")] = None,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    whole: Annotated[bool, typer.Option("--all", help="Every citizen, and N2 and N3.")] = False,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Include the vectors; otherwise an import computes them.")
    ] = False,
    known_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="As it was known then. Default: all that is known now.")
    ] = None,
) -> None:
    """Write whole memories as lines of JSON, with every record on both time axes (docs/export.md)."""
    choice = (
        None
        if whole
        else support.validate(
            support.GraphChoice, {**options.graph(level, collective), "citizen_id": citizen}, OPTIONS
        )
    )
    if target is not None and os.path.lexists(target):
        raise InvalidRequest(f"{target} exists already", remedy="Name a file that does not exist yet.")
    request = support.validate(
        KnownAt, support.drop_unset({"known_at": support.parse_known_at(known_at)}), OPTIONS
    )
    moment = None if request.known_at is None else to_instant(request.known_at)
    support.run(_export(support.read_settings(ctx), choice, target, embeddings=embeddings, known_at=moment))


async def _export(
    settings: Settings,
    choice: support.GraphChoice | None,
    target: Path | None,
    *,
    embeddings: bool,
    known_at: Instant | None,
) -> None:
    async with support.open_store(settings) as runtime:
        origins = await _find_origins(runtime, choice)
        lines = await export(origins, runtime.deps, embeddings=embeddings, known_at=known_at)
        if target is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
            return
        count = _write(lines, target)
    support.messages().print(
        Text(f"{count_of(len(origins), 'graph')}, {count_of(count, 'line')} → {target}"), soft_wrap=True
    )


async def _find_origins(runtime: Runtime, choice: support.GraphChoice | None) -> list[Origin]:
    if choice is not None:
        await support.find_graph(runtime, choice.graph_key, choice.citizen_id)
        return [Origin(choice.graph_key, choice.citizen_id if choice.level is Level.N1 else None)]
    origins = [Origin(*origin_of(name)) for name in await runtime.deps.graphs.existing()]
    if not origins:
        raise NotFound("nothing was remembered yet", remedy="See `substrate ingest --help`.")
    return origins


def _write(lines: Iterator[bytes], target: Path) -> int:
    """Write into a new file beside the target, then rename it, so that the target is never incomplete."""
    count = 0
    draft: Path | None = None
    try:
        handle, name = mkstemp(prefix=f".{target.name}-", suffix=".part", dir=target.parent)
        draft = Path(name)
        with open(handle, "wb") as file:
            for line in lines:
                count += 1
                file.write(line)
        draft.rename(target)
    except OSError as error:
        raise InvalidRequest(f"{target} cannot be written: {error.strerror}") from error
    finally:
        if draft is not None:
            draft.unlink(missing_ok=True)
    return count
