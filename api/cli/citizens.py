"""`substrate citizens`: of whom something is stored."""

from __future__ import annotations

import typer
from rich.console import Console
from rich.text import Text

from api.cli import options, support
from schemas.mind.state import CitizenPage
from schemas.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def citizens(ctx: typer.Context, *, as_json: options.AnswerAsJson = False) -> None:
    """List the citizens of whom something is stored, one id on each line."""
    support.print_answer(support.run(_read(support.read_settings(ctx))), _show, as_json=as_json)


async def _read(settings: Settings) -> CitizenPage:
    async with support.open_store(settings) as runtime:
        return CitizenPage(citizens=tuple(await runtime.deps.graphs.citizens()))


def _show(page: CitizenPage, console: Console) -> None:
    for name in page.citizens:
        console.print(Text(name), soft_wrap=True)
    if not page.citizens:
        support.messages().print(Text("nothing was remembered here yet", "bright_black"))
