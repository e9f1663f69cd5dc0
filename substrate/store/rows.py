"""Rows ↔ models. Pure.

The engine answers with integers, None and text; each column's reading is fixed here by its name. A model shows
what was known: `known_to` is where the known side of the question ends, and a record that was closed later is
shown as it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import repeat
from typing import Any, NamedTuple

import orjson

from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    Level,
    LinkRecord,
    MemoryRecord,
    ResolutionState,
    Source,
)
from schemas.temporal import AFTER_ALL, END_OF_TIME, Instant, Period, open_end, to_datetime
from substrate import stored_maps
from substrate.bitemporal import Record
from substrate.cypher.fragments import LINK_COLUMNS, NODE_COLUMNS, PROVENANCE

type _Readers = Sequence[tuple[str, Callable[[Any], Any]]]


class LinkName(NamedTuple):
    """How a link is found: by its ends, when these gave it its id, else by the handle of an id of its own."""

    id: str
    ends: tuple[str, str] | None
    handle: int | None


class Kept(NamedTuple):
    """What is kept of a command (`RECEIPT_COLUMNS`)."""

    command_id: str
    fingerprint: int | None
    command: str
    id: str | None
    version: int | None
    valid_at: int | None
    invalid_at: int | None
    created_at: int
    warnings: str | None
    recognised: int | None = None

    @classmethod
    def of(cls, row: Sequence[Any]) -> Kept | None:
        """The receipt of a row; None when there was none."""
        return None if row[0] is None else cls(*row)


TIMES = ("valid_at", "invalid_at", "created_at", "expired_at")
_NUMBERS = frozenset(
    ("energy", "confidence", "discovery_energy", "importance", "intensity", "energy_transfer_coefficient")
)
_LISTS = frozenset(("tags", "buckets", "aliases"))
_JSON = _LISTS | frozenset(("emotion_vector", *stored_maps.COLUMNS))


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _list(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text))


_READERS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_NUMBERS, float),
    **dict.fromkeys(_JSON, orjson.loads),
    **dict.fromkeys(_LISTS, _list),
    **dict.fromkeys(stored_maps.COLUMNS, stored_maps.read),
    "unset": _names,
    **dict.fromkeys(("source", "closed_source"), {source.value: source for source in Source}.__getitem__),
    "resolution_state": {state.value: state for state in ResolutionState}.__getitem__,
    "valid_at": to_datetime,
    "created_at": to_datetime,
    "invalid_at": open_end,
    "expired_at": open_end,
}
"""How a column is read; all others come as they are shown."""
_NODE_FIELDS = tuple("node_id" if column == "id" else column for column in NODE_COLUMNS)
_LINK_FIELDS = tuple("link_id" if column == "id" else column for column in LINK_COLUMNS)
_NODE_READERS = tuple((column, _READERS[column]) for column in NODE_COLUMNS if column in _READERS)
_LINK_READERS = tuple((column, _READERS[column]) for column in LINK_COLUMNS if column in _READERS)
_PROVENANCE_READERS = tuple((column, _READERS[column]) for column in PROVENANCE if column in _READERS)
NODE_PLACE = {column: place for place, column in enumerate(NODE_COLUMNS)}
LINK_PLACE = {column: place for place, column in enumerate(LINK_COLUMNS)}


_CLOSING = frozenset(("closed_reason", "closed_by", "closed_source", "closed_key"))
"""What a record says beside `expired_at` once it is closed."""


def _fields(row: Sequence[Any], names: Sequence[str], readers: _Readers, known_to: Instant) -> dict[str, Any]:
    fields = {name: value for name, value in zip(names, row, strict=False) if value is not None}
    if fields.get("expired_at", END_OF_TIME) >= known_to:
        fields = {name: value for name, value in fields.items() if name not in _CLOSING}
        fields["expired_at"] = END_OF_TIME
    unreadable = [name for name, read in readers if name in fields and not _read_into(fields, name, read)]
    if unreadable:
        fields["unreadable"] = tuple(unreadable)
    if "closed_reason" in fields:
        fields.setdefault("invalidation_reason", fields["closed_reason"])
    return fields


def _read_into(fields: dict[str, Any], name: str, read: Callable[[Any], Any]) -> bool:
    """Put the value in the place of what is stored; of JSON that cannot be shown nothing, and False."""
    try:
        fields[name] = read(fields[name])
    except (ValueError, TypeError):
        if name not in _JSON:
            raise
        del fields[name]
        return False
    return True


def node(row: Sequence[Any], level: Level, known_to: Instant = AFTER_ALL, **retrieval: Any) -> ConsciousnessNode:
    """The memory of a row in the order of `NODE_COLUMNS`; `retrieval` sets the retrieval fields."""
    fields = _fields(row, _NODE_FIELDS, _NODE_READERS, known_to)
    return ConsciousnessNode.unchecked({**fields, "level": level, **retrieval})


def link(
    row: Sequence[Any], ends: tuple[str, str], level: Level, known_to: Instant = AFTER_ALL
) -> ConsciousnessRelationship:
    """The link of a row in the order of `LINK_COLUMNS`, between the two ends."""
    fields = _fields(row, _LINK_FIELDS, _LINK_READERS, known_to)
    fields.update(source_id=ends[0], target_id=ends[1], level=level)
    return ConsciousnessRelationship.unchecked(fields)


def link_with_ends(row: Sequence[Any], level: Level, known_to: Instant = AFTER_ALL) -> ConsciousnessRelationship:
    """The link of a row: the ids of its ends, then `LINK_COLUMNS`; what follows these is not shown."""
    return link(row[2:], (row[0], row[1]), level, known_to)


def nodes(
    rows: Sequence[Sequence[Any]], retrieval: Mapping[str, Iterable[Any]], known_to: Instant = AFTER_ALL
) -> list[ConsciousnessNode]:
    """The memories of many rows; `retrieval` has the columns of the level and of the retrieval fields."""
    columns = _columns(rows, _NODE_FIELDS, ConsciousnessNode.defaults(), known_to)
    return ConsciousnessNode.from_columns(len(rows), {**columns, **retrieval})


def links(
    rows: Sequence[Sequence[Any]], ends: Mapping[str, Iterable[Any]], known_to: Instant = AFTER_ALL
) -> list[ConsciousnessRelationship]:
    """The links of many rows; `ends` has the columns of the level and of the ids of both ends."""
    columns = _columns(rows, _LINK_FIELDS, ConsciousnessRelationship.defaults(), known_to)
    return ConsciousnessRelationship.from_columns(len(rows), {**columns, **ends})


def _columns(
    rows: Sequence[Sequence[Any]], names: Sequence[str], defaults: Mapping[str, Any], known_to: Instant
) -> dict[str, Iterable[Any]]:
    """The columns of the rows, read; one without any value is left out, where one lacks it has the default."""
    columns: dict[str, Iterable[Any]] = {}
    unreadable: dict[int, tuple[str, ...]] = {}
    for name, column in _as_known(dict(zip(names, zip(*rows, strict=True), strict=False)), known_to).items():
        lacking, read = column.count(None), _READERS.get(name)
        if lacking == len(rows):
            continue
        known = column if read is None else _values(name, column, read, unreadable)
        default = defaults[name]
        fill = default is not None and (lacking or unreadable)
        columns[name] = [default if value is None else value for value in known] if fill else known
    if unreadable:
        columns["unreadable"] = [unreadable.get(place, ()) for place in range(len(rows))]
    if "closed_reason" in columns:
        given, closed = columns.get("invalidation_reason", repeat(None)), columns["closed_reason"]
        columns["invalidation_reason"] = [one or other for one, other in zip(given, closed, strict=False)]
    return columns


def _values(
    name: str, column: Sequence[Any], read: Callable[[Any], Any], unreadable: dict[int, tuple[str, ...]]
) -> list[Any]:
    """The values of a column; None, and a name in `unreadable`, for JSON that cannot be shown."""
    try:
        return [value if value is None else read(value) for value in column]
    except (ValueError, TypeError):
        if name not in _JSON:
            raise
    fields = [{} if value is None else {name: value} for value in column]
    for place, one in enumerate(fields):
        if one and not _read_into(one, name, read):
            unreadable[place] = (*unreadable.get(place, ()), name)
    return [one.get(name) for one in fields]


def _as_known(columns: dict[str, tuple[Any, ...]], known_to: Instant) -> dict[str, tuple[Any, ...]]:
    """The raw columns without what was closed later."""
    ends = columns.get("expired_at", ())
    later = [end is not None and end >= known_to for end in ends]
    if not any(later):
        return columns
    shown = {"expired_at": tuple(END_OF_TIME if hidden else end for end, hidden in zip(ends, later, strict=True))}
    for name in _CLOSING & columns.keys():
        shown[name] = tuple(None if hidden else one for one, hidden in zip(columns[name], later, strict=True))
    return {**columns, **shown}


def memory_record(row: Sequence[Any], level: Level, known_to: Instant = AFTER_ALL) -> MemoryRecord:
    """The record of a row in the order of `NODE_COLUMNS`, then `PROVENANCE`."""
    fields = _fields(row, (*_NODE_FIELDS, *PROVENANCE), (*_NODE_READERS, *_PROVENANCE_READERS), known_to)
    return MemoryRecord.unchecked({**fields, "level": level})


def link_record(row: Sequence[Any], level: Level, known_to: Instant = AFTER_ALL) -> LinkRecord:
    """The record of a row: the ids of its ends, then `LINK_COLUMNS`, then `PROVENANCE`."""
    names, readers = (*_LINK_FIELDS, *PROVENANCE), (*_LINK_READERS, *_PROVENANCE_READERS)
    fields = _fields(row[2:], names, readers, known_to)
    return LinkRecord.unchecked({**fields, "source_id": row[0], "target_id": row[1], "level": level})


_NOT_CONTENT = frozenset((*TIMES, "id", "version", "invalidation_reason", "closed_reason"))
LINK_CONTENT = tuple(column for column in LINK_COLUMNS if column not in _NOT_CONTENT)


def record(row: Sequence[Any]) -> Record:
    """The row of a memory, `NODE_COLUMNS` and `PROVENANCE`, as a bitemporal record; its content as stored."""
    return _record(dict(zip((*NODE_COLUMNS, *PROVENANCE), row, strict=False)), NODE_COLUMNS)


def record_of_link(row: Sequence[Any]) -> Record:
    """The same for the row of a link, without the ids of its ends."""
    return _record(dict(zip((*LINK_COLUMNS, *PROVENANCE), row, strict=False)), LINK_COLUMNS)


def _record(by_name: Mapping[str, Any], columns: Sequence[str]) -> Record:
    content = {
        column: float(value) if column in _NUMBERS else value
        for column in columns
        if column not in _NOT_CONTENT and (value := by_name[column]) is not None
    }
    return Record(
        id=by_name["id"],
        version=by_name["version"] or 1,
        valid=Period(by_name["valid_at"], by_name["invalid_at"]),
        known=Period(by_name["created_at"], by_name["expired_at"]),
        content=content,
        reason=by_name["invalidation_reason"],
        closed_reason=by_name["closed_reason"],
        command_id=by_name.get("command_id"),
        closed_by=by_name.get("closed_by"),
        closed_source=None if (by := by_name.get("closed_source")) is None else Source(by),
        key_id=by_name.get("key_id"),
        closed_key=by_name.get("closed_key"),
    )


def times(valid: Period, known: Period) -> dict[str, int]:
    """The four time properties of a record."""
    return {
        "valid_at": valid.start,
        "invalid_at": valid.end,
        "created_at": known.start,
        "expired_at": known.end,
    }


def json_text(value: Any) -> str | None:
    """Stored form of a list or map; None for an empty one."""
    return orjson.dumps(value).decode() if value else None


def stored(fields: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """A property map for a write: every column, JSON columns as text, absent ones as None."""
    return {c: json_text(fields.get(c)) if c in _JSON else _plain(fields.get(c)) for c in columns}


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, StrEnum) else value
