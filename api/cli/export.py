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
from orchestration.transfer.exporter import Wanted, export
from orchestration.transfer.line_format import Origin
from schemas.base import CitizenId, Request
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import Level
from schemas.settings import Settings
from schemas.temporal import Moment, to_instant
from substrate.graphs.names import origin_of

OPTIONS = {"citizen_id": "--citizen", "level": "--level", "known_at": "--known-at"}

app = typer.Typer(add_completion=False)


class KnownThen(Request):
    """As it was known at which moment."""

    known_at: Moment | None = None


class Chosen(Request):
    """What is to be exported."""

    level: Level
    citizen_id: CitizenId | None


@app.command("export")
def export_graphs(
    ctx: typer.Context,
    target: Annotated[Path | None, typer.Argument(metavar="[FILE]", help="Left out: standard output.")] = None,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    whole: Annotated[bool, typer.Option("--all", help="Every citizen, and N2 and N3.")] = False,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="With the vectors; otherwise an import makes them anew.")
    ] = False,
    known_at: Annotated[
        str | None, typer.Option(metavar="TIME", help="As it was known then; without it, all that is known.")
    ] = None,
) -> None:
    """Write whole memories as lines of JSON, with every record on both time axes (docs/export.md)."""
    chosen = None if whole else support.validate(Chosen, {"level": level.upper(), "citizen_id": citizen}, OPTIONS)
    if target is not None and os.path.lexists(target):
        raise InvalidRequest(f"{target} is there already", remedy="Name a file that does not exist yet.")
    said = support.validate(
        KnownThen, support.drop_unset({"known_at": support.parse_time_option("--known-at", known_at)}), OPTIONS
    )
    wanted = Wanted(embeddings, None if said.known_at is None else to_instant(said.known_at))
    support.run(_exported(support.read_settings(ctx), chosen, target, wanted))


async def _exported(settings: Settings, chosen: Chosen | None, target: Path | None, wanted: Wanted) -> None:
    async with support.open_store(settings) as runtime:
        origins = await _origins(runtime, chosen)
        lines = await export(origins, runtime.deps, **wanted._asdict())
        if target is None:
            sys.stdout.flush()
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
            return
        count = _write(lines, target)
    support.messages().print(Text(f"{len(origins)} graphs, {count:,} lines → {target}"), soft_wrap=True)


async def _origins(runtime: Runtime, chosen: Chosen | None) -> list[Origin]:
    if chosen is not None:
        await support.find_graph(runtime, chosen.level, chosen.citizen_id)
        return [Origin(chosen.level, chosen.citizen_id if chosen.level is Level.N1 else None)]
    found = [Origin(*origin_of(name)) for name in await runtime.deps.graphs.existing()]
    if not found:
        raise NotFound("nothing was remembered yet", remedy="See `substrate ingest --help`.")
    return found


def _write(lines: Iterator[bytes], target: Path) -> int:
    """Write into a new file beside the target and rename it: a file of that name is always whole."""
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
