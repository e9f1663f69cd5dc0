"""`substrate history`: every record of one memory or link as bars on both time axes, who changed it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final, NamedTuple

import orjson
from rich.table import Table
from rich.text import Text

from api.cli import formatting, options, support
from api.cli.program import option
from orchestration.dependencies import Deps
from orchestration.identifiers import is_judgement, link_name
from schemas.collectives import GraphRequest
from schemas.errors import NotFound
from schemas.memory import LinkRecord, MemoryRecord
from substrate.graphs.names import graph_name
from substrate.store import reader, rows
from substrate.store.runs import name_runs

TEXT_SHOWN: Final = 400
BAR_WIDTH: Final = 19
"""The width of the times printed below the bar."""
_NOT_COMPARED: Final = frozenset({
    "valid_at", "invalid_at", "created_at", "expired_at", "version", "description", "invalidation_reason",
    "closed_reason", "command_id", "closed_by", "closed_source", "key_id", "closed_key",
})  # fmt: skip
_BAR, _ONWARDS, _BEFORE = "━", "▶", "·"

type _Record = MemoryRecord | LinkRecord


class HistoryCommand(options.OfRecord, name="history"):
    """Show every record of one memory or link, as bars on both time axes."""

    as_json: bool = option("--json", "Print the records as JSON.", False)

    def run(self) -> None:
        choice = self.request(GraphRequest)
        records = self.answer(_read_records, choice, self.id, is_link=self.is_link, of=choice)
        if self.as_json:
            support.write_json(orjson.dumps([record.model_dump(mode="json") for record in records]).decode())
        else:
            _show(records, support.output())


async def _read_records(choice: GraphRequest, identity: str, deps: Deps, *, is_link: bool) -> Sequence[_Record]:
    store = deps.graph(graph_name(choice.graph_key, choice.citizen_id))
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


def _show(records: Sequence[_Record], page: support.Sheet) -> None:
    last = records[-1]
    if isinstance(last, LinkRecord):
        identity, title = last.link_id, f"{last.source_id} {last.relation_type} {last.target_id}"
    else:
        identity, title = last.node_id, formatting.choose_title(last)
    count = f"{len(records)} record{'s' if len(records) > 1 else ''}"
    page.fold(Text.assemble((formatting.to_line(title), "bold"), f" · {identity} · {last.graph_key} · {count}"))
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
    page.print(table)
    page.fold("Times are UTC; – is an open end. Grey records are no longer believed.", "bright_black")


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
    old, new = {} if before is None else before.model_dump(mode="json"), record.model_dump(mode="json")
    changes = [
        f"{name.replace('_', ' ')}: {_value(old[name])} → {_value(new[name])}"
        for name in new
        if before is not None and name not in _NOT_COMPARED and old[name] != new[name]
    ]
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
    opened = _tell_origin("from", record.source, record.author, record.command_id, record.key_id, record.run)
    closed = (record.closed_source, record.closed_by, None, record.closed_key, record.closed_run)
    description.append(opened + _tell_origin("closed by", *closed), "bright_black")
    return description


def _tell_origin(label: str, source: str | None, *by: str | None) -> str:
    """One line with the source, author, command, key and run that are known; nothing when none is."""
    author, command, key, run = by
    named = (source, author, command, key and f"key {key}", run and f"upkeep {run}")
    known = list(map(formatting.to_line, filter(None, named)))
    return f"\n{label} {' · '.join(known)}" if known else ""


def _value(value: object) -> str:
    if isinstance(value, dict):
        are_emotions = all(isinstance(each, float) for each in value.values())
        return formatting.format_emotions(value, most=5) if are_emotions else "…"
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
