"""What reads beliefs that changed: closed records in the order of their closing, and the records around them."""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import node_columns
from substrate.cypher.query import Query

CLOSINGS: Final = Query(
    "closings",
    "MATCH (p:PastVersion) WHERE p.expired_at < $known_to "
    "AND (p.expired_at > $ended_at OR (p.expired_at = $ended_at AND p.id > $memory_id)) "
    "WITH p ORDER BY p.expired_at, p.id LIMIT $limit RETURN p.expired_at, p.id, p.created_at",
)
"""The next closed records: when each was closed, of which memory it is, since when it was known."""

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
"""The records of some memories that were known from `since` until what was opened first from `until` on."""

HELD_BEFORE: Final = Query(
    "held_before",
    "UNWIND $beliefs AS b MATCH (i:ConsciousnessNode {id: b.id}) WITH b, i MATCH (i)-[:HAD]->(p:PastVersion) "
    "WHERE p.created_at < b.begun AND p.name = b.name AND p.description = b.description "
    "RETURN b.place, p.created_at, p.expired_at",
)
"""Earlier records that say the same as some beliefs, each by the place of the belief."""
