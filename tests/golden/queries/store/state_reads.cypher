// The queries of `substrate.store.state_reads`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// next_change
CALL {
  MATCH (x:ConsciousnessNode)
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
  UNION ALL
  MATCH (x:PastVersion)
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
  UNION ALL
  MATCH ()-[x:LINK]->()
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
  UNION ALL
  MATCH ()-[x:PAST_LINK]->()
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
}
RETURN min(at);

// place_then
CALL db.meta.stats()
YIELD nodeCount
UNWIND range(0, 63) AS step
CALL {
  WITH step, nodeCount
  MATCH (n:ConsciousnessNode)
  WHERE id(n) >= step * nodeCount / 64
  WITH n
  LIMIT 1
  RETURN CASE WHEN n.valid_at < $valid_to AND n.created_at < $known_to THEN 1 ELSE null END AS held
}
RETURN nodeCount, count(step), count(held);

// places_now
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2
UNION ALL
CALL db.meta.stats()
YIELD nodeCount
UNWIND [1, 4, 16, 64, 256] AS wide
WITH nodeCount - 5000 * wide AS first
CALL {
  WITH first
  MATCH (n:ConsciousnessNode)
  WHERE id(n) >= first
  WITH n
  LIMIT 1000
  RETURN count(n) AS held
}
RETURN 0 AS c0, first AS c1, held AS c2;
