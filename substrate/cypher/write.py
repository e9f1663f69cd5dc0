"""What adds memories and links. Each statement is atomic; a batch is a list of rows.

Every write takes its transaction time from the clock of the graph, which never goes back: the moment that the
caller names, or the next after the last write. Beside what it stores it leaves a `Receipt`, whose command id is
unique, so that a command is applied once.
"""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import (
    LINK_COLUMNS,
    LINK_UPKEEP,
    NODE_COLUMNS,
    NODE_UPKEEP,
    RECEIPT_COLUMNS,
    assignments,
    columns_of,
)
from substrate.cypher.query import Query

CLOCK: Final = (
    "MATCH (m:SubstrateMeta {key: 'stamp'}) "
    "WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at "
)
"""`m`, the stamp of the graph, and `at`, the transaction time of the statement."""

_TRACE: Final = "{embedding: vecf32(r.embedding), emotion: vecf32(r.emotion)}"

_BEGIN: Final = (
    f"{CLOCK} WITH m, at FOREACH (w IN $whole | "
    "MERGE (c:Receipt {command_id: w.command_id}) ON CREATE SET c += w, c.created_at = at) "
    "WITH m, at UNWIND $rows AS r OPTIONAL MATCH (c:Receipt {command_id: r.receipt}) "
)
"""`whole`: the receipt of a command of which all rows are parts, or none. `r.receipt`: the id of a row's own.
`r.nth`: by how many microseconds a row is told after the first, `last` the most of them."""

_FOUND: Final = (
    "o.fingerprint AS fingerprint, coalesce(o.version, 1) AS version, "
    "o.valid_at AS valid_at, o.invalid_at AS invalid_at, o.created_at AS created_at, o.expired_at AS expired_at "
)

_ANSWERED: Final = (
    "(_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1 OR "
    "(r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END | "
    "CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id, "
    "version: version, valid_at: coalesce(valid_at, r.valid_at), invalid_at: coalesce(invalid_at, r.invalid_at), "
    "created_at: coalesce(created_at, at + r.nth), warnings: intern(r.warnings)})) "
)
"""The receipt of a row that is stored, or that says again (`r.again`) what is stored already."""

_MARKS: Final = (
    "RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at, "
    f"{columns_of('c', RECEIPT_COLUMNS)}"
)

KEEP: Final = Query(
    "keep",
    "UNWIND $receipts AS r MERGE (c:Receipt {command_id: r.command_id}) ON CREATE SET c += r "
    f"RETURN {columns_of('c', RECEIPT_COLUMNS)}",
)
"""Receipts of commands that stored nothing but themselves; of a command that has one, that."""

REMEMBER: Final = Query(
    "remember",
    f"{_BEGIN} OPTIONAL MATCH (o:ConsciousnessNode {{id: r.id}}) "
    f"WITH m, at, r, c, CASE WHEN o IS NULL AND c IS NULL THEN [1] ELSE [] END AS new, {_FOUND} "
    "FOREACH (_ IN new | "
    f"CREATE (n:ConsciousnessNode {{{assignments('r', NODE_COLUMNS + NODE_UPKEEP)}}})"
    f"-[:HAS_TRACE]->(:Trace {_TRACE}) SET m.clock = at + $last "
    "FOREACH (tag IN r.tag_names | MERGE (t:Tag {name: tag}) CREATE (n)-[:TAGGED]->(t))) "
    f"FOREACH {_ANSWERED} {_MARKS}",
)
"""Memories that are new; of one whose id or command exists, nothing is changed and its marks come back."""

_RELATE_ENDS: Final = (
    f"{_BEGIN} "
    "OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id}) "
    "OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id}) "
    "WITH m, at, r, c, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target "
)
_RELATE_NEW: Final = (
    "CASE WHEN has_source AND has_target AND o IS NULL AND c IS NULL AND gone = 0 THEN [1] ELSE [] END AS new, "
    f"{_FOUND} FOREACH (_ IN new | "
    f"CREATE (a)-[:LINK {{handle: r.handle, {assignments('r', LINK_COLUMNS + LINK_UPKEEP)}}}]->(b) "
    f"SET m.clock = at + $last) FOREACH {_ANSWERED} {_MARKS}, has_source, has_target, gone"
)

RELATE: Final = Query(
    "relate",
    f"{_RELATE_ENDS} OPTIONAL MATCH (a)-[o:LINK {{id: r.id}}]->(b) "
    "WITH m, at, r, c, a, b, has_source, has_target, o, size([(a)-[q:PAST_LINK {id: r.id}]->(b) | 1]) AS gone "
    f"WITH m, at, r, c, a, b, has_source, has_target, gone, {_RELATE_NEW}",
)
"""Links that are new, between memories that are not closed; each has the id that its ends give it."""

RELATE_NAMED: Final = Query(
    "relate_named",
    f"{_RELATE_ENDS} OPTIONAL MATCH ()-[o:LINK {{handle: r.handle}}]->() WHERE o.id = r.id "
    "WITH m, at, r, c, a, b, has_source, has_target, o "
    "CALL { WITH r OPTIONAL MATCH ()-[q:PAST_LINK {handle: r.handle}]->() WHERE q.id = r.id "
    "RETURN count(q) AS gone } "
    f"WITH m, at, r, c, a, b, has_source, has_target, gone, {_RELATE_NEW}",
)
"""The same for links with an id of their own, which no other link of the graph may have or have had."""
