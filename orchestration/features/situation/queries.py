"""Reads what is newest in a graph, and what changed in it since a moment of transaction time.

Both search among the newest nodes alone: a closed record gets a new node, or its command a receipt, as a new
memory does. So they do the same work however large the graph is, and what lies behind some thousand later nodes is
not found.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.temporal import Instant, Scope
from substrate.cypher.fragments import is_told, visible
from substrate.cypher.query import QueryPair
from substrate.graphs.graph import GraphTarget
from substrate.store.state_reads import find_newest

MOST_NEWEST: Final = 40
MOST_CHANGED: Final = 100
"""At most this many of each kind are read, the latest."""
READ: Final = 1000
"""This many characters of a text are read."""

_IN_RANGE: Final = "WHERE id({0}) >= $newest AND id({0}) < $until WITH {0} WHERE "
_SAYS: Final = f"coalesce(left({{0}}.description, {READ}), '')"


def _newest(label: str) -> str:
    return (
        f"MATCH (n:{label}) {_IN_RANGE.format('n')}{visible('n')} AND {is_told('n')} AND n.description <> '' "
        "AND coalesce(n.version, 1) = 1 "
        f"WITH n ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC LIMIT {MOST_NEWEST} "
        f"RETURN n.id AS id, n.speaker AS speaker, {_SAYS.format('n')} AS text, n.valid_at AS held, "
        "n.created_at AS known "
    )


TOLD_LAST: Final = QueryPair.of(
    "newest_told",
    _newest("ConsciousnessNode"),
    f"{_newest('ConsciousnessNode')} UNION ALL {_newest('PastVersion')}",
)


def _opened(label: str) -> str:
    return (
        f"MATCH (n:{label}) {_IN_RANGE.format('n')}n.created_at >= $since AND coalesce(n.version, 1) = 1 "
        f"AND {visible('n')} AND {is_told('n')} AND n.description <> '' "
        f"WITH n ORDER BY n.created_at DESC, id(n) DESC LIMIT {MOST_CHANGED} "
        "RETURN n.id AS id, n.created_at AS at, n.created_at AS known, null AS said, null AS work, "
        f"null AS reason, 1 AS holds, {_SAYS.format('n')} AS now, n.resolution_state AS state, "
        "n.speaker AS speaker "
    )


_CLOSED: Final = (
    f"MATCH (p:PastVersion) {_IN_RANGE.format('p')}p.expired_at >= $since AND p.expired_at < $known_to "
    f"AND p.valid_at < $valid_to AND {is_told('p')} "
    f"WITH p ORDER BY p.expired_at DESC, p.id LIMIT {MOST_CHANGED} MATCH (i:ConsciousnessNode)-[:HAD]->(p) "
    f"OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion) WHERE {visible('q')} WITH p, i, collect(q) AS past "
    f"WITH p, (past + CASE WHEN {visible('i')} THEN [i] ELSE [] END)[0] AS s "
    f"RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, {_SAYS.format('p')} AS said, "
    "p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason, "
    f"CASE WHEN s IS NULL THEN 0 ELSE 1 END AS holds, {_SAYS.format('s')} AS now, s.resolution_state AS state, "
    "p.speaker AS speaker "
)


_RETRACTED: Final = (
    f"MATCH (c:Receipt) {_IN_RANGE.format('c')}c.created_at >= $since "
    f"WITH DISTINCT c.id AS changed LIMIT {10 * MOST_CHANGED} MATCH (p:ConsciousnessNode {{id: changed}}) "
    f"WHERE p.expired_at >= $since AND p.expired_at < $known_to AND {is_told('p')} "
    f"RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, {_SAYS.format('p')} AS said, "
    "p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason, "
    f"0 AS holds, '' AS now, null AS state, p.speaker AS speaker LIMIT {MOST_CHANGED} "
)
"""Memories that a command closed and that have no other record: they are found by its receipt, which is new."""


def _resolved(link: str) -> str:
    """The work that a link of the newest memories says is resolved."""
    return (
        f"MATCH (n:ConsciousnessNode) {_IN_RANGE.format('n')}n.created_at >= $since "
        f"WITH n ORDER BY id(n) DESC LIMIT {MOST_CHANGED} MATCH (w:ConsciousnessNode)-[e:{link}]->(n) "
        f"WHERE e.relation_type = 'RESOLVED_BY' AND e.created_at >= $since AND {visible('e')} "
        f"RETURN w.id AS id, e.created_at AS at, w.created_at AS known, null AS said, 'linked' AS work, "
        f"null AS reason, 1 AS holds, {_SAYS.format('w')} AS now, 'resolved' AS state, w.speaker AS speaker "
        f"LIMIT {MOST_CHANGED} "
    )


CHANGED: Final = QueryPair.of(
    "changed_since",
    f"{_opened('ConsciousnessNode')} UNION ALL {_CLOSED} UNION ALL {_RETRACTED} UNION ALL {_resolved('LINK')}",
    f"{_opened('ConsciousnessNode')} UNION ALL {_opened('PastVersion')} UNION ALL {_CLOSED} "
    f"UNION ALL {_RETRACTED} "
    f"UNION ALL {_resolved('LINK|PAST_LINK')}",
)


class NewestMemory(NamedTuple):
    """One of the newest memories that tell something, as it was told first."""

    memory_id: str
    speaker: str | None
    text: str
    valid_at: Instant
    known_at: Instant

    def order(self) -> tuple[Instant, Instant, int, str]:
        """The order of telling. Turns of one moment are ordered by the numbers at the end of their ids."""
        return self.valid_at, self.known_at, len(self.memory_id), self.memory_id


class ChangedRecord(NamedTuple):
    """A record that was opened or closed at `at`, known since `known_at`.

    `before` and `work` are those of a closed record: its text and resolution state; `work` is `linked` where a
    link says that it is resolved. `holds`: the memory has a record now, with the text `now` and the state `state`.
    """

    memory_id: str
    at: Instant
    known_at: Instant
    before: str | None
    work: str | None
    reason: str | None
    holds: bool
    now: str
    state: str | None
    speaker: str | None


async def read_newest(target: GraphTarget, scope: Scope) -> list[NewestMemory]:
    """The newest memories of the scope that tell something, the latest first, at most `MOST_NEWEST`.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    newest = await find_newest(target, scope)
    rows = await target.read(TOLD_LAST, scope, newest=newest.start, until=newest.end)
    found = [NewestMemory(*row) for row in rows]
    return sorted(found, key=NewestMemory.order, reverse=True)[:MOST_NEWEST]


async def read_changed(target: GraphTarget, scope: Scope, since: Instant) -> list[ChangedRecord]:
    """The records opened or closed from `since` to the end of the scope, in any order.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    newest = await find_newest(target, scope)
    rows = await target.read(CHANGED, scope, newest=newest.start, until=newest.end, since=since)
    return [ChangedRecord(*row)._replace(holds=bool(row[6])) for row in rows]
