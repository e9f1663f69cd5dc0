// The queries of `substrate.graphs.orphans`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// owned_passages
UNWIND $owners AS id
MATCH (q:Passage {memory_id: id})
RETURN id, q.handle;

// owned_vectors
UNWIND $owners AS id
OPTIONAL MATCH (n:ConsciousnessNode {id: id})-[:HAS_TRACE]->(t)
WITH id, collect(t.digest) AS own
OPTIONAL MATCH (p:PastVersion {id: id})-[:HAS_TRACE]->(t)
WITH id, own, collect(DISTINCT t.digest) AS past
UNWIND (own + past) AS digest
RETURN DISTINCT id, digest;

// owned_vectors_now
UNWIND $owners AS id
MATCH (n:ConsciousnessNode {id: id})
WITH n
MATCH (n)-[:HAS_TRACE]->(t:Trace)
WHERE t.digest IS NOT NULL
RETURN n.id, t.digest;
