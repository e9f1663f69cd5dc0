"""`substrate mirror`: memories as Markdown files for an editor, Obsidian or a Git host, and the edits back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from api.cli import options, support
from api.cli.program import EXIT_CONFLICT
from api.runtime.runtime import Runtime
from orchestration.features.mirror.flow import (
    MirrorEdits,
    MirrorReport,
    apply_edits,
    read_edits,
    take_snapshot,
    update_mirror,
    write_mirror,
)
from orchestration.features.mirror.layout import MirrorOf
from schemas.errors import NotFound
from schemas.memory import Level
from schemas.settings import Settings
from substrate.graphs.names import origin_of
from substrate.language.text import count_of

app = typer.Typer(add_completion=False)


@app.command("mirror")
def mirror(
    ctx: typer.Context,
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A directory of its own.")],
    *,
    citizen: options.AnyCitizen = None,
    level: Annotated[str | None, typer.Option(help="Only N2 or N3. Default: all.")] = None,
    collective: options.Collective = None,
    apply: Annotated[bool, typer.Option("--apply", help="Show the edits in the files as commands.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --apply: apply them.")] = False,
    discard: Annotated[bool, typer.Option("--discard", help="Overwrite files that somebody edited.")] = False,
) -> None:
    """Write memories as Markdown files, a folder a graph; --apply takes edits in them back (docs/mirror.md)."""
    settings = support.read_settings(ctx)
    target = directory.expanduser().absolute()
    named = {"citizen_id": citizen, **options.graph(level or "N1", collective)}
    of: MirrorOf | None = None
    if citizen or level or collective:
        chosen = support.validate(support.GraphChoice, named, options.GRAPH)
        of = MirrorOf(chosen.graph_key, None if chosen.level is not Level.N1 else citizen)
    if apply:
        refused = support.run(_apply(settings, target, of, yes=yes))
        raise typer.Exit(EXIT_CONFLICT if refused else 0)
    support.run(_write(settings, target, of, discard=discard))


async def _write(settings: Settings, target: Path, of: MirrorOf | None, *, discard: bool) -> None:
    async with support.open_store(settings) as runtime:
        for each in await _choose(runtime, of):
            snapshot = await take_snapshot(each, runtime.deps, await runtime.moment())
            _show(await write_mirror(snapshot, target, discard=discard), target)


async def _choose(runtime: Runtime, of: MirrorOf | None) -> list[MirrorOf]:
    if of is not None:
        await support.find_graph(runtime, of.key, of.citizen_id)
        return [of]
    graphs = await runtime.deps.graphs.existing()
    if not graphs:
        raise NotFound("nothing was remembered yet", remedy="See `substrate ingest --help`.")
    return [MirrorOf(*origin_of(name)) for name in graphs]


def _show(report: MirrorReport, target: Path) -> None:
    counts = f"{count_of(report.memories, 'memory')} in {count_of(report.files, 'file')}"
    support.output().print(Text(f"{report.name}: {counts} → {target}"), soft_wrap=True)
    for path in report.held_back:
        support.output().print(Text(f"edited, and not written: {path}", "yellow"), soft_wrap=True)


async def _apply(settings: Settings, target: Path, of: MirrorOf | None, *, yes: bool) -> int:
    """Show the edits, and apply them with `yes`. Returns how many were refused."""
    console = support.output()
    async with support.open_store(settings) as runtime:
        found = await read_edits(target, runtime.deps, await runtime.moment(), of)
        for each in found:
            _show_edits(each, console)
        refused = sum(len(each.edits.refusals) for each in found)
        if yes:
            for each in found:
                refused += await _apply_one(each, runtime, target, console)
        elif any(each.edits.edits for each in found):
            console.print(Text("Nothing was changed; with --yes the edits are applied."))
    return refused


def _show_edits(found: MirrorEdits, console: Console) -> None:
    for edit in found.edits.edits:
        title, *lines = edit.shown
        console.print(Text(title, "bold"), soft_wrap=True)
        for line in lines:
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else ""
            console.print(Text(f"  {line}", style), soft_wrap=True)
    for refusal in found.edits.refusals:
        console.print(Text(f"refused: {refusal.reason}", "yellow"), soft_wrap=True)
    counts = f"{count_of(len(found.edits.edits), 'edit')}, {len(found.edits.refusals)} refused"
    console.print(Text(f"{found.of.name}: {counts}"), soft_wrap=True)


async def _apply_one(found: MirrorEdits, runtime: Runtime, target: Path, console: Console) -> int:
    """Apply the edits of one mirror, then write the files again whose edits are all in the store."""
    receipts = await apply_edits(found.edits.edits, runtime.deps, await runtime.moment())
    for edit, receipt in zip(found.edits.edits, receipts, strict=True):
        if receipt.status == "refused":
            console.print(Text(f"refused: {edit.shown[0]}: {'; '.join(receipt.faults)}", "yellow"), soft_wrap=True)
    stored = sum(receipt.status == "stored" for receipt in receipts)
    console.print(Text(f"{found.of.name}: {stored} applied"), soft_wrap=True)
    snapshot = await take_snapshot(found.of, runtime.deps, await runtime.moment())
    refused = [
        edit.path for edit, each in zip(found.edits.edits, receipts, strict=True) if each.status == "refused"
    ]
    report = await update_mirror(snapshot, target, discard=(found.settled - frozenset(refused)))
    _show(report, target)
    return len(receipts) - stored
