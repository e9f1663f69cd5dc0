"""`substrate collectives`: which there are beside the default one."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.text import Text

from api.cli import options, support
from schemas.collectives import CollectivePage
from schemas.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def collectives(ctx: typer.Context, *, as_json: options.AnswerAsJson = False) -> None:
    """List the collectives in which something is stored beside the default one, one id on each line."""
    support.print_answer(support.run(_read(support.read_settings(ctx))), _show, as_json=as_json)


async def _read(settings: Settings) -> CollectivePage:
    async with support.open_store(settings) as runtime:
        return CollectivePage(collectives=tuple(await runtime.deps.graphs.collectives()))


def _show(page: CollectivePage, console: Console) -> None:
    for name in page.collectives:
        console.print(Text(name), soft_wrap=True)
    if not page.collectives:
        support.messages().print(Text("there is no collective beside the default one yet", "bright_black"))
