// The queries of `substrate.graphs.reembedding`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// begin_reembedding
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state IS NULL
SET m.other_model = $model, m.other_dimension = $dimension, m.other_state = 'filling'
RETURN m.other_state;

// clear
MATCH (t:TraceB)
WITH t
LIMIT $rows
DELETE t
RETURN count(t);

// clear_passages: clear, but
- MATCH (t:TraceB)
+ MATCH (t:PassageTraceB)

// clear_past: clear, but
- MATCH (t:TraceB)
+ MATCH (t:PastTraceB)

// close_generation
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state IN ['filling', 'leaving'] AND coalesce(m.generation, 0) = $generation
SET m.other_state = 'clearing'
RETURN m.other_state;

// end_reembedding
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state = 'clearing'
SET m.other_model = null, m.other_dimension = null, m.other_state = null
RETURN m.generation;

// lacking
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND outdegree(n, 'HAS_TRACE_B') = 0
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), n.id, n.version, n.created_at, n.name, n.description, n.speaker, n.emotion_vector
ORDER BY id(n);

// lacking_passages
MATCH (q:Passage)
WHERE id(q) > $after AND outdegree(q, 'HAS_TRACE_B') = 0
WITH q
LIMIT $rows
RETURN id(q), q.memory_id, q.handle, q.text
ORDER BY id(q);

// lacking_past: lacking, but
- MATCH (n:ConsciousnessNode)
+ MATCH (n:PastVersion)

// switch_generation
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension
CALL db.meta.stats()
YIELD labels, relTypes
WITH m, m.embedding_model AS model, m.dimension AS dimension, coalesce(m.generation, 0) AS generation,
    coalesce(labels.ConsciousnessNode, 0) + coalesce(labels.PastVersion, 0) + coalesce(labels.Passage,
    0) - coalesce(relTypes.HAS_TRACE_B, 0) AS lacking
WHERE lacking <= $tolerated
SET m.embedding_model = m.other_model, m.dimension = m.other_dimension, m.generation = 1 - generation,
    m.other_model = model, m.other_dimension = dimension, m.other_state = 'leaving'
RETURN lacking;

// trace
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE (m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension)
    OR (m.embedding_model = $model AND m.dimension = $dimension)
WITH m
UNWIND $rows AS r
WITH r
MATCH (n:ConsciousnessNode {id: r.id})
WHERE n.version = r.version AND n.created_at = r.created_at AND outdegree(n, 'HAS_TRACE_B') = 0
WITH r, n
FOREACH (_ IN CASE WHEN n.expired_at = $open THEN [1] ELSE [] END |
  CREATE (n)-[:HAS_TRACE_B]->(:TraceB {embedding: vecf32(r.embedding), emotion: vecf32(r.emotion),
      digest: r.digest})
)
FOREACH (_ IN CASE WHEN n.expired_at = $open THEN [] ELSE [1] END |
  CREATE (n)-[:HAS_TRACE_B]->(:PastTraceB {embedding: vecf32(r.embedding), emotion: vecf32(r.emotion),
      digest: r.digest})
)
RETURN count(n);

// trace_passages
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE (m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension)
    OR (m.embedding_model = $model AND m.dimension = $dimension)
WITH m
UNWIND $rows AS r
WITH r
MATCH (n:Passage {handle: r.handle})
WHERE outdegree(n, 'HAS_TRACE_B') = 0
WITH r, n
CREATE (n)-[:HAS_TRACE_B]->(:PassageTraceB {embedding: vecf32(r.embedding)})
RETURN count(n);

// trace_past
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE (m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension)
    OR (m.embedding_model = $model AND m.dimension = $dimension)
WITH m
UNWIND $rows AS r
WITH r
UNWIND r.owners AS owner
MATCH (n:PastVersion {id: owner.id})
WHERE n.version = owner.version AND n.created_at = owner.created_at AND outdegree(n, 'HAS_TRACE_B') = 0
WITH r.number AS number, r, collect(n) AS owners
CREATE (t:PastTraceB {embedding: vecf32(r.embedding), emotion: vecf32(r.emotion), digest: r.digest})
FOREACH (n IN owners |
  CREATE (n)-[:HAS_TRACE_B]->(t)
)
RETURN count(t);
