"""`substrate recover`: what of a damaged store is lost, and the ways to get the rest back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import support
from api.cli.backup import show
from api.cli.restore import show_keys
from api.runtime import recovery
from api.runtime.recovery import Recovered
from schemas.errors import InvalidRequest
from schemas.settings import Settings
from substrate.backup import files
from substrate.engine.repair import DamageReport, LogCut

WAYS: Final = "Name one way: --cut, --accept or --from DIRECTORY."
EXIT_DAMAGED: Final = 1

app = typer.Typer(add_completion=False)


@app.command()
def recover(
    ctx: typer.Context,
    *,
    cut: Annotated[bool, typer.Option("--cut", help="Keep what was written before the damage.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Take the files as they are now.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="DIRECTORY", help="Go back to this backup.")
    ] = None,
) -> None:
    """Say what of a damaged store is lost and what brings the rest back; with a way named, go it.

    The service must not run. What was there is kept beside the data directory.
    """
    settings = support.settings_of(ctx)
    if cut + accept + (source is not None) > 1:
        raise InvalidRequest("--cut, --accept and --from exclude each other", remedy=WAYS)
    console = support.output()
    if source is not None:
        aside, restored = support.run(recovery.replace_with_backup(source.expanduser().absolute(), settings))
        show(restored.manifest, str(settings.store.data), console)
        show_keys(restored, console)
        _tell_aside(aside, console)
    elif cut or accept:
        _show_mended(support.run((recovery.cut_log if cut else recovery.accept_files)(settings.store)), console)
    else:
        _look(settings, console)


def _look(settings: Settings, console: Console) -> None:
    finding = recovery.examine_store(settings.store)
    if not finding.damages:
        console.print(
            "Nothing is damaged that is known. What was written last before a crash is judged by its form."
        )
        return
    for damage in finding.damages:
        console.print(
            Text(f"damaged: {damage.description}; it was last seen whole {_moment(damage.latest.at)}", "red")
        )
    lines = [*_ways(finding), *_backups(settings)]
    for line in lines or ["There is no way that is known here: restore a backup that you have elsewhere."]:
        console.print(Text(line), soft_wrap=True)
    raise typer.Exit(EXIT_DAMAGED)


def _ways(finding: DamageReport) -> list[str]:
    found = []
    if finding.cut is not None:
        found.append(f"substrate recover --cut            {_kept(finding.cut)}")
    if finding.readable:
        found.append(
            "substrate recover --accept         the log can be read to its end: what differs stays as it is"
        )
    return found


def _kept(cut: LogCut) -> str:
    graphs = f" on {', '.join(cut.graphs)}" if cut.graphs else ""
    behind = (
        f"{cut.lost_commands:,} commands{graphs} behind that go"
        if cut.lost_commands
        else "what came behind is lost"
    )
    return f"keeps what was written until {_moment(cut.until)} ({cut.keep_bytes:,} bytes); {behind}"


def _backups(settings: Settings) -> list[str]:
    known = files.noted(recovery.data_directory(settings.store))
    return [
        f"substrate recover --from {path}   goes back to {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
        for path, manifest in known
    ]


def _moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "at a time that is not known"


def _show_mended(mended: Recovered, console: Console) -> None:
    memories = sum(graph.labels.get("ConsciousnessNode", 0) for graph in mended.graphs.values())
    console.print(Text(f"It loads: {len(mended.graphs):,} graphs, {memories:,} memories."), soft_wrap=True)
    _tell_aside(mended.aside, console)


def _tell_aside(aside: Path, console: Console) -> None:
    said = f"What was there is in {aside}, which no erasure reaches: remove it when you need it no more."
    console.print(Text(said, "yellow"), soft_wrap=True)
