"""Reads the commands that were applied to a graph, in their order, from the receipts that they left.

A receipt is written by the statement that changes the graph, at its transaction time, which rises with every
statement. So there is nothing beside the graph that could miss a change, or keep what was erased.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from schemas.temporal import Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

LAST_ID: Final = "\U0010ffff"
"""Stands behind every id."""
LOOKED_AT: Final = 1000
"""So many receipts are read at once: what begins a page of the greatest size is among them, unless the engine
finds them in another order than they were written."""

FEED_STATE: Final = Query(
    "feed_state",
    "MATCH (m:SubstrateMeta {key: 'stamp'}) "
    "RETURN coalesce(m.epoch, m.created_at, 0), coalesce(m.clock, 0), coalesce(m.erased_at, 0), "
    "coalesce(m.events, 0)",
)

EVENTS: Final = 2**20
"""The first event stands behind so many commands of one list, and so behind all of its moment."""
_COLUMNS: Final = "c.command_id, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.type, c.of, c.told_at"
APPLIED: Final = Query(
    "applied",
    "MATCH (c:Receipt) WHERE c.created_at >= $since AND c.created_at <= $until AND c.moved_at IS NULL "
    "AND c.repeats IS NULL AND c.command <> 'place' "
    f"WITH c LIMIT $rows RETURN c.created_at AS at, coalesce(c.nth, 0) AS nth, {_COLUMNS}, 1 AS part "
    "UNION ALL MATCH (c:Receipt) WHERE c.moved_at >= $since AND c.moved_at <= $until "
    f"WITH c LIMIT $rows RETURN c.moved_at AS at, 0 AS nth, {_COLUMNS}, coalesce(c.parts, 1) AS part "
    "UNION ALL MATCH (c:Event) WHERE c.created_at >= $since AND c.created_at <= $until "
    f"WITH c LIMIT $rows RETURN c.created_at AS at, {EVENTS} + c.nth AS nth, {_COLUMNS}, 1 AS part",
)
"""Receipts of what was applied, and events, in no order. Left out is what only repeated, and changed nothing."""

CHANGED: Final = Query(
    "changed_records",
    "UNWIND $wanted AS w MATCH (i:ConsciousnessNode {id: w.id}) "
    "WITH w, i, CASE WHEN i.version = w.version THEN null ELSE i END AS former "
    "OPTIONAL MATCH (former)-[:HAD]->(p:PastVersion) WHERE p.version = w.version "
    "WITH w, CASE WHEN p IS NULL THEN i ELSE p END AS n "
    "RETURN n.id, w.version, n.node_type, n.name, n.source, n.author, n.closed_by, n.closed_source",
)
"""What a change tells of its memory, in the version that it names."""


class FeedState(NamedTuple):
    """Which past the graph has, its last transaction, when something was erased last, how many events it has."""

    epoch: int
    clock: Instant
    erased_at: Instant
    events: int

    @property
    def end(self) -> Place:
        """The place of what comes next."""
        return Place(self.clock, EVENTS + self.events, LAST_ID)


class Place(NamedTuple):
    """The place of a command in the order of its graph. `nth` counts within a list that was applied as one."""

    at: Instant = 0
    nth: int = 0
    command_id: str = ""


class Applied(NamedTuple):
    """A command that was applied, or an event, which is told at `told_at`. `of`: what else it names."""

    place: Place
    command: str
    id: str | None
    version: int | None
    valid_at: Instant | None
    invalid_at: Instant | None
    type: str | None
    of: str | None
    told_at: Instant | None
    part: int


class ChangedRecord(NamedTuple):
    """What a record says of itself: of a memory, or of a link, whose type stands in `type`."""

    is_link: bool
    type: str
    name: str | None
    source: str | None
    author: str | None
    closed_by: str | None
    closed_source: str | None


async def read_state(graph: Graph) -> FeedState | None:
    """None for a graph that is gone."""
    rows = await graph.read_existing(FEED_STATE)
    return FeedState(*map(int, rows[0])) if rows else None


async def read_applied(graph: Graph, after: Place, until: Instant, limit: int) -> tuple[list[Applied], bool]:
    """At most `limit` commands after a place, up to the moment `until`, and whether there are more."""
    most = LOOKED_AT
    while True:
        rows = await graph.read(APPLIED, since=after.at, until=until, rows=most)
        found = sorted(filter(lambda one: one.place > after, map(_applied, rows)), key=lambda one: one.place)
        if len(rows) < most:
            return found[:limit], len(found) > limit
        # Not all were read, so any may be missing: those that are wanted lie before this one, or at its moment.
        bound = found[limit].place.at if len(found) > limit else until
        until, most = bound, most if bound < until else 2 * most


def _applied(row: Any) -> Applied:
    at, nth, command_id, *rest = row
    return Applied(Place(int(at), int(nth), command_id or f"event-{int(nth) - EVENTS}"), *rest)


def event_of(command: str, at: Instant, **values: Any) -> list[dict[str, Any]]:
    """The value of `$told` in a statement that tells of one event: what it is, when, and what it names.

    `id`, `version` and `of` may name memories, which an erasure takes out; texts have no place in it.
    """
    return [{"command": command, "told_at": at, "left": 0, **values}]


async def read_changed(graph: Graph, named: Iterable[tuple[str, int]]) -> dict[tuple[str, int], ChangedRecord]:
    """What the memories among these ids and versions say of themselves; nothing of what was erased."""
    wanted = [{"id": record_id, "version": version} for record_id, version in named]
    rows = await graph.read(CHANGED, wanted=wanted) if wanted else []
    return {(memory_id, version): ChangedRecord(False, *told) for memory_id, version, *told in rows}
