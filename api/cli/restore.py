"""`substrate restore`: a backup into an empty data directory, proved after it was opened."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, support
from api.cli.backup import show
from api.runtime.backup import ALL_KEYS, Restored, restore_backup
from schemas.errors import InvalidRequest
from schemas.keys import KeyInfo
from substrate.store.revoked_keys import read_revoked_keys

ONE_OF_TWO: Final = "--revoke-keys revokes those too: leave --former away."

app = typer.Typer(add_completion=False)


@app.command("restore")
def restore_store(
    ctx: typer.Context,
    source: Annotated[Path, typer.Argument(metavar="DIRECTORY", help="What `substrate backup` wrote.")],
    *,
    former: Annotated[
        Path | None,
        typer.Option(metavar="DIRECTORY", help="The data directory that it replaces: keys revoked there stay so."),
    ] = None,
    revoke_keys: Annotated[
        bool, typer.Option("--revoke-keys", help="Revoke every key that the backup holds.")
    ] = False,
) -> None:
    """Restore a backup into the data directory, which must be empty. A damaged one changes nothing."""
    settings = support.settings_of(ctx)
    if former is not None and revoke_keys:
        raise InvalidRequest("--former and --revoke-keys exclude each other", remedy=ONE_OF_TWO)
    revoked = None if former is None else read_revoked_keys(former.expanduser().absolute())
    restored = support.run(
        restore_backup(source.expanduser().absolute(), settings, ALL_KEYS if revoke_keys else revoked)
    )
    show(restored.manifest, str(settings.store.data), support.output())
    show_keys(restored, support.output())
    if revoked is None and not revoke_keys and restored.keys:
        said = (
            f"One that was revoked after {restored.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC counts again: "
            "revoke it with `substrate keys revoke ID`, or restore with --former or --revoke-keys."
        )
        support.output().print(Text(said, "bold yellow"), soft_wrap=True)


def show_keys(restored: Restored, console: Console) -> None:
    """The keys that stay revoked, and those that count now."""
    for key in restored.kept_revoked:
        console.print(Text(f"key {_named(key)}: stays revoked"), soft_wrap=True)
    for key in restored.keys:
        console.print(Text(f"key {_named(key)}: counts now ({' '.join(key.scopes)})", "yellow"), soft_wrap=True)


def _named(key: KeyInfo) -> str:
    return f"{key.id} for {formatting.one_line(key.name)}"
