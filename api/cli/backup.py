"""`substrate backup`: one moment of the whole data directory, while it is used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from api.cli import support
from api.runtime.backup import refuse_server
from api.runtime.runtime import open_store
from orchestration.transfer.backup import back_up
from schemas.backup import Manifest
from schemas.settings import StoreSettings

app = typer.Typer(add_completion=False)


@app.command("backup")
def back_up_store(
    ctx: typer.Context,
    target: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="A new or empty directory.")],
) -> None:
    """Write a backup of the whole data directory, consistent, while it is used (docs/backup.md)."""
    store = support.settings_of(ctx).store
    refuse_server(store)
    manifest = support.run(_backed_up(store, target.expanduser().absolute()))
    show(manifest, str(target), support.output())


async def _backed_up(store: StoreSettings, target: Path) -> Manifest:
    async with open_store(store, support.tell_waiting()) as (connection, _):
        return await back_up(connection, store.data.expanduser().absolute(), target, await connection.now())


def show(manifest: Manifest, where: str, console: Console) -> None:
    """What a backup holds, in one line."""
    memories = sum(graph.labels.get("ConsciousnessNode", 0) for graph in manifest.graphs.values())
    links = sum(graph.types.get("LINK", 0) for graph in manifest.graphs.values())
    size = sum(file.bytes for file in manifest.files.values()) / 1e6
    held = f"{len(manifest.graphs):,} graphs, {memories:,} memories, {links:,} links"
    console.print(
        Text(f"{where}: {held}, {size:,.1f} MB, of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"), soft_wrap=True
    )
