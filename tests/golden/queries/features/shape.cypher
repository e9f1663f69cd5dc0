// The queries of `orchestration.features.shape.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// shape_alike_now
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE <visible m>
RETURN <found_columns m>
ORDER BY m.id, m.version;

// shape_alike_then
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
WITH i, m
WHERE <visible m>
RETURN <found_columns m>
ORDER BY m.id, m.version;

// shape_candidates_now
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.resolution_state IN $states
  WITH i
  LIMIT 20000
  WITH i
  WHERE <visible i> AND <fits i>
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  UNWIND $emotions AS name
  MATCH (i:ConsciousnessNode)
  WHERE name IN i.emotions
  WITH DISTINCT i
  ORDER BY i.valid_at DESC, i.id
  LIMIT 2000
  WITH i
  WHERE <visible i> AND <fits i>
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  MATCH (x:ConsciousnessNode)
  WHERE x.resolution_state IN $near_states
  WITH x
  LIMIT 2000
  MATCH (x)-[e:LINK]-(i:ConsciousnessNode)
  WHERE e.relation_type IN $types AND <visible e>
  WITH i, count(e) AS shared
  ORDER BY shared DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  UNWIND $near_emotions AS name
  MATCH (x:ConsciousnessNode)
  WHERE name IN x.emotions
  WITH DISTINCT x
  ORDER BY x.valid_at DESC, x.id
  LIMIT 100
  WITH DISTINCT x
  MATCH (x)-[e:LINK]-(i:ConsciousnessNode)
  WHERE e.relation_type IN $types AND <visible e>
  WITH i, count(e) AS shared
  ORDER BY shared DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE id(i) >= $newest AND id(i) < $until
  WITH i
  WHERE <visible i> AND <fits i>
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 600
  RETURN i
}
WITH DISTINCT i
WITH i, i AS m
WHERE <visible m> AND <fits m> AND m.node_type <> 'Session'
RETURN DISTINCT i.id
ORDER BY i.id;

// shape_candidates_then: shape_candidates_now, but
    WITH i
-   WHERE <visible i> AND <fits i>
+   WHERE i.id IS NOT NULL
    WITH i
-   WHERE <visible i> AND <fits i>
+   WHERE i.id IS NOT NULL
    LIMIT 2000
-   MATCH (x)-[e:LINK]-(i:ConsciousnessNode)
+   MATCH (x)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
    WITH DISTINCT x
-   MATCH (x)-[e:LINK]-(i:ConsciousnessNode)
+   MATCH (x)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
    WITH i
-   WHERE <visible i> AND <fits i>
+   WHERE i.id IS NOT NULL
    RETURN i
+   UNION ALL
+   MATCH (p:PastVersion)
+   WHERE p.resolution_state IN $states
+   WITH p
+   LIMIT 20000
+   MATCH (i:ConsciousnessNode)-[:HAD]->(p)
+   WITH DISTINCT i
+   WITH i
+   WHERE i.id IS NOT NULL
+   WITH i,
+       CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
+   ORDER BY alike DESC, i.valid_at DESC, i.id
+   LIMIT 200
+   RETURN i
  WITH DISTINCT i
- WITH i, i AS m
+ WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
+ OPTIONAL MATCH (former)-[:HAD]->(p)
+ WHERE <visible p>
+ WITH i, collect(p) AS past
+ UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
+ WITH i, m

// shape_marks_now: shape_alike_now, but
  WHERE <visible m>
- RETURN <found_columns m>
+ RETURN m.id, m.resolution_state, m.result, string.join(coalesce(m.emotions, []), '|'), m.valid_at

// shape_marks_then: shape_alike_then, but
  WHERE <visible m>
- RETURN <found_columns m>
+ RETURN m.id, m.resolution_state, m.result, string.join(coalesce(m.emotions, []), '|'), m.valid_at

// shape_steps_now
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s, indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WHERE held < 64
MATCH (s)-[e:LINK]-(o:ConsciousnessNode)
WHERE <visible e>
RETURN DISTINCT s.id, CASE WHEN startNode(e).id = s.id THEN 1 ELSE 0 END, e.relation_type, o.id;

// shape_steps_then
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s, indegree(s, ['LINK', 'PAST_LINK']) + outdegree(s, ['LINK', 'PAST_LINK']) AS held
WHERE held < 64
MATCH (s)-[e:LINK|PAST_LINK]-(o:ConsciousnessNode)
WHERE <visible e>
RETURN DISTINCT s.id, CASE WHEN startNode(e).id = s.id THEN 1 ELSE 0 END, e.relation_type, o.id;
