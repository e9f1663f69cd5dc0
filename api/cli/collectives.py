"""`substrate collectives`: which there are beside the default one."""

from __future__ import annotations

import typer
from rich.console import Console

from api.cli import options, support
from orchestration.dependencies import Deps
from schemas.collectives import CollectivePage
from schemas.temporal import Instant

app = typer.Typer(add_completion=False)


@app.command()
def collectives(ctx: typer.Context, *, as_json: options.AnswerAsJson = False) -> None:
    """List the collectives in which something is stored beside the default one, one id on each line."""
    support.print_answer(support.in_store(support.read_settings(ctx), _read), _show, as_json=as_json)


async def _read(deps: Deps, _now: Instant) -> CollectivePage:
    return CollectivePage(collectives=tuple(await deps.graphs.collectives()))


def _show(page: CollectivePage, console: Console) -> None:
    support.show_names(page.collectives, console, otherwise="there is no collective beside the default one yet")
