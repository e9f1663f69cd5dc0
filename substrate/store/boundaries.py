"""When what holds in a graph changes next by itself: the next moment at which a valid time begins or ends."""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.errors import Fault, StoreTimeout
from schemas.temporal import END_OF_TIME, Instant
from substrate.connection.parameters import parameters
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget

DEADLINE_MS: Final = 120
"""It looks at every record of the graph: where that takes longer, the graph does not say."""
_KEPT_BYTES: Final = 100
_STRETCHES: Final = 8
"""What was read at several moments is asked for together, so the stretches of the last ones are kept."""


def _next_of(pattern: str) -> str:
    return (
        f"MATCH {pattern} WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) "
        "AND x.invalid_at > $after AND x.expired_at = $open "
        "RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at"
    )


_RECORDS: Final = ("(x:ConsciousnessNode)", "(x:PastVersion)", "()-[x:LINK]->()", "()-[x:PAST_LINK]->()")
NEXT_CHANGE: Final = Query(
    "next_change", f"CALL {{ {' UNION ALL '.join(map(_next_of, _RECORDS))} }} RETURN min(at)"
)
"""The next moment after `$after`; null without one. The sum hides the column from its index.
What few have is asked first."""


class _Stretch(NamedTuple):
    """From `after` until `until` nothing changes by itself; None where the graph did not say."""

    after: Instant
    until: Instant | None

    def contains(self, moment: Instant) -> bool:
        return self.until is None or self.after <= moment < self.until


async def read_next_change(target: GraphTarget, after: Instant) -> Instant | None:
    """The next moment after `after` at which a record begins or ends to hold; END_OF_TIME where none does.

    Most graphs say that nothing is scheduled; else it is looked up, and kept for the state in which the question
    found the graph. None where the graph does not say in time. Raises Unavailable.
    """
    state, until = target.reads.state, target.changes_until
    if state is not None and until is not None and max(until, state.clock) <= after:
        return END_OF_TIME  # what the graph does not schedule began by its clock
    kept: tuple[_Stretch, ...] = target.reads.get(NEXT_CHANGE.name) or ()
    stretch = next((each for each in kept if each.contains(after)), None)
    if stretch is None:
        stretch = _Stretch(after, await _read(target, after))
        target.reads.keep(NEXT_CHANGE.name, (stretch, *kept[: _STRETCHES - 1]), _STRETCHES * _KEPT_BYTES)
    return stretch.until


async def holds_still(target: GraphTarget, since: Instant, at: Instant) -> bool:
    """Whether what held in the graph at `since` holds at `at` as well: nothing begins or ends between them.

    Raises Unavailable.
    """
    if since == at:
        return True
    until = await read_next_change(target, since) if since < at else None
    return until is not None and at < until


async def _read(target: GraphTarget, after: Instant) -> Instant | None:
    graph = target.graph
    header = parameters({"after": after, "open": END_OF_TIME})
    try:
        rows = await graph.connection.read(graph.name, NEXT_CHANGE, header, DEADLINE_MS)
    except (StoreTimeout, Fault):
        return None
    return END_OF_TIME if rows[0][0] is None else int(rows[0][0])
