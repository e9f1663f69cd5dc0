"""What changes the graph. Each statement is atomic; a batch is a list of rows."""

from __future__ import annotations

from typing import Final

from substrate.cypher.columns import LINK_COLUMNS, LINK_UPKEEP, NODE_COLUMNS, NODE_UPKEEP, assignments
from substrate.cypher.query import Query

_TRACE: Final = "{embedding: vecf32(r.embedding), emotion: vecf32(r.emotion)}"

REMEMBER: Final = Query(
    "remember",
    "UNWIND $rows AS r "
    "OPTIONAL MATCH (o:ConsciousnessNode {id: r.id}) "
    "WITH r, o, CASE WHEN o IS NULL THEN [1] ELSE [] END AS new, "
    "o.command_id AS command_id, o.fingerprint AS fingerprint, o.version AS version, "
    "o.valid_at AS valid_at, o.invalid_at AS invalid_at, o.created_at AS created_at "
    "FOREACH (_ IN new | "
    f"CREATE (n:ConsciousnessNode {{{assignments('r', NODE_COLUMNS + NODE_UPKEEP)}}})"
    f"-[:HAS_TRACE]->(:Trace {_TRACE}) "
    "FOREACH (tag IN r.tag_names | MERGE (t:Tag {name: tag}) CREATE (n)-[:TAGGED]->(t))) "
    "RETURN r.id, size(new), command_id, fingerprint, version, valid_at, invalid_at, created_at",
)
"""Memories that are new; of one whose id exists, nothing is changed and its marks come back."""

RELATE: Final = Query(
    "relate",
    "UNWIND $rows AS r "
    "OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id}) "
    "OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id}) "
    "OPTIONAL MATCH (a)-[o:LINK {id: r.id}]->(b) "
    "WITH r, a, b, o, a IS NOT NULL AS has_source, b IS NOT NULL AS has_target, "
    "CASE WHEN a IS NOT NULL AND b IS NOT NULL AND o IS NULL THEN [1] ELSE [] END AS new, "
    "o.command_id AS command_id, o.fingerprint AS fingerprint, "
    "o.valid_at AS valid_at, o.invalid_at AS invalid_at, o.created_at AS created_at "
    "FOREACH (_ IN new | "
    f"CREATE (a)-[:LINK {{handle: r.handle, {assignments('r', LINK_COLUMNS + LINK_UPKEEP)}}}]->(b)) "
    "RETURN r.id, size(new), command_id, fingerprint, 1, valid_at, invalid_at, created_at, "
    "has_source, has_target",
)
"""Links that are new, between memories that exist."""

_REVISE_HEAD: Final = (
    "MATCH (n:ConsciousnessNode {id: $id}) WHERE n.version = $seen AND n.expired_at = $open "
    "WITH n LIMIT 1 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace) WITH n, t LIMIT 1 "
)

REVISE: Final = Query(
    "revise",
    _REVISE_HEAD + "CREATE (n)-[:HAD]->(p:PastVersion)-[:HAS_TRACE]->(pt:PastTrace) "
    "SET p = properties(n), pt = properties(t) "
    "SET p.expired_at = $at, p.invalidation_reason = $reason, p.closed_by = $closed_by "
    "FOREACH (k IN $kept | "
    "CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(pt) SET q = properties(n) SET q += k) "
    "SET n += $latest "
    "SET t += CASE WHEN $embedding IS NULL THEN {} ELSE {embedding: vecf32($embedding)} END "
    "SET t += CASE WHEN $emotion IS NULL THEN {} ELSE {emotion: vecf32($emotion)} END "
    "WITH n OPTIONAL MATCH (n)-[g:TAGGED]->(:Tag) WHERE $retag "
    "DELETE g WITH DISTINCT n "
    "FOREACH (tag IN $tag_names | MERGE (x:Tag {name: tag}) CREATE (n)-[:TAGGED]->(x)) "
    "RETURN n.version",
)
"""Close the open record of an identity and open the next. No row back: another writer was first."""

WITHDRAW: Final = Query(
    "withdraw",
    _REVISE_HEAD + "SET n.expired_at = $at, n.invalidation_reason = $reason, n.closed_by = $closed_by "
    "REMOVE t:Trace SET t:PastTrace RETURN n.version",
)
"""Close the open record of an identity and open none: it never held."""
