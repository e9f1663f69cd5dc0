"""`substrate backup`, `restore` and `recover`: copies of a data directory, and the repair of a damaged one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, support
from api.runtime import recovery
from api.runtime.backup import ALL_KEYS, Restored, refuse_server, restore_backup
from api.runtime.runtime import open_store
from orchestration.transfer.backup import back_up
from schemas.errors import InvalidRequest
from schemas.keys import KeyInfo
from schemas.settings import Settings, StoreSettings
from schemas.upkeep.backup import Manifest
from substrate.backup import files
from substrate.engine.repair import LogCut
from substrate.language.text import count_of
from substrate.store.api_keys import read_former_keys

app = typer.Typer(add_completion=False)


@app.command("backup")
def back_up_store(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="A new or empty directory.")],
) -> None:
    """Write a consistent backup of the whole data directory while it is in use (docs/backup.md)."""
    store = support.read_settings(ctx).store
    refuse_server(store)
    manifest = support.run(_back_up(store, target.expanduser().absolute()))
    show_backup(manifest, str(target), support.output())


async def _back_up(store: StoreSettings, target: Path) -> Manifest:
    async with open_store(store, support.report_loading()) as (connection, _):
        return await back_up(connection, store.data.expanduser().absolute(), target, await connection.now())


def show_backup(manifest: Manifest, where: str, console: Console) -> None:
    """Print the contents of a backup in one line."""
    memories = sum(graph.labels.get("ConsciousnessNode", 0) for graph in manifest.graphs.values())
    links = sum(graph.types.get("LINK", 0) for graph in manifest.graphs.values())
    size = sum(file.bytes for file in manifest.files.values()) / 1e6
    graphs = count_of(len(manifest.graphs), "graph")
    contents = f"{graphs}, {count_of(memories, 'memory')}, {count_of(links, 'link')}"
    console.print(
        Text(f"{where}: {contents}, {size:,.1f} MB, of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"), soft_wrap=True
    )


@app.command("restore")
def restore_store(
    ctx: typer.Context,
    source: Annotated[
        Path, typer.Argument(metavar="DIRECTORY", help="A directory that `substrate backup` wrote.")
    ],
    *,
    former: Annotated[
        Path | None,
        typer.Option(
            metavar="DIRECTORY", help="The data directory that it replaces; keys revoked or lowered there stay so."
        ),
    ] = None,
    revoke_keys: Annotated[
        bool, typer.Option("--revoke-keys", help="Revoke every key that the backup holds.")
    ] = False,
) -> None:
    """Restore a backup into the data directory, which must be empty. A damaged backup changes nothing."""
    settings = support.read_settings(ctx)
    if former is not None and revoke_keys:
        raise InvalidRequest(
            "--former and --revoke-keys exclude each other",
            remedy="--revoke-keys revokes those keys too: leave --former out.",
        )
    known = None if former is None else read_former_keys(former.expanduser().absolute())
    restored = support.run(
        restore_backup(source.expanduser().absolute(), settings, ALL_KEYS if revoke_keys else known)
    )
    show_backup(restored.manifest, str(settings.store.data), support.output())
    show_keys(restored, support.output())
    if known is None and not revoke_keys and restored.keys:
        warning = (
            f"A key that was revoked after {restored.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC is valid again: "
            "revoke it with `substrate keys revoke ID`, or restore with --former or --revoke-keys. One whose "
            "source was lowered since claims what it could before: `substrate keys change ID --source SOURCE`."
        )
        support.output().print(Text(warning, "bold yellow"), soft_wrap=True)


def show_keys(restored: Restored, console: Console) -> None:
    """Print the keys that stay revoked, and those that are valid now."""
    for key in restored.kept_revoked:
        console.print(Text(f"key {_describe_key(key)}: stays revoked"), soft_wrap=True)
    for key in restored.keys:
        rights = f"{' '.join(key.scopes)}, at most {key.highest_source}"
        console.print(Text(f"key {_describe_key(key)}: valid now ({rights})", "yellow"), soft_wrap=True)


def _describe_key(key: KeyInfo) -> str:
    return f"{key.id} for {formatting.to_line(key.name)}"


@app.command()
def recover(
    ctx: typer.Context,
    *,
    cut: Annotated[
        bool, typer.Option("--cut", help="Cut the log at the damage; keep what was written before.")
    ] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Accept the files as they are now.")] = False,
    source: Annotated[
        Path | None, typer.Option("--from", metavar="DIRECTORY", help="Replace the store with this backup.")
    ] = None,
) -> None:
    """Report what a damaged store has lost and how to recover the rest; with an option, recover it.

    The service must not run. A copy of the damaged store stays beside the data directory.
    """
    settings = support.read_settings(ctx)
    if cut + accept + (source is not None) > 1:
        raise InvalidRequest(
            "--cut, --accept and --from exclude each other",
            remedy="Choose one of --cut, --accept and --from DIRECTORY.",
        )
    console = support.output()
    if source is not None:
        aside, restored = support.run(recovery.replace_with_backup(source.expanduser().absolute(), settings))
        show_backup(restored.manifest, str(settings.store.data), console)
        show_keys(restored, console)
        _show_aside(aside, console)
    elif cut or accept:
        recovered = support.run((recovery.cut_log if cut else recovery.accept_files)(settings.store))
        memories = sum(graph.labels.get("ConsciousnessNode", 0) for graph in recovered.graphs.values())
        loaded = f"{count_of(len(recovered.graphs), 'graph')}, {count_of(memories, 'memory')}"
        console.print(Text(f"It loads: {loaded}."), soft_wrap=True)
        _show_aside(recovered.aside, console)
    else:
        _show_damage(settings, console)


def _show_damage(settings: Settings, console: Console) -> None:
    finding = recovery.examine_store(settings.store)
    if not finding.damages:
        console.print("No damage is known. Of the last bytes before a crash only the form can be checked.")
        return
    for damage in finding.damages:
        console.print(
            Text(
                f"damaged: {damage.description}; it was last seen intact {_format_moment(damage.latest.at)}", "red"
            )
        )
    lines = []
    if finding.cut is not None:
        lines.append(f"substrate recover --cut            {_describe_cut(finding.cut)}")
    if finding.readable:
        lines.append(
            "substrate recover --accept         the log can be read to its end: what differs stays as it is"
        )
    for path, manifest in files.noted_backups(recovery.data_directory(settings.store)):
        when = f"{manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
        lines.append(f"substrate recover --from {path}   goes back to {when}")
    for line in lines or ["Nothing here can recover it: restore a backup that you have elsewhere."]:
        console.print(Text(line), soft_wrap=True)
    raise typer.Exit(1)


def _describe_cut(cut: LogCut) -> str:
    graphs = f" on {', '.join(cut.graphs)}" if cut.graphs else ""
    lost = (
        f"{cut.lost_commands:,} later commands{graphs} are lost"
        if cut.lost_commands
        else "everything after that is lost"
    )
    return f"keeps what was written until {_format_moment(cut.until)} ({cut.keep_bytes:,} bytes); {lost}"


def _format_moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "at an unknown time"


def _show_aside(aside: Path, console: Console) -> None:
    note = f"The damaged store is in {aside}. No erasure reaches it: remove it when you no longer need it."
    console.print(Text(note, "yellow"), soft_wrap=True)
