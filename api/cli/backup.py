"""`substrate backup`, `restore`, `recover`: copies of a data directory, and the repair of a damaged one.
`export`: whole memories as lines of JSON, to a file or to standard output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkstemp

import typer

from api.cli import formatting, options, support
from api.cli.program import EXIT_FAULT, argument, option
from api.runtime import backup as recovery
from api.runtime.backup import ALL_KEYS, Restoration, refuse_server, restore_backup
from api.runtime.runtime import open_store
from orchestration.dependencies import Deps
from orchestration.transfer.backup import back_up
from orchestration.transfer.exporter import export
from schemas.base import Request
from schemas.collectives import GraphRequest
from schemas.errors import InvalidRequest, NotFound
from schemas.memory import Level
from schemas.settings import StoreSettings
from schemas.temporal import Instant, KnownMoment, to_instant
from schemas.upkeep.backup import Manifest
from substrate.backup import files
from substrate.engine.repair import LogCut
from substrate.graphs.names import GraphOf, origin_of
from substrate.language.text import count_of
from substrate.store.api_keys import read_former_keys


class BackupCommand(options.StoreCommand, name="backup"):
    """Write a consistent backup of the whole data directory while it is in use (docs/backup.md)."""

    target: Path = argument("DIRECTORY", "A new or empty directory.")

    def run(self) -> None:
        store = self.settings.store
        refuse_server(store)

        async def write() -> Manifest:
            async with open_store(store, support.report_loading()) as (connection, _):
                data, target = store.data.expanduser().absolute(), self.target.expanduser().absolute()
                return await back_up(connection, data, target, await connection.now(), parked=store.park_folder())

        _show_backup(support.run(write()), str(self.target), support.output())


def _show_backup(manifest: Manifest, where: str, page: support.Sheet) -> None:
    """Print the contents of a backup in one line."""
    memories = sum(graph.labels.get("ConsciousnessNode", 0) for graph in manifest.graphs.values())
    links = sum(graph.types.get("LINK", 0) for graph in manifest.graphs.values())
    size = sum(file.bytes for file in manifest.files.values()) / 1e6
    graphs = count_of(len(manifest.graphs), "graph")
    contents = f"{graphs}, {count_of(memories, 'memory')}, {count_of(links, 'link')}"
    page.say(f"{where}: {contents}, {size:,.1f} MB, of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC")


class RestoreCommand(options.StoreCommand, name="restore"):
    """Restore a backup into the data directory, which must be empty. A damaged backup changes nothing."""

    source: Path = argument("DIRECTORY", "A directory that `substrate backup` wrote.")
    former: Path | None = option(
        "--former DIRECTORY", "The data directory that it replaces; keys revoked or lowered there stay so."
    )
    revoke_keys: bool = option("--revoke-keys", "Revoke every key that the backup holds.", False)

    def run(self) -> None:
        settings, page = self.settings, support.output()
        if self.former is not None and self.revoke_keys:
            raise InvalidRequest(
                "--former and --revoke-keys exclude each other",
                remedy="--revoke-keys revokes those keys too: leave --former out.",
            )
        known = None if self.former is None else read_former_keys(self.former.expanduser().absolute())
        source = self.source.expanduser().absolute()
        restored = support.run(restore_backup(source, settings, ALL_KEYS if self.revoke_keys else known))
        _show_backup(restored.manifest, str(settings.store.data), page)
        _show_keys(restored, page)
        if known is None and not self.revoke_keys and restored.keys:
            warning = (
                f"A key that was revoked after {restored.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC is valid again: "
                "revoke it with `substrate keys revoke ID`, or restore with --former or --revoke-keys. One whose "
                "source was lowered since claims what it could before: `substrate keys change ID --source SOURCE`."
            )
            page.say(warning, "bold yellow")


def _show_keys(restored: Restoration, page: support.Sheet) -> None:
    """Print the keys that stay revoked, and those that are valid now."""
    for key in restored.kept_revoked:
        page.say(f"key {key.id} for {formatting.to_line(key.name)}: stays revoked")
    for key in restored.keys:
        rights = f"{' '.join(key.scopes)}, at most {key.highest_source}"
        page.say(f"key {key.id} for {formatting.to_line(key.name)}: valid now ({rights})", "yellow")


class RecoverCommand(options.StoreCommand, name="recover"):
    """Report what a damaged store has lost and how to recover the rest; with an option, recover it.

    The service must not run. A copy of the damaged store stays beside the data directory.
    """

    cut: bool = option("--cut", "Cut the log at the damage; keep what was written before.", False)
    accept: bool = option("--accept", "Accept the files as they are now.", False)
    source: Path | None = option("--from DIRECTORY", "Replace the store with this backup.")

    def run(self) -> None:
        settings, page = self.settings, support.output()
        if self.cut + self.accept + (self.source is not None) > 1:
            raise InvalidRequest(
                "--cut, --accept and --from exclude each other",
                remedy="Choose one of --cut, --accept and --from DIRECTORY.",
            )
        if self.source is not None:
            source = self.source.expanduser().absolute()
            aside, restored = support.run(recovery.replace_with_backup(source, settings))
            _show_backup(restored.manifest, str(settings.store.data), page)
            _show_keys(restored, page)
        elif self.cut or self.accept:
            recovered = support.run((recovery.cut_log if self.cut else recovery.accept_files)(settings.store))
            aside = recovered.aside
            memories = sum(graph.labels.get("ConsciousnessNode", 0) for graph in recovered.graphs.values())
            page.say(f"It loads: {count_of(len(recovered.graphs), 'graph')}, {count_of(memories, 'memory')}.")
        else:
            _show_damage(settings.store, page)
            return
        note = f"The damaged store is in {aside}. No erasure reaches it: remove it when you no longer need it."
        page.say(note, "yellow")


def _show_damage(store: StoreSettings, page: support.Sheet) -> None:
    finding = recovery.examine_store(store)
    if not finding.damages:
        page.print("No damage is known. Of the last bytes before a crash only the form can be checked.")
        return
    for damage in finding.damages:
        seen = _format_moment(damage.latest.at)
        page.fold(f"damaged: {damage.description}; it was last seen intact {seen}", "red")
    lines = []
    if finding.cut is not None:
        lines.append(f"substrate recover --cut            {_describe_cut(finding.cut)}")
    if finding.readable:
        readable = "the log can be read to its end: what differs stays as it is"
        lines.append(f"substrate recover --accept         {readable}")
    for path, manifest in files.noted_backups(recovery.data_directory(store)):
        when = f"{manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
        lines.append(f"substrate recover --from {path}   goes back to {when}")
    for line in lines or ["Nothing here can recover it: restore a backup that you have elsewhere."]:
        page.say(line)
    raise typer.Exit(EXIT_FAULT)


def _describe_cut(cut: LogCut) -> str:
    graphs = f" on {', '.join(cut.graphs)}" if cut.graphs else ""
    lost = "everything after that is lost"
    if cut.lost_commands:
        lost = f"{cut.lost_commands:,} later commands{graphs} are lost"
    return f"keeps what was written until {_format_moment(cut.until)} ({cut.keep_bytes:,} bytes); {lost}"


def _format_moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "at an unknown time"


class KnownScope(Request):
    known_at: KnownMoment | None = None


class ExportCommand(options.StoreCommand, name="export"):
    """Write whole memories as lines of JSON, with every record on both time axes (docs/backup.md)."""

    target: Path | None = argument("[FILE]", "Default: standard output.", None)
    citizen_id: str | None = options.ANY_CITIZEN
    level: str = options.LEVEL
    collective: str | None = options.COLLECTIVE
    whole: bool = option("--all", "Every citizen, and N2 and N3.", False)
    embeddings: bool = option("--embeddings", "Include the vectors; otherwise an import computes them.", False)
    known_at: str | None = option("--known-at TIME", "As it was known then. Default: all that is known now.")

    def run(self) -> None:
        choice, target = None if self.whole else self.request(GraphRequest), self.target
        if target is not None and os.path.lexists(target):
            raise InvalidRequest(f"{target} exists already", remedy="Name a file that does not exist yet.")
        known_at = self.request(KnownScope).known_at
        moment = None if known_at is None else to_instant(known_at)
        self.answer(_export, choice, target, embeddings=self.embeddings, known_at=moment, of=choice)


async def _export(
    choice: GraphRequest | None, target: Path | None, deps: Deps, *, embeddings: bool, known_at: Instant | None
) -> None:
    if choice is None:
        origins = list(map(origin_of, await deps.graphs.existing_or_parked()))
        if not origins:
            raise NotFound("nothing was remembered yet", remedy="See `substrate ingest --help`.")
    else:
        origins = [GraphOf(choice.graph_key, choice.citizen_id if choice.level is Level.N1 else None)]
    lines = await export(origins, deps, embeddings=embeddings, known_at=known_at)
    if target is None:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(lines)
        sys.stdout.buffer.flush()
        return
    count = _write(lines, target)
    support.messages().say(f"{count_of(len(origins), 'graph')}, {count_of(count, 'line')} → {target}")


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
