// The queries of `orchestration.features.situation.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// changed_since_now
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since AND coalesce(n.version, 1) = 1 AND <visible n>
    AND n.node_type <> 'Generalisation' AND n.description <> ''
WITH n
ORDER BY n.created_at DESC, id(n) DESC
LIMIT 100
RETURN n.id AS id, n.created_at AS at, n.created_at AS known, null AS said, null AS work, null AS reason,
    1 AS holds, coalesce(left(n.description, 1000), '') AS now, n.resolution_state AS state,
    n.speaker AS speaker
UNION ALL
MATCH (p:PastVersion)
WHERE id(p) >= $newest AND id(p) < $until
WITH p
WHERE p.expired_at >= $since AND p.expired_at < $known_to AND p.valid_at < $valid_to
    AND p.node_type <> 'Generalisation'
WITH p
ORDER BY p.expired_at DESC, p.id
LIMIT 100
MATCH (i:ConsciousnessNode)-[:HAD]->(p)
OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion)
WHERE <visible q>
WITH p, i, collect(q) AS past
WITH p, (past + CASE WHEN <visible i> THEN [i] ELSE [] END)[0] AS s
RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, coalesce(left(p.description, 1000), '') AS said,
    p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason,
    CASE WHEN s IS NULL THEN 0 ELSE 1 END AS holds, coalesce(left(s.description, 1000), '') AS now,
    s.resolution_state AS state, p.speaker AS speaker
UNION ALL
MATCH (c:Receipt)
WHERE id(c) >= $newest AND id(c) < $until
WITH c
WHERE c.created_at >= $since
WITH DISTINCT c.id AS changed
LIMIT 1000
MATCH (p:ConsciousnessNode {id: changed})
WHERE p.expired_at >= $since AND p.expired_at < $known_to AND p.node_type <> 'Generalisation'
RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, coalesce(left(p.description, 1000), '') AS said,
    p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason, 0 AS holds,
    '' AS now, null AS state, p.speaker AS speaker
LIMIT 100
UNION ALL
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since
WITH n
ORDER BY id(n) DESC
LIMIT 100
MATCH (w:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.relation_type = 'RESOLVED_BY' AND e.created_at >= $since AND <visible e>
RETURN w.id AS id, e.created_at AS at, w.created_at AS known, null AS said, 'linked' AS work, null AS reason,
    1 AS holds, coalesce(left(w.description, 1000), '') AS now, 'resolved' AS state, w.speaker AS speaker
LIMIT 100;

// changed_since_then: changed_since_now, but
  MATCH (n:ConsciousnessNode)
+ WHERE id(n) >= $newest AND id(n) < $until
+ WITH n
+ WHERE n.created_at >= $since AND coalesce(n.version, 1) = 1 AND <visible n>
+     AND n.node_type <> 'Generalisation' AND n.description <> ''
+ WITH n
+ ORDER BY n.created_at DESC, id(n) DESC
+ LIMIT 100
+ RETURN n.id AS id, n.created_at AS at, n.created_at AS known, null AS said, null AS work, null AS reason,
+     1 AS holds, coalesce(left(n.description, 1000), '') AS now, n.resolution_state AS state,
+     n.speaker AS speaker
+ UNION ALL
+ MATCH (n:PastVersion)
  LIMIT 100
- MATCH (w:ConsciousnessNode)-[e:LINK]->(n)
+ MATCH (w:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)

// newest_told_now
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE <visible n> AND n.node_type <> 'Generalisation' AND n.description <> '' AND coalesce(n.version, 1) = 1
WITH n
ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC
LIMIT 40
RETURN n.id AS id, n.speaker AS speaker, coalesce(left(n.description, 1000), '') AS text, n.valid_at AS held,
    n.created_at AS known;

// newest_told_then
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE <visible n> AND n.node_type <> 'Generalisation' AND n.description <> '' AND coalesce(n.version, 1) = 1
WITH n
ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC
LIMIT 40
RETURN n.id AS id, n.speaker AS speaker, coalesce(left(n.description, 1000), '') AS text, n.valid_at AS held,
    n.created_at AS known
UNION ALL
MATCH (n:PastVersion)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE <visible n> AND n.node_type <> 'Generalisation' AND n.description <> '' AND coalesce(n.version, 1) = 1
WITH n
ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC
LIMIT 40
RETURN n.id AS id, n.speaker AS speaker, coalesce(left(n.description, 1000), '') AS text, n.valid_at AS held,
    n.created_at AS known;
