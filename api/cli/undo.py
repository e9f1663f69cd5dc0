"""`substrate undo`: revert the last change of a memory or a link by new records."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from rich.text import Text

from api.cli import edge, options, words
from api.runtime import now, running
from api.writing import error_of
from orchestration import insertion
from schemas.command import ChangeCommand, WriteReceipt
from schemas.commands import Undo, UndoLink
from schemas.settings import Settings

OPTIONS: Final = {"id": "ID", "citizen_id": "--citizen", "level": "--level", "undoes": "--command"}

app = typer.Typer(add_completion=False)


@app.command()
def undo(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    link: options.OfLink = False,
    undoes: Annotated[
        str | None,
        typer.Option("--command", metavar="ID", help="The command to revert; refused when another came after it."),
    ] = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """Revert the last change of a memory or a link. The mistake stays visible in the past."""
    fields: dict[str, Any] = {"id": identity, "citizen_id": citizen, "level": level.upper(), "undoes": undoes}
    kind = UndoLink if link or identity.count("|") == 2 else Undo
    receipt = edge.run(_undone(edge.settings_of(ctx), edge.checked(kind, fields, OPTIONS)))
    if as_json:
        edge.write_json(receipt.model_dump_json())
        return
    said = f" is as it was before; version {receipt.version}"
    edge.output().print(Text.assemble((words.one_line(receipt.id or ""), "bold"), said))


async def _undone(settings: Settings, command: ChangeCommand) -> WriteReceipt:
    async with running(settings) as runtime:
        [receipt] = await insertion.apply([command], runtime.deps, now())
    if receipt.status == "refused":
        raise error_of(receipt)
    return receipt
