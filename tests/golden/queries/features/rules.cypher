// The queries of `orchestration.features.rules.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// drop_rule_checks
MATCH (k:RuleCheck)
WITH k
ORDER BY k.at
LIMIT $rows
DELETE k
RETURN count(k);

// forget_rule_checks
MATCH (k:RuleCheck)
WHERE k.rule_id IN $ids
DELETE k
RETURN count(k);

// keep_rule_checks
UNWIND $checks AS c
MERGE (k:RuleCheck {key: c.key})
ON CREATE SET k.rule_id = c.rule_id, k.graph = c.graph, k.action_key = c.action_key, k.action = c.action
SET k.checked = coalesce(k.checked, 0) + 1, k.at = $at, k.overridden = coalesce(k.overridden,
    0) + c.overridden, k.streak = CASE WHEN c.blocked = 0 THEN coalesce(k.streak,
    0) WHEN coalesce(k.blocked_at, 0) > $since THEN k.streak + 1 ELSE 1 END, k.blocked = coalesce(k.blocked,
    0) + c.blocked, k.blocked_at = CASE WHEN c.blocked = 0 THEN k.blocked_at ELSE $at END
WITH count(k) AS kept
MATCH (k:RuleCheck)
RETURN count(k);

// rule_checks
MATCH (k:RuleCheck)
RETURN k.rule_id, k.graph, k.action_key, k.checked, k.blocked, k.overridden, k.streak, k.blocked_at;

// rules_at_nodes
MATCH (o:ConsciousnessNode)
WHERE o.name_key IN $keys
WITH o
MATCH (o)-[e:LINK|PAST_LINK]-(s:ConsciousnessNode)
WHERE <visible e> AND s.rule > ''
RETURN s.id, count(DISTINCT o)
LIMIT 1000;

// rules_now
MATCH (s:ConsciousnessNode)
WHERE s.rule > ''
WITH s
WHERE <visible s>
WITH s
ORDER BY s.valid_at DESC, s.id
LIMIT $limit
OPTIONAL MATCH (s)-[:HAS_TRACE]->(t)
WITH s, 1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
RETURN s.id, s.version, s.name, s.speaker, left(s.description, 100), s.rule, s.severity, s.source, s.author,
    s.result, s.valid_at, s.created_at, s.emotions, alike;

// rules_then
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s>
  RETURN s
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s>
  RETURN s
}
WITH s
ORDER BY s.valid_at DESC, s.id
LIMIT $limit
OPTIONAL MATCH (s)-[:HAS_TRACE]->(t)
WITH s, 1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
RETURN s.id, s.version, s.name, s.speaker, left(s.description, 100), s.rule, s.severity, s.source, s.author,
    s.result, s.valid_at, s.created_at, s.emotions, alike;
