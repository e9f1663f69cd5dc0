"""Reads of the present whose answer depends on the state of a graph: it is kept for that state (`Reads`).

What holds at one moment holds at every later one, until the next write, or something begins or ends by itself:
the next moment at which a valid time begins or ends. Where the newest memories are is read so: internal ids grow
in the order of writing, and a search in a range of them does the same work however large the graph is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from schemas.errors import Fault, StoreTimeout
from schemas.temporal import END_OF_TIME, Instant, Scope
from substrate.connection.kept import GraphState
from substrate.connection.parameters import parameters
from substrate.connection.pool import Row
from substrate.cypher.fragments import SEEN
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget

if TYPE_CHECKING:
    from schemas.intention import Filters

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


class _MomentAnswer[T](NamedTuple):
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
    """What is made of the rows of a query; `key` names the query and all of its `values` but moments. The same
    value answers others too: nobody may change it. Raises GraphMissing, StoreTimeout, Unavailable, Fault."""
    at = values["valid_from"]
    kept: _MomentAnswer[T] | None = None if target.past else target.reads.get(key)
    if kept is not None and await holds_still(target, kept.at, at):
        return kept.value
    rows, same = await _read(target, query, values)
    value = make(rows)
    if same:
        target.reads.keep(key, _MomentAnswer(at, value), ROW_BYTES * (1 + len(rows)))
    return value


async def read_each_for_state(
    target: GraphTarget, kind: str, query: Query, values: Mapping[str, Any], *, ids: Sequence[str]
) -> dict[str, Sequence[Row]]:
    """By id, the rows of a query on the memories `$ids`, whose first column is the id; it gets those not kept.
    `kind` names the query and all of its `values` but moments. Raises as `read_for_state`."""
    at = values["valid_from"]
    found: dict[str, Sequence[Row]] = {}
    for name in () if target.past else ids:
        kept: _MomentAnswer[Sequence[Row]] | None = target.reads.get((kind, name))
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
            target.reads.keep((kind, name), _MomentAnswer(at, own), ROW_BYTES * (1 + len(own)))
    return {**found, **by_id}


async def _read(target: GraphTarget, query: Query, values: Mapping[str, Any]) -> tuple[list[Row], bool]:
    """The rows, and whether they answer all who find the graph in this state."""
    rows = await target.graph.read(query, **values)
    seen = GraphState.from_values({row[1]: row[2] for row in rows if row[0] == _MARK})
    is_same = not target.past and seen is not None and seen == target.reads.state
    return [row[1:] for row in rows if row[0] != _MARK], is_same


DEADLINE_MS: Final = 120
"""It looks at every record of the graph: where that takes longer, the graph does not say."""
_STRETCH_BYTES: Final = 100
_STRETCHES: Final = 8
"""What was read at several moments is asked for together, so the stretches of the last ones are kept."""


def _next_of(pattern: str) -> str:
    return (
        f"MATCH {pattern} WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) "
        "AND x.invalid_at > $after AND x.expired_at = $open "
        "RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at"
    )


_ALL_RECORDS: Final = ("(x:ConsciousnessNode)", "(x:PastVersion)", "()-[x:LINK]->()", "()-[x:PAST_LINK]->()")
NEXT_CHANGE: Final = Query(
    "next_change", f"CALL {{ {' UNION ALL '.join(map(_next_of, _ALL_RECORDS))} }} RETURN min(at)"
)
"""The next moment after `$after`; null without one. The sum hides the column from its index.
What few have is asked first."""


class _Stretch(NamedTuple):
    """From `after` until `until` nothing changes by itself; None where the graph did not say."""

    after: Instant
    until: Instant | None

    def contains(self, moment: Instant) -> bool:
        return self.until is None or self.after <= moment < self.until


async def read_next_change(target: GraphTarget, since: Instant) -> Instant | None:
    """The next moment after `since` at which a record begins or ends to hold; END_OF_TIME where none does. Most
    graphs say that nothing is scheduled; else it is looked up, and kept for the state in which the question found
    the graph. None where the graph does not say in time. Raises Unavailable."""
    state, until = target.reads.state, target.changes_until
    if state is not None and until is not None and max(until, state.clock) <= since:
        return END_OF_TIME  # what the graph does not schedule began by its clock
    kept: tuple[_Stretch, ...] = target.reads.get(NEXT_CHANGE.name) or ()
    stretch = next((each for each in kept if each.contains(since)), None)
    if stretch is None:
        header = parameters({"after": since, "open": END_OF_TIME})
        until = None
        with suppress(StoreTimeout, Fault):
            [[found]] = await target.graph.connection.read(target.graph.name, NEXT_CHANGE, header, DEADLINE_MS)
            until = END_OF_TIME if found is None else int(found)
        stretch = _Stretch(since, until)
        target.reads.keep(NEXT_CHANGE.name, (stretch, *kept[: _STRETCHES - 1]), _STRETCHES * _STRETCH_BYTES)
    return stretch.until


async def holds_still(target: GraphTarget, since: Instant, at: Instant) -> bool:
    """Whether what held in the graph at `since` holds at `at` as well: nothing begins or ends between them. Raises
    Unavailable."""
    if since == at:
        return True
    until = await read_next_change(target, since) if since < at else None
    return until is not None and at < until


NEWEST: Final = 5000
"""This many of the last nodes of a graph are searched for its newest memories."""
ENOUGH_MEMORIES: Final = 1000
"""If fewer of these nodes are memories, the search begins earlier: re-embedding adds many nodes at the end."""
PROBES: Final = 64

_PLACES: Final = (
    "CALL db.meta.stats() YIELD nodeCount UNWIND [1, 4, 16, 64, 256] AS wide "
    f"WITH nodeCount - {NEWEST} * wide AS first CALL {{ WITH first "
    f"MATCH (n:ConsciousnessNode) WHERE id(n) >= first WITH n LIMIT {ENOUGH_MEMORIES} RETURN count(n) AS held }} "
)

PLACES_NOW: Final = state_query("places_now", _PLACES, ("first", "held"))
"""Node numbers near the end of the graph, each with the number of memories after it, at most `ENOUGH_MEMORIES`."""

PLACE_THEN: Final = Query(
    "place_then",
    f"CALL db.meta.stats() YIELD nodeCount UNWIND range(0, {PROBES - 1}) AS step CALL {{ WITH step, nodeCount "
    f"MATCH (n:ConsciousnessNode) WHERE id(n) >= step * nodeCount / {PROBES} WITH n LIMIT 1 "
    "RETURN CASE WHEN n.valid_at < $valid_to AND n.created_at < $known_to THEN 1 ELSE null END AS held } "
    "RETURN nodeCount, count(step), count(held)",
)
"""The number of nodes, of probes, and of probes that hit a memory which held and was known by the end of the
scope."""


class NodeRange(NamedTuple):
    """A range of internal ids, `[start, end)`; ids grow in the order in which nodes are created."""

    start: int
    end: int = 2**53


def _newest_now(rows: Sequence[Row]) -> NodeRange:
    places = {int(first): int(held) for first, held, *_ in rows}
    enough = [first for first, held in places.items() if held >= ENOUGH_MEMORIES]
    return NodeRange(max(enough, default=min(places)))


async def find_newest(target: GraphTarget, scope: Scope, filters: Filters | None = None) -> NodeRange:
    """The node numbers of the newest memories, now or around the end of the graph at another moment; of all
    memories with filters, of which the newest that pass are sought.

    That end is estimated from the share of probes that held then: a search for the last node that held would be
    wrong, because old memories may be stored late. Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    if filters is not None and not filters.empty:
        return NodeRange(0)
    graph = target.graph
    if scope.is_present and not target.past:
        return await read_for_state(target, "places", PLACES_NOW, scope.bounds(), make=_newest_now)
    rows = await graph.read(PLACE_THEN, **scope.bounds())
    size, probes, held_probes = rows[0] if rows else (0, 0, 0)
    if held_probes == probes:
        return NodeRange(size - NEWEST)
    end = size * held_probes // probes
    return NodeRange(end - NEWEST, end + NEWEST)
