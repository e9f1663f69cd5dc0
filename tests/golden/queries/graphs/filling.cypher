// The queries of `substrate.graphs.filling`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// count_vectors
OPTIONAL MATCH (t:Trace)
WHERE t.embedding IS NOT NULL
WITH count(t) AS open
OPTIONAL MATCH (t:PassageTrace)
WHERE t.embedding IS NOT NULL
RETURN open, count(t);

// last_passagetrace
MATCH (t:PassageTrace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
RETURN max(id(t));

// last_pasttrace: last_passagetrace, but
- MATCH (t:PassageTrace)
+ MATCH (t:PastTrace)

// last_trace: last_passagetrace, but
- MATCH (t:PassageTrace)
+ MATCH (t:Trace)

// most_vectors
CALL db.meta.stats()
YIELD labels
RETURN labels.Trace, labels.PassageTrace;

// open_vectors
MATCH (t:Trace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
OPTIONAL MATCH (n:ConsciousnessNode)-[:HAS_TRACE]->(t)
OPTIONAL MATCH (p:PastVersion)-[:HAS_TRACE]->(t)
RETURN id(t), coalesce(head(collect(n.id)), head(collect(p.id))), t.digest, t.embedding
ORDER BY id(t);

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

// passage_vectors
MATCH (t:PassageTrace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
MATCH (q:Passage)-[:HAS_TRACE]->(t)
RETURN id(t), q.memory_id, q.handle, t.embedding
ORDER BY id(t);

// past_vectors: open_vectors, but
- MATCH (t:Trace)
+ MATCH (t:PastTrace)

// set_digests_pasttrace
<SHIFT>
UNWIND $rows AS r
MATCH (t:PastTrace)
WHERE id(t) = r[0]
SET t.digest = r[1]
RETURN count(t);

// set_digests_trace: set_digests_pasttrace, but
  UNWIND $rows AS r
- MATCH (t:PastTrace)
+ MATCH (t:Trace)
