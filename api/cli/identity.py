"""`substrate identity`: who a citizen is, or was."""

from __future__ import annotations

from typing import Annotated, Final

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from orchestration.mind.declared_self import introduce
from orchestration.mind.identity import read_identity
from schemas.citizen import Felt, Identity, WhoIs
from schemas.memory import Level
from schemas.settings import Settings

OPTIONS: Final = {
    "citizen_id": "--citizen",
    "as_of_time": "--as-of",
    "known_at": "--known-at",
    "limit": "--limit",
}

app = typer.Typer(add_completion=False)


@app.command()
def identity(
    ctx: typer.Context,
    *,
    citizen: Annotated[str, typer.Option("--citizen", "-c", metavar="ID", help="Whose identity.")],
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="The identity at this day or time.")] = None,
    known_at: options.KnownAt = None,
    limit: Annotated[int, typer.Option(help="Entities, 1 to 100.")] = 10,
    as_json: options.AnswerAsJson = False,
) -> None:
    """Show who a citizen is: its name, role and people, and what most of its memories point to."""
    fields = {
        "citizen_id": citizen,
        "as_of_time": support.parse_time_option("--as-of", as_of),
        "known_at": support.parse_known_at(known_at),
        "limit": limit,
    }
    request = support.validate(WhoIs, support.drop_unset(fields), OPTIONS)
    support.print_answer(support.run(_read(support.read_settings(ctx), request)), show, as_json=as_json)


async def _read(settings: Settings, request: WhoIs) -> Identity:
    async with support.open_store(settings) as runtime:
        await support.find_graph(runtime, Level.N1, request.citizen_id)
        return await read_identity(request, runtime.deps, await runtime.moment())


def show(identity: Identity, console: Console) -> None:
    """Print who the citizen is, its entities as a table, the rules of the first one, and the state."""
    introduced = introduce(identity)
    if introduced is not None:
        console.print(Text(formatting.to_line(introduced)))
    table = Table("entity", "memories", "felt", box=None)
    for entity in identity.entities:
        felt = ", ".join(f"{name} {times}" for name, times in entity.emotions.items())
        table.add_row(
            Text(formatting.to_line(entity.name)), str(entity.appearances), Text(formatting.to_line(felt))
        )
    if identity.entities:
        console.print(table)
    for rule in identity.entities[0].rules if identity.entities else ():
        console.print(Text(f"rule: {formatting.to_line(rule.rule)}"))
    if identity.state.updated_at is not None:
        console.print(Text(_format_state(identity.state)))
    for note in identity.notes:
        console.print(Text(f"note: {formatting.to_line(note)}", style="dim"))


def _format_state(state: Felt) -> str:
    felt = [f"{name} {share:.2f}" for name, share in state.emotion_vector.items()]
    drives = [f"{formatting.to_line(name)} {drive.satisfaction:.2f}" for name, drive in state.drives.items()]
    goal = [] if state.goal is None else [f"goal: {formatting.to_line(state.goal)}"]
    parts = [f"energy {state.energy:.2f}", *map(formatting.to_line, felt), *goal]
    return "state: " + ", ".join([*parts, *(["drives: " + ", ".join(drives)] if drives else [])])
