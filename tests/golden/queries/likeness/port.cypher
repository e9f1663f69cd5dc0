// The queries of `substrate.likeness.port`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// nearest
CALL {
  CALL db.idx.vector.queryNodes('Trace', 'embedding', $k, vecf32($embedding))
  YIELD node AS t, score
  RETURN t, score
  UNION ALL
  CALL db.idx.vector.queryNodes('PastTrace', 'embedding', $k, vecf32($embedding))
  YIELD node AS t, score
  RETURN t, score
}
WITH t, score
ORDER BY score
LIMIT $k
MATCH (s)-[:HAS_TRACE]->(t)
WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// nearest_open
CALL db.idx.vector.queryNodes('Trace', 'embedding', $k, vecf32($embedding))
YIELD node AS t, score
MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t)
RETURN s.id, coalesce(t.digest, ''), score
ORDER BY score
LIMIT $k;

// nearest_passages
CALL db.idx.vector.queryNodes('PassageTrace', 'embedding', $k, vecf32($embedding))
YIELD node AS t, score
MATCH (q:Passage)-[:HAS_TRACE]->(t)
RETURN q.memory_id, q.handle, score
ORDER BY score
LIMIT $k;

// scan_all
CALL {
  MATCH (t:Trace)
  WHERE t.embedding IS NOT NULL
  WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
  ORDER BY score
  LIMIT $k
  RETURN t, score
  UNION ALL
  MATCH (t:PastTrace)
  WHERE t.embedding IS NOT NULL
  WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
  ORDER BY score
  LIMIT $k
  RETURN t, score
}
WITH t, score
ORDER BY score
LIMIT $k
MATCH (s)-[:HAS_TRACE]->(t)
WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// scan_open
MATCH (t:Trace)
WHERE t.embedding IS NOT NULL
WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
ORDER BY score
LIMIT $k
MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t)
WITH s.id AS id, coalesce(t.digest, '') AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// scan_passages
MATCH (t:PassageTrace)
WHERE t.embedding IS NOT NULL
WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
ORDER BY score
LIMIT $k
MATCH (q:Passage)-[:HAS_TRACE]->(t)
WITH q.memory_id AS id, q.handle AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;
