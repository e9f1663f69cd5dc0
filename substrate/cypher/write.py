"""What changes the graph. Each statement is atomic; a batch is a list of rows."""

from __future__ import annotations

from typing import Final

from substrate.cypher.columns import LINK_COLUMNS, LINK_UPKEEP, NODE_COLUMNS, NODE_UPKEEP, assignments
from substrate.cypher.query import Query

_TRACE: Final = "{embedding: vecf32(r.embedding), emotion: vecf32(r.emotion)}"

_FOUND: Final = (
    "o.command_id AS command_id, o.fingerprint AS fingerprint, o.version AS version, "
    "o.valid_at AS valid_at, o.invalid_at AS invalid_at, o.created_at AS created_at, o.expired_at AS expired_at "
)
_FOUND_ROW: Final = (
    "RETURN r.id, size(new), command_id, fingerprint, version, valid_at, invalid_at, created_at, expired_at"
)

REMEMBER: Final = Query(
    "remember",
    "UNWIND $rows AS r "
    "OPTIONAL MATCH (o:ConsciousnessNode {id: r.id}) "
    f"WITH r, CASE WHEN o IS NULL THEN [1] ELSE [] END AS new, {_FOUND} "
    "FOREACH (_ IN new | "
    f"CREATE (n:ConsciousnessNode {{{assignments('r', NODE_COLUMNS + NODE_UPKEEP)}}})"
    f"-[:HAS_TRACE]->(:Trace {_TRACE}) "
    "FOREACH (tag IN r.tag_names | MERGE (t:Tag {name: tag}) CREATE (n)-[:TAGGED]->(t))) "
    f"{_FOUND_ROW}",
)
"""Memories that are new; of one whose id exists, nothing is changed and its marks come back."""

_RELATE_ENDS: Final = (
    "UNWIND $rows AS r "
    "OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id}) "
    "OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id}) "
    "WITH r, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target "
)
_RELATE_NEW: Final = (
    "WITH r, a, b, has_source, has_target, "
    f"CASE WHEN has_source AND has_target AND o IS NULL THEN [1] ELSE [] END AS new, {_FOUND} "
    "FOREACH (_ IN new | "
    f"CREATE (a)-[:LINK {{handle: r.handle, {assignments('r', LINK_COLUMNS + LINK_UPKEEP)}}}]->(b)) "
    f"{_FOUND_ROW}, has_source, has_target"
)

RELATE: Final = Query("relate", f"{_RELATE_ENDS} OPTIONAL MATCH (a)-[o:LINK {{id: r.id}}]->(b) {_RELATE_NEW}")
"""Links that are new, between memories that are not closed; each has the id that its ends give it."""

RELATE_NAMED: Final = Query(
    "relate_named",
    f"{_RELATE_ENDS} OPTIONAL MATCH ()-[o:LINK {{handle: r.handle}}]->() WHERE o.id = r.id {_RELATE_NEW}",
)
"""The same for links with an id of their own, which no other link of the graph may have."""

_REVISE_HEAD: Final = (
    "MATCH (n:ConsciousnessNode {id: $id}) WHERE n.version = $seen AND n.expired_at = $open "
    "WITH n LIMIT 1 OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace) WITH n, t LIMIT 1 "
    "OPTIONAL MATCH (n)-[:HAS_OTHER_TRACE]->(o) DELETE o WITH n, t "
)
"""The open record that a writer saw, with its trace. One of another model that is being made is made again."""

REVISE: Final = Query(
    "revise",
    _REVISE_HEAD + "CREATE (n)-[:HAD]->(p:PastVersion)-[:HAS_TRACE]->(pt:PastTrace) "
    "SET p = properties(n), pt = properties(t) "
    "SET p.expired_at = $at, p.invalidation_reason = $reason, "
    "p.closed_by = $closed_by, p.closed_fingerprint = $closed_fingerprint "
    "FOREACH (k IN $kept | "
    "CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(pt) SET q = properties(n) SET q += k) "
    "SET n += $latest "
    "SET t += CASE WHEN $embedding IS NULL THEN {} ELSE {embedding: vecf32($embedding)} END "
    "SET t.emotion = vecf32($emotion) "
    "WITH n MATCH (m:SubstrateMeta {key: 'stamp'}) SET m.pending_until = "
    "CASE WHEN coalesce(m.pending_until, 0) < $pending_until THEN $pending_until ELSE m.pending_until END "
    "WITH n OPTIONAL MATCH (n)-[g:TAGGED]->(:Tag) WHERE $retag "
    "DELETE g WITH DISTINCT n "
    "FOREACH (tag IN $tag_names | MERGE (x:Tag {name: tag}) CREATE (n)-[:TAGGED]->(x)) "
    "RETURN n.version",
)
"""Close the open record of an identity and open the next. No row back: another writer was first.

`pending_until` is set when a record on the past side stays true until a moment to come: until then the present
is found on both sides.
"""

WITHDRAW: Final = Query(
    "withdraw",
    _REVISE_HEAD + "SET n.expired_at = $at, n.invalidation_reason = $reason, "
    "n.closed_by = $closed_by, n.closed_fingerprint = $closed_fingerprint "
    "REMOVE t:Trace SET t:PastTrace RETURN n.version",
)
"""Close the open record of an identity and open none: it never held."""
