"""What reads single memories and their history."""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import PROVENANCE, RECEIPT_COLUMNS, columns_of, link_columns, node_columns
from substrate.cypher.query import Query

MEMORY: Final = Query(
    "memory",
    f"MATCH (n:ConsciousnessNode {{id: $id}}) RETURN {node_columns('n')}, {columns_of('n', PROVENANCE)}",
)
"""The record that an identity carries."""

HISTORY: Final = Query(
    "history",
    "MATCH (i:ConsciousnessNode {id: $id}) "
    "CALL { WITH i RETURN i AS n UNION ALL WITH i MATCH (i)-[:HAD]->(n:PastVersion) RETURN n } "
    f"RETURN {node_columns('n')}, {columns_of('n', PROVENANCE)} ORDER BY n.created_at, n.valid_at",
)
"""All records of an identity, in the order in which they became known."""

_LINK_RECORDS: Final = (
    f"WHERE e.id = $id RETURN a.id, b.id, {link_columns('e')}, {columns_of('e', PROVENANCE)}, "
    "e.created_at AS known, e.valid_at AS held "
)

LINK_HISTORY: Final = Query(
    "link_history",
    "MATCH (a:ConsciousnessNode {id: $source_id}) MATCH (b:ConsciousnessNode {id: $target_id}) "
    f"WITH a, b LIMIT 1 MATCH (a)-[e:LINK|PAST_LINK]->(b) {_LINK_RECORDS} ORDER BY known, held",
)
"""All records of a link that is found through its ends, in the order in which they became known."""

NAMED_LINK_HISTORY: Final = Query(
    "named_link_history",
    f"MATCH (a)-[e:LINK {{handle: $handle}}]->(b) {_LINK_RECORDS} "
    f"UNION ALL MATCH (a)-[e:PAST_LINK {{handle: $handle}}]->(b) {_LINK_RECORDS}",
)
"""All records of a link with an id of its own."""

SAYING: Final = Query(
    "saying",
    "UNWIND $keys AS key MATCH (n:ConsciousnessNode {text_key: key}) WITH n "
    "WHERE n.expired_at = $open AND n.valid_at <= $now AND n.invalid_at > $now "
    f"RETURN {node_columns('n')}, {columns_of('n', PROVENANCE)} ORDER BY n.created_at, n.id LIMIT 1000",
)
"""Memories that hold now and whose text has one of some keys, the oldest first."""

RECEIPTS: Final = Query(
    "receipts",
    f"UNWIND $ids AS id MATCH (c:Receipt {{command_id: id}}) RETURN {columns_of('c', RECEIPT_COLUMNS)}",
)
"""What is kept of some commands."""

PENDING: Final = Query(
    "pending", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.pending_until, 0) LIMIT 1"
)
"""Until when some record on the past side is still true."""

EXISTING: Final = Query(
    "existing",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) RETURN n.id, n.fingerprint",
)
"""Which of some identities exist, with the fingerprint of what each carries."""

NAMES_OF: Final = Query(
    "names_of",
    "UNWIND $ids AS id MATCH (n:ConsciousnessNode {id: id}) WITH DISTINCT n "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WITH n, collect(p) AS past "
    "UNWIND ([n] + past) AS r RETURN n.id, r.name, r.aliases",
)
"""What some memories are called, and were: their records, first the one that each carries."""

KNOWN_SINCE: Final = Query(
    "known_since",
    "MATCH (n:ConsciousnessNode {id: $id}) WHERE n.expired_at = $open "
    "OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE p.expired_at = $open "
    "RETURN n.version, n.valid_at, min(p.valid_at)",
)
"""From when on a memory holds, as is known today: version and beginning of what it carries, and of the rest."""

LIKENESS: Final = Query(
    "likeness",
    "UNWIND $pairs AS pair "
    "MATCH (a:ConsciousnessNode {id: pair[0]})-[:HAS_TRACE]->(t:Trace) WITH pair, t "
    "MATCH (b:ConsciousnessNode {id: pair[1]})-[:HAS_TRACE]->(u:Trace) "
    "RETURN pair[0], pair[1], 1.0 - vec.cosineDistance(t.embedding, u.embedding)",
)
"""How alike the memories of some pairs are, by their embeddings of today."""

COUNT_NODES: Final = Query("count_nodes", "MATCH (n) RETURN count(n)")
