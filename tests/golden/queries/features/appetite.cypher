// The queries of `orchestration.features.appetite.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// appetite_due_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others AND s.node_type <> 'Generalisation'
      AND s.valid_at + 0 > $said_after AND s.name_key IS NULL
      AND coalesce(s.resolution_state, '') <> 'resolved'
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 100
  RETURN 'said' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at > $moment AND s.valid_at < $ahead
  WITH s
  WHERE s.expired_at = $until AND s.created_at < $known_to AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at, s.id
  LIMIT 50
  RETURN 'planned' AS kind, s AS m
}
RETURN kind, m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at;

// appetite_due_then: appetite_due_now, but
    MATCH (s:ConsciousnessNode)
+   WHERE s.rule > ''
+   WITH s
+   WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others
+   WITH s
+   ORDER BY s.valid_at DESC, s.id
+   LIMIT 60
+   RETURN 'rule' AS kind, s AS m
+   UNION ALL
+   MATCH (s:PastVersion)

// appetite_fresh
CALL db.meta.stats()
YIELD nodeCount
WITH nodeCount - 5000 AS first
MATCH (s:ConsciousnessNode)
WHERE id(s) >= first AND s.created_at > $since
WITH s
WHERE <visible s> AND s.node_type <> 'Generalisation' AND coalesce(s.author, '') <> $citizen
WITH s
ORDER BY s.created_at DESC, s.id
WITH collect(s) AS fresh
WITH fresh[..100] AS shown, size(fresh) AS count
UNWIND shown AS m
RETURN 'fresh', m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at, count;

// appetite_own_now: appetite_due_now, but
  CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $open
+   WITH s
+   WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others AND s.node_type <> 'Generalisation'
+   WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half
+   WITH s,
+       s.energy * 2.0 ^ (($moment - s.valid_at) / 86400000000.0 / -half) * CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END AS left_of_it
+   ORDER BY left_of_it DESC, s.valid_at DESC, s.id
+   LIMIT 50
+   RETURN 'open' AS kind, s AS m
+   UNION ALL
    RETURN 'planned' AS kind, s AS m
+   UNION ALL
+   MATCH (a:Revaluation)
+   WHERE a.waiting = true
+   WITH a
+   ORDER BY a.asked_at DESC, a.memory_id
+   LIMIT 50
+   MATCH (s:ConsciousnessNode {id: a.memory_id})
+   RETURN 'waiting' AS kind, s AS m

// appetite_own_then
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others AND s.node_type <> 'Generalisation'
  WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half
  WITH s,
      s.energy * 2.0 ^ (($moment - s.valid_at) / 86400000000.0 / -half) * CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END AS left_of_it
  ORDER BY left_of_it DESC, s.valid_at DESC, s.id
  LIMIT 50
  RETURN 'open' AS kind, s AS m
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others AND s.node_type <> 'Generalisation'
  WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half
  WITH s,
      s.energy * 2.0 ^ (($moment - s.valid_at) / 86400000000.0 / -half) * CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END AS left_of_it
  ORDER BY left_of_it DESC, s.valid_at DESC, s.id
  LIMIT 50
  RETURN 'open' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first
  WITH s
  WHERE <visible s> AND NOT toLower(coalesce(s.speaker, '')) IN $others AND s.node_type <> 'Generalisation'
      AND s.valid_at + 0 > $said_after AND s.name_key IS NULL
      AND coalesce(s.resolution_state, '') <> 'resolved'
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 100
  RETURN 'said' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at > $moment AND s.valid_at < $ahead
  WITH s
  WHERE s.expired_at = $until AND s.created_at < $known_to AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at, s.id
  LIMIT 50
  RETURN 'planned' AS kind, s AS m
  UNION ALL
  MATCH (a:Revaluation)
  WHERE a.waiting = true
  WITH a
  ORDER BY a.asked_at DESC, a.memory_id
  LIMIT 50
  MATCH (s:ConsciousnessNode {id: a.memory_id})
  RETURN 'waiting' AS kind, s AS m
}
RETURN kind, m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at;
