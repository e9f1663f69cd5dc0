"""The records of a citizen's state: which ones a change closes and opens, and how to find one among a million.

Every stream with feedback opens a record, so there may be very many. The current record, last in valid time, is
the only `CitizenState` node of the graph; past records are `PastState` nodes. To find the past record of a moment
without reading all, each has the `cell` of one of its periods: of its transaction time if it was current until it
was closed, else of its valid time. A cell starts at a multiple of its width, which is a power of two and not less
than any period in it. So a period that contains a moment is in the cell around that moment, or in the one before,
for one of the widths: these few cells are read. Nothing else scans these two labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from schemas.errors import InvalidRequest
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period, Scope, to_datetime
from substrate.bitemporal import Record, visible
from substrate.connection.kept import ALL_READS
from substrate.connection.pool import Row
from substrate.cypher import fragments
from substrate.cypher.fragments import CLOCK, TELL_FEED, note_lately
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store import rows
from substrate.store.applied import event_of
from substrate.store.writer import note_of

type Content = Mapping[str, Any]
"""The fields of a state in stored form; a missing field was never set."""

MAX_CLOSED: Final = 500
"""One change may close at most this many records: each one opens another, and a commit stops every graph."""
_WIDTHS: Final = [1 << power for power in range(55)]
"""The widest cell holds a period from the beginning of time to its end."""

_TIMES: Final = ("version", "valid_at", "invalid_at", "created_at", "expired_at")
_CONTENT: Final = (
    "energy", "baseline", "feedback_at", "emotion_vector", "goal", "drives", "reality_pressure",
    "window", "focus", "senses", "last_cycle_at", "last_stream_id", "writers",
)  # fmt: skip
_COLUMNS: Final = (*_TIMES, *_CONTENT)
_RETURN: Final = f"RETURN {fragments.columns_of('s', _COLUMNS)}"

READ_STATE: Final = Query("read_state", f"MATCH (s:CitizenState) {_RETURN} LIMIT 1")

READ_STATE_THEN: Final = Query(
    "read_state_then",
    f"MATCH (s:CitizenState) WHERE {fragments.visible('s')} {_RETURN} "
    "UNION ALL "
    f"MATCH (s:PastState) WHERE s.cell IN $cells AND {fragments.visible('s')} {_RETURN}",
)
"""The record of one moment. `cells`: the cells in which a past record of that moment may be."""

STATES_BETWEEN: Final = Query(
    "states_between",
    "MATCH (s:PastState) WHERE s.valid_at > $after AND s.valid_at < $before AND s.expired_at = $open "
    f"{_RETURN} LIMIT $rows",
)
"""Open past records whose valid time begins between two moments."""

STATE_PAGE: Final = Query(
    "state_page",
    f"MATCH (s:PastState) WHERE s.version >= $first AND s.version < $beyond {_RETURN} "
    "UNION ALL "
    f"MATCH (s:CitizenState) WHERE s.version >= $first AND s.version < $beyond {_RETURN}",
)

_INTERNED: Final = ", ".join(f"{name}: intern(n.{name})" for name in fragments.REPEATED_STATE_TEXTS)

CHANGE_STATE: Final = Query(
    "change_state",
    f"{CLOCK} OPTIONAL MATCH (s:CitizenState) WITH m, at, s WHERE coalesce(s.version, 0) = $seen "
    "OPTIONAL MATCH (o:PastState) WHERE o.version IN $closing WITH m, at, s, collect(o) AS past "
    "FOREACH (k IN $kept | CREATE (n:PastState) "
    "SET n = coalesce(properties([x IN past + [s] WHERE x.version = k.of][0]), {}) "
    f"SET n += k.change SET n += {{created_at: at, {_INTERNED}}}) "
    "FOREACH (k IN $latest | CREATE (n:CitizenState) SET n = coalesce(properties(s), {}) "
    f"SET n += k SET n += {{created_at: at, {_INTERNED}}}) "
    "FOREACH (o IN past | SET o.expired_at = at) "
    "FOREACH (o IN CASE WHEN s IS NULL THEN [] ELSE [s] END | SET o.expired_at = at, "
    "o.cell = [w IN $widths WHERE w >= at - o.created_at | "
    "'known/' + toString(w) + '/' + toString(o.created_at / w)][0] "
    "REMOVE o:CitizenState SET o:PastState) "
    f"SET {note_lately('coalesce(m.clock, 0)', 'at')} SET m.clock = at {TELL_FEED} RETURN at",
)
"""Closes open records and opens others. `kept`: the new past records, each a copy of version `of` with a `change`.
Returns no row when the current record is not version `seen`: another writer was first."""


VERSIONS_AT_ONCE: Final = 5_000
"""Records of a state that one query looks through."""


def _showing(label: str) -> str:
    return (
        f"MATCH (s:{label}) WHERE s.version >= $first AND s.version < $beyond AND s.window IS NOT NULL "
        "AND any(one IN $ids WHERE s.window CONTAINS one) RETURN s.version, s.window"
    )


STATES_SHOWING: Final = Query("states_showing", f"{_showing('PastState')} UNION ALL {_showing('CitizenState')}")
"""Records whose window may show one of the ids `$ids`, which stand as they do in JSON."""

REPLACE_WINDOWS: Final = Query(
    "replace_windows",
    "UNWIND $windows AS w OPTIONAL MATCH (p:PastState) WHERE p.version = w[0] WITH w, p "
    "OPTIONAL MATCH (c:CitizenState) WHERE c.version = w[0] WITH w, coalesce(p, c) AS s WHERE s IS NOT NULL "
    "SET s.window = w[1]",
)


class OpenedState(NamedTuple):
    """A record that a change opens: a copy of version `of` (0: of nothing) with `change` applied."""

    of: int
    valid: Period
    change: Content


def plan_change(
    open_records: Sequence[Record], valid_at: Instant, changes_of: Mapping[int, Content]
) -> list[OpenedState]:
    """The records that a change from `valid_at` on opens; none when the fields have these values already. Pure.

    `changes_of`: by version of a record, its changed fields; of 0 those of the default state.
    `open_records`: those that hold at `valid_at` or later, by valid time, without gaps. Before the first of them
    the default state holds, which is not stored.
    """
    first_start = open_records[0].valid.start if open_records else END_OF_TIME
    contents: list[Content] = [record.content for record in open_records]
    versions = [record.version for record in open_records]
    periods = [Period(max(valid_at, record.valid.start), record.valid.end) for record in open_records]
    if valid_at < first_start:
        contents.insert(0, {})
        versions.insert(0, 0)
        periods.insert(0, Period(valid_at, first_start))
    changes = list(map(changes_of.__getitem__, versions))
    pairs = zip(contents, changes, strict=True)
    if all(content.get(name) == value for content, change in pairs for name, value in change.items()):
        return []
    opened = (
        [OpenedState(open_records[0].version, Period(first_start, valid_at), {})] if first_start < valid_at else []
    )
    return opened + list(map(OpenedState, versions, periods, changes))


def cells_at(scope: Scope) -> list[str]:
    """The cells in which a past record that holds at the moment of the scope may be."""
    cells: list[str] = []
    for axis, at in (("known", scope.known.start), ("valid", scope.valid.start)):
        for width in _WIDTHS:
            cells += [f"{axis}/{width}/{at // width}", f"{axis}/{width}/{at // width - 1}"]
    return cells


def cell_of(record: Record) -> str:
    """The cell of a past record: `axis/width/number`."""
    axis, period = ("known", record.known) if record.valid.end == END_OF_TIME else ("valid", record.valid)
    width = next(width for width in _WIDTHS if width >= period.end - period.start)
    return f"{axis}/{width}/{period.start // width}"


def record_of(properties: Mapping[str, Any]) -> Record:
    """A record from its stored properties. Raises KeyError, TypeError or ValueError for other properties."""
    times = [properties[name] for name in _TIMES]
    return _record([*times, *map(properties.get, _CONTENT)])


def with_versions(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The properties of a `CitizenState` with those of a record. Older graphs stored no history of states, only
    `updated_at`, the time of the last change."""
    if "version" in properties:
        return properties
    updated_at = properties["updated_at"]
    content = {name: value for name, value in properties.items() if name not in ("key", "updated_at")}
    return {**content, "version": 1, **rows.times(Period(updated_at), Period(updated_at))}


async def read_current(graph: Graph) -> Record | None:
    """Return the current record, last in valid time; None when no state was ever set."""
    records = await graph.read(READ_STATE)
    return _record(records[0]) if records else None


async def read_at(graph: Graph, scope: Scope) -> Record | None:
    """Return the record of one moment; None when no state was set for it."""
    current = await read_current(graph)
    if current is None or visible(current, scope):
        return current
    return await _read_past(graph, scope)


async def _read_past(graph: Graph, scope: Scope) -> Record | None:
    records = await graph.read(READ_STATE_THEN, **scope.bounds(), cells=cells_at(scope))
    return _record(records[0]) if records else None


async def read_open_from(graph: Graph, current: Record, valid_at: Instant) -> list[Record]:
    """The open records that hold at `valid_at` or later, by valid time. Raises InvalidRequest when there are more
    than `MAX_CLOSED` of them."""
    if current.valid.start <= valid_at:
        return [current]
    span = {"after": valid_at, "before": current.valid.start, "open": END_OF_TIME, "rows": MAX_CLOSED}
    between = await graph.read(STATES_BETWEEN, **span)
    if len(between) >= MAX_CLOSED:
        raise InvalidRequest(
            f"the state changed more than {MAX_CLOSED} times since {to_datetime(valid_at).isoformat()}",
            remedy="Give a later valid_at, or none: then the change holds from now on.",
        )
    first = await _read_past(graph, Scope.current(valid_at))
    later = sorted(map(_record, between), key=lambda record: record.valid.start)
    return [*([] if first is None else [first]), *later, current]


async def replace_records(
    graph: Graph, open_records: Sequence[Record], opened: Sequence[OpenedState], now: Instant
) -> Instant | None:
    """Close `open_records` and open the planned records, in one statement. Returns the transaction time; None when
    another writer was first and nothing was changed."""
    seen = open_records[-1].version if open_records else 0
    change = opened[-1].change
    kind = "feedback" if change.get("feedback_at") else "cycle" if "window" in change else "set"
    changes = [
        {"of": state.of, "change": {**state.change, **_marks(state.valid, version)}}
        for version, state in enumerate(opened, start=seen + 1)
    ]
    reply = await graph.write(
        CHANGE_STATE,
        at=now,
        seen=seen,
        closing=[record.version for record in open_records[:-1]],
        kept=changes[:-1],
        latest=[changes[-1]["change"]],
        widths=_WIDTHS,
        lately=note_of({ALL_READS}),
        told=event_of("state", now, version=seen + len(opened), type=kind),
    )
    return int(reply[0][0]) if reply else None


def _marks(valid: Period, version: int) -> dict[str, Any]:
    record = Record("state", version, valid, Period(BEGINNING_OF_TIME))
    return {
        "version": version,
        "valid_at": valid.start,
        "invalid_at": valid.end,
        "expired_at": END_OF_TIME,
        "cell": None if valid.end == END_OF_TIME else cell_of(record),
    }


async def read_versions(graph: Graph, first: int, beyond: int) -> list[Record]:
    """The records with versions in [`first`, `beyond`), by version."""
    records = await graph.read(STATE_PAGE, first=first, beyond=beyond)
    return sorted(map(_record, records), key=lambda record: record.version)


async def forget_shown(graph: Graph, ids: Sequence[str]) -> None:
    """Take these memories out of every window that was ever kept."""
    current = await read_current(graph)
    gone = set(ids)
    asked = [orjson.dumps(one).decode() for one in ids]
    for first in range(1, current.version + 1 if current else 1, VERSIONS_AT_ONCE):
        span = {"first": first, "beyond": first + VERSIONS_AT_ONCE}
        showing = await graph.read(STATES_SHOWING, **span, ids=asked)
        if showing:
            windows = []
            for version, window in showing:  # without items of these ids; null for an empty one
                items = [item for item in orjson.loads(window) if item.get("id") not in gone]
                windows.append([version, orjson.dumps(items).decode() if items else None])
            await graph.write(REPLACE_WINDOWS, windows=windows)


def _record(row: Row) -> Record:
    """The record from a row with the columns `_COLUMNS`."""
    properties = dict(zip(_COLUMNS, row, strict=True))
    content = {name: properties[name] for name in _CONTENT if properties[name] is not None}
    for name in ("energy", "baseline", "reality_pressure"):
        if name in content:
            content[name] = float(content[name])
    return Record(
        id="state",
        version=properties["version"],
        valid=Period(properties["valid_at"], properties["invalid_at"]),
        known=Period(properties["created_at"], properties["expired_at"]),
        content=content,
    )
