"""The records of a citizen's state: what each change closes and opens, and how the store finds one of very many.

Every stream that feeds back opens a record, so a citizen may have a million. The one carried is found by its
label. A past one bears the cell in which one of its two periods lies: for a record that was carried until it was
closed the period over which it was known, for any other the period over which it holds. A cell begins at a
multiple of its width, a power of two that no period in it exceeds, so what holds at a moment lies in the cell of
each width that has the moment, or in the one before. A question about the past looks into these few cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.errors import InvalidRequest
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period, Scope, to_datetime
from substrate.bitemporal import Record, visible
from substrate.connection.pool import Row
from substrate.cypher import citizen as cypher
from substrate.graphs.graph import Graph
from substrate.store import rows

type Content = Mapping[str, Any]
"""What a state says, as it is stored; what it lacks was never set."""

_TIMES: Final = 5
_WIDTHS: Final = [1 << power for power in range(55)]
"""The widest holds a period from the beginning of time to its end."""
CHANGED_AT_MOST: Final = 500
"""Records that one change may close: each opens another, and a commit stops every graph."""


class Opened(NamedTuple):
    """A record that a change opens: the content of version `of`, none where that is 0, with some `change`."""

    of: int
    valid: Period
    change: Content


def opened(held: Sequence[Record], valid_at: Instant, saying: Callable[[Content], Content]) -> list[Opened]:
    """What a change from `valid_at` on opens; nothing when all is so already. Pure.

    `saying` gives what is set, of the content that is held: each record of the time since changes by itself.
    `held`: the open records that hold at `valid_at` or later, in the order of their valid time, without a gap
    between them. Before the first record there is the default state, of which nothing is kept.
    """
    begun = held[0].valid.start if held else END_OF_TIME
    held_before: list[Content] = [one.content for one in held]
    found = [(one.version, Period(max(valid_at, one.valid.start), one.valid.end)) for one in held]
    if valid_at < begun:
        held_before.insert(0, {})
        found.insert(0, (0, Period(valid_at, begun)))
    changes = [saying(content) for content in held_before]
    if not any(map(_differs, held_before, changes)):
        return []
    kept = [Opened(held[0].version, Period(begun, valid_at), {})] if begun < valid_at else []
    return kept + [Opened(*one, change) for one, change in zip(found, changes, strict=True)]


def _differs(content: Content, change: Content) -> bool:
    return any(content.get(name) != value for name, value in change.items())


def cells_at(scope: Scope) -> list[str]:
    """Where a past record that holds at the moment of the scope can lie."""
    axes = (("known", scope.known.start), ("valid", scope.valid.start))
    return [f"{axis}/{w}/{at // w - back}" for axis, at in axes for w in _WIDTHS for back in (0, 1)]


def cell_of(record: Record) -> str:
    """Where a past record lies."""
    axis, period = ("known", record.known) if record.valid.end == END_OF_TIME else ("valid", record.valid)
    width = next(width for width in _WIDTHS if width >= period.end - period.start)
    return f"{axis}/{width}/{period.start // width}"


def record_of(properties: Mapping[str, Any]) -> Record:
    """A record by its stored properties. Raises KeyError, TypeError or ValueError for what is none."""
    times = [properties[name] for name in cypher.STATE_COLUMNS[:_TIMES]]
    return _record([*times, *(properties.get(name) for name in cypher.STATE_COLUMNS[_TIMES:])])


def as_record(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state that a citizen carries, as a record. Before there were any, it said only when it was set last."""
    if "version" in properties:
        return properties
    told = properties["updated_at"]
    kept = {name: value for name, value in properties.items() if name not in ("key", "updated_at")}
    return {**kept, "version": 1, **rows.times(Period(told), Period(told))}


async def carried(graph: Graph) -> Record | None:
    """The record that the citizen carries: the last in valid time. None when no state was ever set."""
    found = await graph.read(cypher.READ_STATE)
    return _record(found[0]) if found else None


async def held_at(graph: Graph, scope: Scope) -> Record | None:
    """The record of one moment; None when no state was set for it."""
    latest = await carried(graph)
    if latest is None or visible(latest, scope):
        return latest
    return await _then(graph, scope)


async def _then(graph: Graph, scope: Scope) -> Record | None:
    header = {**scope.bounds(), "cells": cells_at(scope)}
    found = await graph.read(cypher.READ_STATE_THEN, **header)
    return _record(found[0]) if found else None


async def held_from(graph: Graph, latest: Record, valid_at: Instant) -> list[Record]:
    """The open records that hold at `valid_at` or later, in the order of their valid time.

    Raises InvalidRequest when a change would close more than `CHANGED_AT_MOST` of them.
    """
    if latest.valid.start <= valid_at:
        return [latest]
    span = {"after": valid_at, "before": latest.valid.start, "open": END_OF_TIME, "rows": CHANGED_AT_MOST}
    between = await graph.read(cypher.STATES_BETWEEN, **span)
    if len(between) >= CHANGED_AT_MOST:
        raise InvalidRequest(
            f"the state changed more than {CHANGED_AT_MOST} times since {to_datetime(valid_at).isoformat()}",
            remedy="Name a later valid_at, or none: the change then holds from now on.",
        )
    first = await _then(graph, Scope.current(valid_at))
    later = sorted(map(_record, between), key=lambda record: record.valid.start)
    return [*([] if first is None else [first]), *later, latest]


async def change(graph: Graph, held: Sequence[Record], found: Sequence[Opened], now: Instant) -> Instant | None:
    """Close the records that were `held` and open those that were `found`, in one step.

    Returns the transaction time; None when another writer was first: then nothing was changed.
    """
    seen = held[-1].version if held else 0
    changes = [
        {"of": one.of, "change": {**one.change, **_marks(one.valid, version)}}
        for version, one in enumerate(found, start=seen + 1)
    ]
    values = {
        "at": now,
        "seen": seen,
        "closing": [record.version for record in held[:-1]],
        "kept": changes[:-1],
        "latest": [changes[-1]["change"]],
        "widths": _WIDTHS,
    }
    reply = await graph.write(cypher.CHANGE_STATE, **values)
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


async def page(graph: Graph, first: int, beyond: int) -> list[Record]:
    """The records from version `first` on and before `beyond`, in the order in which they became known."""
    header = {"first": first, "beyond": beyond}
    found = await graph.read(cypher.STATE_PAGE, **header)
    return sorted(map(_record, found), key=lambda record: record.version)


def _record(row: Row) -> Record:
    version, valid_at, invalid_at, created_at, expired_at = row[:_TIMES]
    content = {
        name: float(value) if name == "energy" else value
        for name, value in zip(cypher.STATE_COLUMNS[_TIMES:], row[_TIMES:], strict=True)
        if value is not None
    }
    return Record("state", version, Period(valid_at, invalid_at), Period(created_at, expired_at), content)
