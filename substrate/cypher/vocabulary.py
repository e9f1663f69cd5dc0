"""What kinds of memories and links a graph holds, and what goes out from a memory."""

from __future__ import annotations

from typing import Final

from substrate.cypher.query import Query

LOOKED_AT: Final = 5_000
"""So many memories or links are looked at: a whole graph would take too long for one question."""

KINDS: Final = 40

NODE_TYPES: Final = Query(
    "node_types",
    f"MATCH (m:ConsciousnessNode) WITH m LIMIT {LOOKED_AT} "
    f"RETURN m.node_type, count(m) AS held ORDER BY held DESC, m.node_type LIMIT {KINDS}",
)
"""The commonest types of memories."""

RELATION_TYPES: Final = Query(
    "relation_types",
    f"MATCH (:ConsciousnessNode)-[e:LINK]->() WITH e LIMIT {LOOKED_AT} "
    f"RETURN e.relation_type, count(e) AS held ORDER BY held DESC, e.relation_type LIMIT {KINDS}",
)
"""The commonest types of links."""

HELD_OUT: Final = Query(
    "held_out",
    "MATCH (s:ConsciousnessNode {id: $id})-[e:LINK]->(t) WHERE e.relation_type = $kind AND e.expired_at = $open "
    "AND e.valid_at < $at AND e.invalid_at > $at RETURN e.id, t.id, e.version ORDER BY e.id",
)
"""The links of a type that begin at a memory and hold at a moment, having begun before it."""
