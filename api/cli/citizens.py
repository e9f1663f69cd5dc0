"""`substrate citizens`: of whom something is stored."""

from __future__ import annotations

import typer
from rich.console import Console

from api.cli import options, support
from orchestration.dependencies import Deps
from schemas.mind.state import CitizenPage
from schemas.temporal import Instant

app = typer.Typer(add_completion=False)


@app.command()
def citizens(ctx: typer.Context, *, as_json: options.AnswerAsJson = False) -> None:
    """List the citizens of whom something is stored, one id on each line."""
    support.print_answer(support.in_store(support.read_settings(ctx), _read), _show, as_json=as_json)


async def _read(deps: Deps, _now: Instant) -> CitizenPage:
    return CitizenPage(citizens=tuple(await deps.graphs.citizens()))


def _show(page: CitizenPage, console: Console) -> None:
    support.show_names(page.citizens, console, otherwise="nothing was remembered here yet")
