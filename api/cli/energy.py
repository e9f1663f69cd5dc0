"""`substrate energy`: the energy of a citizen over time, and what set it."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from orchestration.mind.state import energy_series
from schemas.mind.state import EnergySeries
from schemas.paging import Paged

OPTIONS: Final = {"limit": "--limit", "cursor": "--cursor"}

app = typer.Typer(add_completion=False)


@app.command()
def energy(
    ctx: typer.Context,
    *,
    citizen: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose energy.")],
    limit: Annotated[int, typer.Option(help="Records, 1 to 500.")] = 50,
    cursor: Annotated[str | None, typer.Option(help="The `next` of the page before.")] = None,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Show the energy now, the ordinary one to which it returns, and each time that it was set."""
    page = support.validate(Paged, support.drop_unset({"limit": limit, "cursor": cursor}), OPTIONS)
    series = support.in_store(
        support.read_settings(ctx), lambda deps, now: energy_series(citizen, page, deps, now), citizen
    )
    support.print_answer(series, _show, as_json=as_json)


def _show(series: EnergySeries, console: Console) -> None:
    console.print(f"energy {series.now:.2f}, ordinary {series.ordinary:.2f}")
    table = Table("from", "energy", "set by", box=None)
    for point in series.points:
        shown = "-" if point.energy is None else f"{point.energy:.2f}"
        set_by = f"stream {point.stream_id}" if point.feedback_at else "the citizen"
        set_by = "nobody" if not point.feedback_at and point.energy is None else formatting.to_line(set_by)
        table.add_row(formatting.format_time(point.valid_at), shown, Text(set_by))
    if series.points:
        console.print(table)
    if series.next is not None:
        console.print(Text(f"more: --cursor {series.next}", "bright_black"), soft_wrap=True)
