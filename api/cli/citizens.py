"""`substrate citizens` and `collectives`: of whom something is stored, and where beside the default collective."""

from __future__ import annotations

import typer
from rich.console import Console

from api.cli import options, support
from orchestration.dependencies import Deps
from schemas.collectives import CollectivePage
from schemas.mind.state import CitizenPage
from schemas.temporal import Instant

app = typer.Typer(add_completion=False)


@app.command()
def citizens(ctx: typer.Context, *, as_json: options.AnswerAsJson = False) -> None:
    """List the citizens of whom something is stored, one id on each line."""

    async def read(deps: Deps, _now: Instant) -> CitizenPage:
        return CitizenPage(citizens=tuple(await deps.graphs.citizens()))

    def show(page: CitizenPage, console: Console) -> None:
        support.show_names(page.citizens, console, otherwise="nothing was remembered here yet")

    support.print_answer(support.in_store(support.read_settings(ctx), read), show, as_json=as_json)


@app.command()
def collectives(ctx: typer.Context, *, as_json: options.AnswerAsJson = False) -> None:
    """List the collectives in which something is stored beside the default one, one id on each line."""

    async def read(deps: Deps, _now: Instant) -> CollectivePage:
        return CollectivePage(collectives=tuple(await deps.graphs.collectives()))

    def show(page: CollectivePage, console: Console) -> None:
        support.show_names(
            page.collectives, console, otherwise="there is no collective beside the default one yet"
        )

    support.print_answer(support.in_store(support.read_settings(ctx), read), show, as_json=as_json)
