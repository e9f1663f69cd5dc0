// The queries of `orchestration.features.life.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// lived
CALL db.meta.stats()
YIELD nodeCount
WITH 1 + nodeCount / 100000 AS step
CALL {
  WITH step
  MATCH (m:ConsciousnessNode)
  WHERE (id(m) / 16) % step = 0 AND m.valid_at + 0 < $until AND m.expired_at > $known_from
      AND m.created_at < $known_to AND (m.name_key IS NULL OR m.description > '' OR m.node_type = 'Memory')
  RETURN m
  UNION ALL
  WITH step
  MATCH (m:PastVersion)
  WHERE (id(m) / 16) % step = 0 AND m.valid_at + 0 < $until AND m.expired_at > $known_from
      AND m.created_at < $known_to AND (m.name_key IS NULL OR m.description > '' OR m.node_type = 'Memory')
  RETURN m
}
WITH step, (m.valid_at - -90719654400000000) / 604800000000 AS week, m.energy AS energy,
    m.created_at AS known_at, CASE m.node_type WHEN 'Generalisation' THEN 1 ELSE 0 END AS general,
    coalesce(m.emotions, []) + [''] AS felt
UNWIND felt AS emotion
WITH week, step, emotion, count(energy) AS lived, avg(energy) AS mean, sum(general) AS made,
    min(known_at) AS first
RETURN week, emotion, lived * step AS lived, mean, toInteger(made) * step, first
ORDER BY week DESC, lived DESC, emotion
LIMIT 20000;
