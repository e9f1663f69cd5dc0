"""`substrate restore`: a backup into an empty data directory, proved after it was opened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from api.backup import restore
from api.cli import edge
from api.cli.backup import show

app = typer.Typer(add_completion=False)


@app.command("restore")
def restore_store(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="What `substrate backup` wrote.")],
) -> None:
    """Restore a backup into the data directory, which must be empty. A damaged one changes nothing."""
    settings = edge.settings_of(ctx)
    manifest = edge.run(restore(source.expanduser().absolute(), settings))
    show(manifest, str(settings.store.data), edge.output())
