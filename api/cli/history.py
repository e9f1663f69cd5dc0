"""`substrate history`: every record of one memory or link as bars on both time axes, and who changed what, why."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Final

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.timeline import Span, bars
from orchestration.identifiers import link_name
from schemas.base import CitizenId, Request
from schemas.errors import NotFound
from schemas.memory import Level, LinkRecord, MemoryRecord
from schemas.settings import Settings
from substrate.graphs.graph import Graph
from substrate.store import reader, rows

OPTIONS: Final = {"citizen_id": "--citizen", "level": "--level"}
TEXT_SHOWN: Final = 400
BAR_WIDTH: Final = 19
"""As wide as the moments that stand below it."""
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
        "closed_source",
        "key_id",
        "closed_key",
    )
)

type _Record = MemoryRecord | LinkRecord

app = typer.Typer(add_completion=False)


class Place(Request):
    """Where a memory is to be found."""

    level: Level
    citizen_id: CitizenId | None


@app.command()
def history(
    ctx: typer.Context,
    identity: options.MemoryOrLink,
    *,
    citizen: options.AnyCitizen = None,
    level: options.Level = "N1",
    link: options.OfLink = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False,
) -> None:
    """Show every record of one memory or link, as bars on both time axes."""
    place = support.checked(Place, {"level": level.upper(), "citizen_id": citizen}, OPTIONS)
    of_link = options.names_link(identity, link=link)
    records = support.run(_records(support.settings_of(ctx), place, identity, of_link=of_link))
    if as_json:
        support.write_json(orjson.dumps([record.model_dump(mode="json") for record in records]).decode())
    else:
        _show(records, support.output())


async def _records(settings: Settings, place: Place, identity: str, *, of_link: bool) -> Sequence[_Record]:
    async with support.opened(settings) as runtime:
        graph = await support.graph_of(runtime, place.level, place.citizen_id)
        connection = runtime.deps.connection
        found: list[_Record]
        if of_link:
            of = await reader.link_history(Graph(connection, graph), link_name(identity))
            found = [rows.link_record(row, place.level) for row in of]
        else:
            of = await reader.history(Graph(connection, graph), identity)
            found = [rows.memory_record(row, place.level) for row in of]
    if not found:
        raise NotFound(
            f"there is no {'link' if of_link else 'memory'} {identity!r} in {place.level}",
            remedy="`substrate ask` shows the id of each memory that it finds; a link is `source|TYPE|target`.",
        )
    return found


def _show(records: Sequence[_Record], console: Console) -> None:
    last = records[-1]
    identity = last.link_id if isinstance(last, LinkRecord) else last.node_id
    count = f"{len(records)} record{'s' if len(records) > 1 else ''}"
    console.print(Text.assemble((_title(last), "bold"), f" · {identity} · {last.level} · {count}"))
    table = Table("", "holds", "was believed", "what it says, and why it ended", show_lines=True, expand=True)
    held = bars([Span(record.valid_at, record.invalid_at) for record in records], BAR_WIDTH)
    believed = bars([Span(record.created_at, record.expired_at) for record in records], BAR_WIDTH)
    befores = [None, *(before for before, _ in pairwise(records))]
    for place, (before, record) in enumerate(zip(befores, records, strict=True)):
        table.add_row(
            Text(str(record.version)),
            Text(f"{held[place]}\n{formatting.clock(record.valid_at)}\nto {formatting.clock(record.invalid_at)}"),
            Text(
                f"{believed[place]}\n"
                f"{formatting.clock(record.created_at)}\nto {formatting.clock(record.expired_at)}"
            ),
            _told(before, record),
            style="bright_black" if record.expired_at is not None else "",
        )
    console.print(table)
    console.print(Text("Times are UTC; – is an open end. Grey records are no longer believed.", "bright_black"))


def _title(record: _Record) -> str:
    if isinstance(record, MemoryRecord):
        return formatting.title(record)
    return formatting.one_line(f"{record.source_id} {record.relation_type} {record.target_id}")


def _says(record: _Record) -> str:
    """What a record says in words."""
    if isinstance(record, MemoryRecord):
        return record.description or record.name
    return f"{record.goal}, {record.mindstate}"


def _told(before: _Record | None, record: _Record) -> Text:
    told = Text()
    same = before is not None and _says(before) == _says(record)
    if not same:
        told.append(formatting.shortened(_says(record), TEXT_SHOWN))
    changes = [] if before is None else _changes(before, record)
    if same and not changes:
        told.append("the same, with its end known")
    for change in changes:
        told.append(f"\n{change}" if told else change, "cyan")
    why = formatting.REASONS.get(record.invalidation_reason or "")
    if why:
        ended = "held no longer" if record.expired_at is None else "believed no longer"
        told.append(f"\n{ended}: {why}", "yellow")
    told.append(_by_whom(record), "bright_black")
    return told


def _by_whom(record: _Record) -> str:
    """From which source, author, command and key a record is, and which closed it."""
    opened = (record.source, record.author, record.command_id, _key(record.key_id))
    closed = (record.closed_source, record.closed_by, _key(record.closed_key))
    return "".join(
        f"\n{how} {' · '.join(formatting.one_line(part) for part in said if part)}"
        for how, said in (("from", opened), ("closed by", closed))
        if any(said)
    )


def _key(key_id: str | None) -> str | None:
    return None if key_id is None else f"key {key_id}"


def _changes(before: _Record, after: _Record) -> list[str]:
    """The fields that differ, each as `name: old → new`."""
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    return [
        f"{name.replace('_', ' ')}: {_value(old[name])} → {_value(new[name])}"
        for name in new
        if name not in _NOT_COMPARED and old[name] != new[name]
    ]


def _value(value: object) -> str:
    if isinstance(value, dict):
        return formatting.emotions(value, most=5) if all(isinstance(v, float) for v in value.values()) else "…"
    if isinstance(value, list):
        return formatting.shortened(", ".join(map(str, value)), 60) or "none"
    return "none" if value is None else formatting.shortened(str(value), 60)
