"""`substrate mirror`: memories as Markdown files for an editor, Obsidian or a Git host, and the edits back."""

from __future__ import annotations

from pathlib import Path

import typer

from api.cli import options, support
from api.cli.program import EXIT_CONFLICT, argument, option
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
from schemas.collectives import GraphRequest
from schemas.errors import NotFound
from schemas.memory import Level
from schemas.temporal import Instant
from substrate.graphs.names import origin_of
from substrate.language.text import count_of


class MirrorCommand(options.StoreCommand, name="mirror"):
    """Write memories as Markdown files, a folder a graph; --apply takes edits in them back (docs/mirror.md)."""

    directory: Path = argument("DIR", "A directory of its own.")
    citizen_id: str | None = options.ANY_CITIZEN
    level: str | None = option("--level", "Only N2 or N3. Default: all.")
    collective: str | None = options.COLLECTIVE
    apply: bool = option("--apply", "Show the edits in the files as commands.", False)
    yes: bool = option("--yes -y", "With --apply: apply them.", False)
    discard: bool = option("--discard", "Overwrite files that somebody edited.", False)

    def run(self) -> None:
        target = self.directory.expanduser().absolute()
        of: MirrorOf | None = None
        if self.citizen_id or self.level or self.collective:
            named = options.name_graph(self.level or "N1", self.collective)
            chosen = self.validate(GraphRequest, {"citizen_id": self.citizen_id, **named})
            of = MirrorOf(chosen.graph_key, self.citizen_id if chosen.level is Level.N1 else None)
        if self.apply:
            refused = self.answer(_apply, target, of, yes=self.yes)
            raise typer.Exit(EXIT_CONFLICT if refused else 0)
        self.answer(_write, target, of, discard=self.discard)


async def _write(target: Path, of: MirrorOf | None, runtime: Runtime, *, discard: bool) -> None:
    if of is not None:
        await support.find_graph(runtime, of.key, of.citizen_id)
    graphs = await runtime.deps.graphs.existing_or_parked()
    if not graphs:
        raise NotFound("nothing was remembered yet", remedy="See `substrate ingest --help`.")
    for each in [MirrorOf(*origin_of(name)) for name in graphs] if of is None else [of]:
        snapshot = await take_snapshot(each, runtime.deps, await runtime.moment())
        _show(await write_mirror(snapshot, target, discard=discard), target)


def _show(report: MirrorReport, target: Path) -> None:
    counts = f"{count_of(report.memories, 'memory')} in {count_of(report.files, 'file')}"
    support.output().say(f"{report.name}: {counts} → {target}")
    for path in report.held_back:
        support.output().say(f"edited, and not written: {path}", "yellow")


async def _apply(target: Path, of: MirrorOf | None, runtime: Runtime, now: Instant, *, yes: bool) -> int:
    """Show the edits, and apply them with `yes`. Returns how many were refused."""
    page = support.output()
    found = await read_edits(target, runtime.deps, now, of)
    for each in found:
        _show_edits(each, page)
    refused = sum(len(each.edits.refusals) for each in found)
    if yes:
        for each in found:
            refused += await _apply_one(each, runtime, target, page)
    elif any(each.edits.edits for each in found):
        page.fold("Nothing was changed; with --yes the edits are applied.")
    return refused


def _show_edits(found: MirrorEdits, page: support.Sheet) -> None:
    for edit in found.edits.edits:
        title, *lines = edit.shown
        page.say(title, "bold")
        for line in lines:
            style = "green" if line.startswith("+") else "red" if line.startswith("-") else ""
            page.say(f"  {line}", style)
    for refusal in found.edits.refusals:
        page.say(f"refused: {refusal.reason}", "yellow")
    counts = f"{count_of(len(found.edits.edits), 'edit')}, {len(found.edits.refusals)} refused"
    page.say(f"{found.of.name}: {counts}")


async def _apply_one(found: MirrorEdits, runtime: Runtime, target: Path, page: support.Sheet) -> int:
    """Apply the edits of one mirror, then write the files again whose edits are all in the store."""
    receipts, refused = await apply_edits(found.edits.edits, runtime.deps, await runtime.moment()), set()
    for edit, receipt in zip(found.edits.edits, receipts, strict=True):
        if receipt.status == "refused":
            refused.add(edit.path)
            page.say(f"refused: {edit.shown[0]}: {'; '.join(receipt.faults)}", "yellow")
    stored = sum(receipt.status == "stored" for receipt in receipts)
    page.say(f"{found.of.name}: {stored} applied")
    snapshot = await take_snapshot(found.of, runtime.deps, await runtime.moment())
    _show(await update_mirror(snapshot, target, discard=found.settled - refused), target)
    return len(receipts) - stored
