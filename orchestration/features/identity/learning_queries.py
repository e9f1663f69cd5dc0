"""Reads closed records and the records around them, to find changed beliefs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemas.memory import ConsciousnessNode, Level
from schemas.temporal import BEGINNING_OF_TIME, Instant, Period
from substrate.cypher.fragments import node_columns, told
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store import rows

CLOSINGS: Final = Query(
    "closings",
    f"MATCH (p:PastVersion) WHERE p.expired_at < $known_to AND {told('p')} "
    "AND (p.expired_at > $ended_at OR (p.expired_at = $ended_at AND p.id > $memory_id)) "
    "WITH p ORDER BY p.expired_at, p.id LIMIT $limit RETURN p.expired_at, p.id, p.created_at",
)

_WITHIN: Final = "{0}.created_at <= until AND {0}.expired_at >= s.since AND {0}.created_at < $known_to"

AROUND: Final = Query(
    "around",
    "UNWIND $spans AS s MATCH (i:ConsciousnessNode {id: s.id}) WITH s, i "
    "OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion) WHERE q.created_at >= s.until "
    "WITH s, i, min(q.created_at) AS next "
    "WITH s, i, CASE WHEN i.created_at >= s.until AND (next IS NULL OR i.created_at < next) "
    "THEN i.created_at ELSE coalesce(next, s.until) END AS until "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_WITHIN.format('p')} "
    "WITH s, i, until, collect(p) AS past "
    f"UNWIND (past + CASE WHEN {_WITHIN.format('i')} THEN [i] ELSE [] END) AS n RETURN {node_columns('n')}",
)

HELD_BEFORE: Final = Query(
    "held_before",
    "UNWIND $beliefs AS b MATCH (i:ConsciousnessNode {id: b.id}) WITH b, i MATCH (i)-[:HAD]->(p:PastVersion) "
    "WHERE p.created_at < b.begun AND p.name = b.name AND p.description = b.description "
    "RETURN b.place, p.created_at, p.expired_at",
)

_HELD: Final = (
    "{0}.created_at < $known_to AND {0}.expired_at >= $known_to "
    "AND {0}.name = b.name AND {0}.description = b.description"
)

HELD_THEN: Final = Query(
    "held_then",
    "UNWIND $beliefs AS b MATCH (i:ConsciousnessNode {id: b.id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_HELD.format('p')} WITH b, i, count(p) AS past "
    f"RETURN b.place, CASE WHEN past > 0 OR ({_HELD.format('i')}) THEN 1 ELSE 0 END",
)


class ClosingPosition(NamedTuple):
    """The sort key of a closing. Closings by one command on one memory have the same position."""

    ended_at: Instant = BEGINNING_OF_TIME
    memory_id: str = ""


class Closing(NamedTuple):
    """A closed record: its memory, and the end and start of its transaction time."""

    ended_at: Instant
    memory_id: str
    known_at: Instant

    @property
    def position(self) -> ClosingPosition:
        return ClosingPosition(self.ended_at, self.memory_id)


class HeldBelief(NamedTuple):
    """The name and description in a record of a memory, and the start of its transaction time."""

    memory_id: str
    name: str
    description: str
    known_at: Instant


async def read_closings(graph: Graph, after: ClosingPosition, *, known_to: Instant, limit: int) -> list[Closing]:
    """About `limit` closings after a position and before `known_to`. All closings of a position come together."""
    closed = await graph.read(CLOSINGS, **after._asdict(), known_to=known_to, limit=limit)
    closings = [Closing(*row) for row in closed]
    if len(closings) < limit or closings[0].position == closings[-1].position:
        return closings
    return [closing for closing in closings if closing.position != closings[-1].position]


async def read_around(graph: Graph, spans: Mapping[str, Period], known_to: Instant) -> list[ConsciousnessNode]:
    """The records known within the span of their memory, both ends included, and the first one opened after it.

    `spans`: transaction time by memory id. Only records opened before `known_to` are read.
    """
    values = [{"id": memory_id, "since": span.start, "until": span.end} for memory_id, span in spans.items()]
    records = await graph.read(AROUND, spans=values, known_to=known_to)
    return [rows.node(row, Level.N1, known_to) for row in records]


async def read_earlier(graph: Graph, beliefs: Sequence[HeldBelief]) -> list[list[Period]]:
    """For each belief, the transaction times of earlier records of its memory with equal name and description."""
    values = _belief_values(beliefs)
    periods: defaultdict[int, list[Period]] = defaultdict(list)
    for index, known_at, ended_at in await graph.read(HELD_BEFORE, beliefs=values):
        periods[index].append(Period(known_at, ended_at))
    return [periods[index] for index in range(len(beliefs))]


async def read_held(graph: Graph, beliefs: Sequence[HeldBelief], known_to: Instant) -> frozenset[int]:
    """The places of the beliefs that were held just before `known_to`."""
    found = await graph.read(HELD_THEN, beliefs=_belief_values(beliefs), known_to=known_to)
    return frozenset(int(place) for place, held in found if held)


def _belief_values(beliefs: Sequence[HeldBelief]) -> list[dict[str, str | int]]:
    return [
        {
            "place": index,
            "id": belief.memory_id,
            "name": belief.name,
            "description": belief.description,
            "begun": belief.known_at,
        }
        for index, belief in enumerate(beliefs)
    ]
