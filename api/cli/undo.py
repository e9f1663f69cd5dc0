"""`substrate undo`: revert the last change of a memory or a link by new records."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.remember import store_command
from api.cli.revise import show_consequences
from schemas.commands import Undo, UndoLink, WriteReceipt

OPTIONS: Final = {
    **options.GRAPH, "id": "ID", "undoes": "--command", "undoes_source": "--source", "undoes_key": "--key",
}  # fmt: skip

app = typer.Typer(add_completion=False)


@app.command()
def undo(  # noqa: PLR0913  (a command's arguments are its options)
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    collective: options.Collective = None,
    link: options.OfLink = False,
    undoes: Annotated[
        str | None,
        typer.Option("--command", metavar="ID", help="The command to revert; refused when another came after it."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="SOURCE", help="Refuse to undo a change of another source.")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="Refuse to undo a change made with a key of another id."),
    ] = None,
    as_json: options.ReceiptAsJson = False,
) -> None:
    """Revert the last change of a memory or a link. The mistake stays visible in the past."""
    fields = {
        **options.record(identity, citizen, level, collective),
        "undoes": undoes,
        "undoes_source": source,
        "undoes_key": key,
    }
    kind = UndoLink if options.names_link(identity, link=link) else Undo
    receipt = support.run(store_command(support.read_settings(ctx), support.validate(kind, fields, OPTIONS)))
    support.print_answer(receipt, _show, as_json=as_json)


def _show(receipt: WriteReceipt, console: Console) -> None:
    outcome = f" is as it was before; version {receipt.version}"
    console.print(Text.assemble((formatting.to_line(receipt.id or ""), "bold"), outcome))
    show_consequences(receipt, console)
