"""What reads single memories and their history."""

from __future__ import annotations

from typing import Final

from substrate.cypher.columns import node_columns
from substrate.cypher.query import Query

MEMORY: Final = Query(
    "memory",
    f"MATCH (n:ConsciousnessNode {{id: $id}}) RETURN {node_columns('n')}, n.command_id, n.fingerprint",
)
"""The record that an identity carries."""

HISTORY: Final = Query(
    "history",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i MATCH (i)-[:HAD]->(n:PastVersion) RETURN n } "
    f"RETURN {node_columns('n')}, n.command_id, n.fingerprint "
    "ORDER BY n.created_at, n.valid_at",
)
"""All records of an identity, in the order in which they became known."""

APPLIED: Final = Query(
    "applied",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i MATCH (i)-[:HAD]->(n:PastVersion) RETURN n } "
    "WITH n WHERE n.command_id = $command_id OR (n.version = 1 AND n.fingerprint = $fingerprint) "
    "OR n.closed_by = $command_id "
    "RETURN CASE WHEN n.closed_by = $command_id AND n.command_id <> $command_id "
    "THEN n.closed_fingerprint ELSE n.fingerprint END, n.version, n.valid_at, n.invalid_at, n.created_at "
    "ORDER BY n.version DESC LIMIT 1",
)
"""The record that a command opened on an identity, if it was applied before."""

EXISTING: Final = Query(
    "existing",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) RETURN n.id, n.fingerprint",
)
"""Which of some identities exist, with the fingerprint of what each carries."""

LIKENESS: Final = Query(
    "likeness",
    "UNWIND $pairs AS pair "
    "MATCH (a:ConsciousnessNode {id: pair[0]})-[:HAS_TRACE]->(t:Trace) WITH pair, t "
    "MATCH (b:ConsciousnessNode {id: pair[1]})-[:HAS_TRACE]->(u:Trace) "
    "RETURN pair[0], pair[1], 1.0 - vec.cosineDistance(t.embedding, u.embedding)",
)
"""How alike the memories of some pairs are, by their embeddings of today."""

CHANGED: Final = Query(
    "changed",
    "MATCH (i:ConsciousnessNode)-[:HAD]->(p:PastVersion) WITH DISTINCT i ORDER BY i.id SKIP $skip LIMIT $limit "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i MATCH (i)-[:HAD]->(n:PastVersion) RETURN n } "
    f"RETURN {node_columns('n')}",
)
"""All records of the identities that were ever revised, so many identities at a time."""
