// The queries of `substrate.store.moved_vectors`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

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
