"""Reads of the present whose answer depends on the state of a graph: it is kept for that state (`Reads`).

What holds at one moment holds at every later one, until the next write, or something begins or ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.temporal import Instant
from substrate.connection.kept_reads import GraphState
from substrate.connection.pool import Row
from substrate.cypher.fragments import SEEN
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.boundaries import holds_still

ROW_BYTES: Final = 700
_MARK: Final = "seen"


def state_query(name: str, body: str, columns: Sequence[str]) -> Query:
    """A query that first answers in which state the graph is. `body` binds what the `columns` are made of."""
    width = max(3, len(columns) + 1)
    return Query(
        name,
        f"{SEEN} {_row(width, f"'{_MARK}'", 'seen[0]', 'seen[1]')} UNION ALL {body} {_row(width, '0', *columns)}",
    )


def _row(width: int, *columns: str) -> str:
    filled = (*columns, *["null"] * (width - len(columns)))
    return "RETURN " + ", ".join(f"{column} AS c{place}" for place, column in enumerate(filled))


class _Kept[T](NamedTuple):
    """What was answered at a moment, for that moment and later ones."""

    at: Instant
    value: T


async def read_for_state[T](
    target: GraphTarget,
    key: Hashable,
    query: Query,
    values: Mapping[str, Any],
    *,
    make: Callable[[Sequence[Row]], T],
) -> T:
    """What is made of the rows of a query; `key` names the query and all of its `values` but moments.

    The same value answers others too: nobody may change it. Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    at = values["valid_from"]
    kept: _Kept[T] | None = None if target.past else target.reads.get(key)
    if kept is not None and await holds_still(target, kept.at, at):
        return kept.value
    rows, same = await _read(target, query, values)
    value = make(rows)
    if same:
        target.reads.keep(key, _Kept(at, value), ROW_BYTES * (1 + len(rows)))
    return value


async def read_each_for_state(
    target: GraphTarget, kind: str, query: Query, values: Mapping[str, Any], *, ids: Sequence[str]
) -> dict[str, Sequence[Row]]:
    """By id, the rows of a query on the memories `$ids`, whose first column is the id; it gets those not kept.

    `kind` names the query and all of its `values` but moments. Raises as `read_for_state`.
    """
    at = values["valid_from"]
    found: dict[str, Sequence[Row]] = {}
    for name in () if target.past else ids:
        kept: _Kept[Sequence[Row]] | None = target.reads.get((kind, name))
        if kept is not None and await holds_still(target, kept.at, at):
            found[name] = kept.value
    lacking = [name for name in dict.fromkeys(ids) if name not in found]
    if not lacking:
        return found
    rows, same = await _read(target, query, {**values, "ids": lacking})
    by_id: dict[str, list[Row]] = {name: [] for name in lacking}
    for row in rows:
        by_id[row[0]].append(row)
    if same:
        for name, own in by_id.items():
            target.reads.keep((kind, name), _Kept(at, own), ROW_BYTES * (1 + len(own)))
    return {**found, **by_id}


async def _read(target: GraphTarget, query: Query, values: Mapping[str, Any]) -> tuple[list[Row], bool]:
    """The rows, and whether they answer all who find the graph in this state."""
    rows = await target.graph.read(query, **values)
    seen = GraphState.from_values({row[1]: row[2] for row in rows if row[0] == _MARK})
    is_same = not target.past and seen is not None and seen == target.reads.state
    return [row[1:] for row in rows if row[0] != _MARK], is_same
