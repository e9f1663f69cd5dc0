// The queries of `orchestration.features.life.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// lived
CALL db.meta.stats()
YIELD nodeCount
WITH 1 + nodeCount / 400000 AS step
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
    m.created_at AS known_at, CASE m.node_type WHEN 'Generalisation' THEN 1 ELSE 0 END AS general
WITH week, step, count(energy) AS lived, avg(energy) AS mean, sum(general) AS made, min(known_at) AS first
RETURN week, lived * step, mean, toInteger(made) * step, first
ORDER BY week DESC
LIMIT 1040;

// lived_feelings
CALL db.meta.stats()
YIELD nodeCount
WITH 1 + nodeCount / 400000 AS step
CALL {
  WITH step
  MATCH (m:ConsciousnessNode)
  WHERE (id(m) / 16) % step = 0 AND m.valid_at + 0 < $until AND m.expired_at > $known_from
      AND m.created_at < $known_to AND (m.name_key IS NULL OR m.description > '' OR m.node_type = 'Memory')
      AND m.emotions IS NOT NULL
  RETURN m
  UNION ALL
  WITH step
  MATCH (m:PastVersion)
  WHERE (id(m) / 16) % step = 0 AND m.valid_at + 0 < $until AND m.expired_at > $known_from
      AND m.created_at < $known_to AND (m.name_key IS NULL OR m.description > '' OR m.node_type = 'Memory')
      AND m.emotions IS NOT NULL
  RETURN m
}
WITH step, (m.valid_at - -90719654400000000) / 604800000000 AS week, m.emotions AS emotions
UNWIND emotions AS emotion
WITH week, step, emotion, count(*) AS memories
RETURN week, emotion, memories * step
ORDER BY week DESC, memories DESC, emotion
LIMIT 20000;
