"""`substrate history`: every record of one memory, on both time axes, and what changed why."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Final

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import edge, words
from api.runtime import running
from schemas.base import CitizenId, Request
from schemas.errors import NotFound
from schemas.memory import ConsciousnessNode, Level
from schemas.settings import Settings
from substrate import reader, rows

OPTIONS: Final = {"citizen_id": "--citizen", "level": "--level"}
TEXT_SHOWN: Final = 400
_NOT_COMPARED: Final = frozenset(
    (
        "valid_at",
        "invalid_at",
        "created_at",
        "expired_at",
        "version",
        "description",
        "invalidation_reason",
        "closed_reason",
        "command_id",
        "closed_by",
    )
)

app = typer.Typer(add_completion=False)


class Place(Request):
    """Where a memory is to be found."""

    level: Level
    citizen_id: CitizenId | None


@app.command()
def history(
    ctx: typer.Context,
    memory_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory, as `ask` shows it.")],
    *,
    citizen: Annotated[str | None, typer.Option("--citizen", "-c", metavar="ID", help="Whose memory.")] = None,
    level: Annotated[str, typer.Option(help="N1, N2 or N3.")] = "N1",
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Show every record of one memory, on both time axes."""
    place = edge.checked(Place, {"level": level.upper(), "citizen_id": citizen}, OPTIONS)
    records = edge.run(_records(edge.settings_of(ctx), place, memory_id))
    if as_json:
        edge.write_json(orjson.dumps([record.model_dump(mode="json") for record in records]).decode())
    else:
        _show(records, edge.output())


async def _records(settings: Settings, place: Place, memory_id: str) -> Sequence[ConsciousnessNode]:
    async with running(settings) as runtime:
        graph = await edge.graph_of(runtime, place.level, place.citizen_id)
        found = await reader.history(runtime.deps.connection, graph, memory_id)
    if not found:
        raise NotFound(
            f"there is no memory {memory_id!r} in {place.level}",
            remedy="`substrate ask` shows the id of each memory that it finds.",
        )
    return [rows.memory_record(row, place.level) for row in found]


def _show(records: Sequence[ConsciousnessNode], console: Console) -> None:
    last = records[-1]
    count = f"{len(records)} record{'s' if len(records) > 1 else ''}"
    console.print(Text.assemble((words.title(last), "bold"), f" · {last.node_id} · {last.level} · {count}"))
    table = Table("", "holds", "was believed", "what it says, and why it ended", show_lines=True, expand=True)
    befores = [None, *(before for before, _ in pairwise(records))]
    for before, record in zip(befores, records, strict=True):
        table.add_row(
            Text(str(record.version)),
            Text(f"{words.clock(record.valid_at)}\nto {words.clock(record.invalid_at)}"),
            Text(f"{words.clock(record.created_at)}\nto {words.clock(record.expired_at)}"),
            _told(before, record),
            style="bright_black" if record.expired_at is not None else "",
        )
    console.print(table)
    console.print(Text("Times are UTC; – is an open end. Grey records are no longer believed.", "bright_black"))


def _told(before: ConsciousnessNode | None, record: ConsciousnessNode) -> Text:
    told = Text()
    if before is None or before.description != record.description:
        told.append(words.shortened(record.description or record.name, TEXT_SHOWN))
    changes = [] if before is None else _changes(before, record)
    if before is not None and not changes and before.description == record.description:
        told.append("the same, with its end known")
    for change in changes:
        told.append(f"\n{change}" if told else change, "cyan")
    why = words.REASONS.get(record.invalidation_reason or "")
    if why:
        ended = "held no longer" if record.expired_at is None else "believed no longer"
        told.append(f"\n{ended}: {why}", "yellow")
    return told


def _changes(before: ConsciousnessNode, after: ConsciousnessNode) -> list[str]:
    """The fields that differ, each as `name: old → new`."""
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    return [
        f"{name.replace('_', ' ')}: {_value(old[name])} → {_value(new[name])}"
        for name in new
        if name not in _NOT_COMPARED and old[name] != new[name]
    ]


def _value(value: object) -> str:
    if isinstance(value, dict):
        return words.emotions(value, most=5) if all(isinstance(v, float) for v in value.values()) else "…"
    if isinstance(value, list):
        return words.shortened(", ".join(map(str, value)), 60) or "none"
    return "none" if value is None else words.shortened(str(value), 60)
