// The queries of `substrate.store.transactions`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// links_of
UNWIND $links AS l
MATCH (a:ConsciousnessNode {id: l.source_id})
MATCH (b:ConsciousnessNode {id: l.target_id})
WITH l, a, b
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = l.id
RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, <link_columns e>, e.command_id, e.key_id,
    e.closed_by, e.closed_source, e.closed_key, e.known_as_happened;

// memories_of
UNWIND $wanted AS w
MATCH (i:ConsciousnessNode {id: w.id})
WITH i, w, w.every OR (i.expired_at < $open AND w.since < $open) AS every
CALL {
  WITH i
  RETURN i AS n
  UNION ALL
  WITH i, w, every
  WITH i, w, every
  WHERE every OR i.valid_at > w.since
  MATCH (i)-[:HAD]->(n:PastVersion)
  WHERE every OR n.expired_at = $open
  RETURN n
}
RETURN n.fingerprint, i.version, coalesce(i.versions, i.version),
    coalesce(i.touched, CASE WHEN i.expired_at = $open THEN i.created_at ELSE i.expired_at END),
    <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key, n.known_as_happened;

// named_links_of
UNWIND $links AS l
MATCH (a)-[e:LINK {handle: l.handle}]->(b)
WHERE e.id = l.id
RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, <link_columns e>, e.command_id, e.key_id,
    e.closed_by, e.closed_source, e.closed_key, e.known_as_happened
UNION ALL
UNWIND $links AS l
MATCH (a)-[e:PAST_LINK {handle: l.handle}]->(b)
WHERE e.id = l.id
RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, <link_columns e>, e.command_id, e.key_id,
    e.closed_by, e.closed_source, e.closed_key, e.known_as_happened;

// present_vectors
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:HAS_TRACE]->(t:Trace)
WHERE t.digest IS NOT NULL
RETURN n.id, t.digest;

// vectors_of
UNWIND $wanted AS w
MATCH (n:ConsciousnessNode {id: w.id})
WITH n, w
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.version = w.of
WITH collect(n) + collect(p) AS records
UNWIND records AS r
MATCH (r)-[:HAS_TRACE]->(t)
WHERE t.digest IS NOT NULL
RETURN DISTINCT r.id, t.digest;
