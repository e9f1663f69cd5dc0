"""The first administrator's key: shown on a terminal, else kept in a file of its owner. It never enters a log."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from rich.text import Text

from api.cli import support
from schemas.errors import InvalidRequest
from schemas.keys import NewKey
from substrate.engine.data_directory import write_private

FILE: Final = "first-administrator.key"


def tell(first: NewKey, directory: Path) -> None:
    """Show the key where somebody looks; otherwise write it into the directory and say where.

    Raises InvalidRequest when that cannot be written: the key is then to be forgotten.
    """
    console = support.messages()
    if sys.stderr.isatty():
        console.print(Text("The administrator's key, which is not shown again:", "bold"), soft_wrap=True)
        console.print(Text(f"  {first.key}", "bold green"), soft_wrap=True)
    else:
        console.print(
            Text(f"The administrator's key is in {_kept(first.key, directory)}: move it from there."),
            soft_wrap=True,
        )
    console.print(Text("Send it as `Authorization: Bearer KEY`; `substrate keys` makes others."), soft_wrap=True)


def _kept(key: str, directory: Path) -> Path:
    file = directory.expanduser().absolute() / FILE
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(file, f"{key}\n")
    except OSError as error:
        raise InvalidRequest(
            f"the first key cannot be written to {file}: {error.strerror}",
            remedy="Set SUBSTRATE_DATA to a directory that can be written, or SUBSTRATE_ADMIN_KEY to a key.",
        ) from error
    return file
