"""`substrate history`: every record of one memory or link as bars on both time axes, who changed it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Annotated, Final, NamedTuple

import orjson
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from api.cli import bind, formatting, options, support
from orchestration.identifiers import is_judgement, link_name
from schemas.errors import NotFound
from schemas.memory import LinkRecord, MemoryRecord
from schemas.settings import Settings
from substrate.graphs.graph import Graph
from substrate.store import reader, rows
from substrate.store.runs import name_runs

TEXT_SHOWN: Final = 400
BAR_WIDTH: Final = 19
"""The width of the times printed below the bar."""
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
_BAR, _ONWARDS, _BEFORE = "━", "▶", "·"

type _Record = MemoryRecord | LinkRecord

app = typer.Typer(add_completion=False)


class _History(bind.OfRecord):
    as_json: Annotated[bool, typer.Option("--json", help="Print the records as JSON.")] = False


@bind.command(app, _History)
def history(given: _History) -> None:
    """Show every record of one memory or link, as bars on both time axes."""
    choice, is_link = given.request(support.GraphChoice), options.names_link(given.id, link=given.link)
    records = support.run(_read_records(support.read_settings(given.ctx), choice, given.id, is_link=is_link))
    if given.as_json:
        support.write_json(orjson.dumps([record.model_dump(mode="json") for record in records]).decode())
    else:
        _show(records, support.output())


async def _read_records(
    settings: Settings, choice: support.GraphChoice, identity: str, *, is_link: bool
) -> Sequence[_Record]:
    async with support.open_store(settings) as runtime:
        graph = await support.find_graph(runtime, choice.graph_key, choice.citizen_id)
        store = Graph(runtime.deps.connection, graph)
        records: Sequence[_Record]
        if is_link:
            stored = await reader.link_history(store, link_name(identity))
            records = await name_runs(store, [rows.link_record(row, choice.graph_key) for row in stored])
        else:
            stored = await reader.history(store, identity)
            records = await name_runs(store, [rows.memory_record(row, choice.graph_key) for row in stored])
    if not records:
        raise NotFound(
            f"there is no {'link' if is_link else 'memory'} {identity!r} in {choice.graph_key}",
            remedy="`substrate ask` shows the id of each memory that it finds; a link is `source|TYPE|target`.",
        )
    return records


def _show(records: Sequence[_Record], console: Console) -> None:
    last = records[-1]
    if isinstance(last, LinkRecord):
        identity, title = last.link_id, f"{last.source_id} {last.relation_type} {last.target_id}"
    else:
        identity, title = last.node_id, formatting.choose_title(last)
    count = f"{len(records)} record{'s' if len(records) > 1 else ''}"
    console.print(
        Text.assemble((formatting.to_line(title), "bold"), f" · {identity} · {last.graph_key} · {count}")
    )
    table = Table("", "holds", "was believed", "what it says, and why it ended", show_lines=True, expand=True)
    valid_bars = draw_bars([Span(record.valid_at, record.invalid_at) for record in records], BAR_WIDTH)
    known_bars = draw_bars([Span(record.created_at, record.expired_at) for record in records], BAR_WIDTH)
    befores = [None, *(before for before, _ in pairwise(records))]
    for number, (before, record) in enumerate(zip(befores, records, strict=True)):
        table.add_row(
            Text(str(record.version)),
            Text(f"{valid_bars[number]}\n{_format_span(record.valid_at, record.invalid_at)}"),
            Text(f"{known_bars[number]}\n{_format_span(record.created_at, record.expired_at)}"),
            _describe(before, record),
            style="bright_black" if record.expired_at is not None else "",
        )
    console.print(table)
    console.print(Text("Times are UTC; – is an open end. Grey records are no longer believed.", "bright_black"))


def _format_span(start: datetime, end: datetime | None) -> str:
    return f"{formatting.format_time(start)}\nto {formatting.format_time(end)}"


def _read_text(record: _Record) -> str:
    if isinstance(record, MemoryRecord):
        return record.description or record.name
    return f"{record.goal}, {record.mindstate}"


def _describe(before: _Record | None, record: _Record) -> Text:
    description = Text()
    same = before is not None and _read_text(before) == _read_text(record)
    if not same:
        description.append(formatting.shorten(_read_text(record), TEXT_SHOWN))
    changes = [] if before is None else _changes(before, record)
    if same and not changes:
        description.append("the same, with its end known")
    for change in changes:
        description.append(f"\n{change}" if description else change, "cyan")
    reason = formatting.REASONS.get(record.invalidation_reason or "")
    if is_judgement(record.closed_by):
        reason = "its importance was judged anew"
    if reason:
        ended = "held no longer" if record.expired_at is None else "believed no longer"
        description.append(f"\n{ended}: {reason}", "yellow")
    # The source, author, command, key and run that opened a record, and those that closed it.
    opened = (record.source, record.author, record.command_id, _name_key(record.key_id), _name_run(record.run))
    closed = (record.closed_source, record.closed_by, _name_key(record.closed_key), _name_run(record.closed_run))
    description.append(_join_parts("from", *opened) + _join_parts("closed by", *closed), "bright_black")
    return description


def _join_parts(label: str, *parts: str | None) -> str:
    """One line with the parts that are known; nothing when none is."""
    known = list(map(formatting.to_line, filter(None, parts)))
    return f"\n{label} {' · '.join(known)}" if known else ""


def _name_run(run_id: str | None) -> str | None:
    return None if run_id is None else f"upkeep {run_id}"


def _name_key(key_id: str | None) -> str | None:
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
        return (
            formatting.format_emotions(value, most=5) if all(isinstance(v, float) for v in value.values()) else "…"
        )
    if isinstance(value, list):
        return formatting.shorten(", ".join(map(str, value)), 60) or "none"
    return "none" if value is None else formatting.shorten(str(value), 60)


class Span(NamedTuple):
    """When something begins and ends; None is an open end."""

    start: datetime
    end: datetime | None


def draw_bars(spans: Sequence[Span], width: int) -> list[str]:
    """One bar of `width` characters for each span, all on one axis from the first moment to the last.

    The last sixth shows open ends: an arrow at the right edge. A span shorter than a character takes one.
    """
    starts = [span.start for span in spans]
    ends = [span.end for span in spans if span.end is not None]
    first, last = min(starts), max(starts + ends)
    places = width - max(1, width // 6)
    length = (last - first).total_seconds() or 1.0

    def place(moment: datetime) -> int:
        return round((moment - first).total_seconds() / length * places)

    def draw(span: Span) -> str:
        start = min(place(span.start), places - 1)
        if span.end is None:
            return _BEFORE * start + _BAR * (width - 1 - start) + _ONWARDS
        end = max(place(span.end), start + 1)
        return _BEFORE * start + _BAR * (end - start) + _BEFORE * (width - end)

    return list(map(draw, spans))
