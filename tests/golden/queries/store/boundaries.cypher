// The queries of `substrate.store.boundaries`, as they are sent for a graph of the first generation of vectors.
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
