// The queries of `substrate.store.resonance`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// resolve_names
MATCH (n:ConsciousnessNode)
WHERE n.id IN $names
RETURN 'id' AS kind, n.id AS key, n.id AS id
UNION ALL
MATCH (n:ConsciousnessNode)
WHERE n.name_key IN $keys
WITH n
ORDER BY n.id
LIMIT 256
RETURN 'name' AS kind, n.name_key AS key, n.id AS id
UNION ALL
MATCH (p:PastVersion)
WHERE p.name_key IN $keys
WITH p
ORDER BY p.id
LIMIT 256
RETURN DISTINCT 'name' AS kind, p.name_key AS key, p.id AS id;

// resonate_fitting_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $ids
  WITH s
  ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
  MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH collect([s, e, i]) AS near
CALL {
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE <visible e> AND e.episode_id IS NOT NULL
  WITH DISTINCT e
  WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said
  MATCH (w:ConsciousnessNode {id: episode})
  WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought
  ORDER BY sought DESC, size(said) DESC, episode
  LIMIT $pool
  RETURN collect([episode, said[..64]]) AS asserted
}
CALL {
  WITH asserted
  UNWIND asserted AS one
  WITH one[0] AS episode
  MATCH (i:ConsciousnessNode {id: episode})
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $plural
  RETURN i
  UNION ALL
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE <visible e> AND coalesce(i.abstraction, 'L0') <= $max_level AND <fits i> AND <is_statement i>
      AND (NOT toLower(i.node_type) IN $names
      OR (coalesce(i.description, '') <> '' AND i.node_type <> 'Session') OR i.id IN $ids)
  WITH i, count(DISTINCT s) AS hits
  ORDER BY hits DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
      AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $embeddings AS v
  MATCH (s:ConsciousnessNode)
  WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
      AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH v, s
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
      AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WHERE id(m) >= $newest
  WITH m
  WHERE <visible m> AND coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
      AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m,
      $w_emotion * (CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END) + $w_result * (CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END) + $w_importance * (CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END) + $w_recency * (1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0))) AS quick
  ORDER BY quick DESC, m.valid_at DESC, m.id
  LIMIT $pool
  RETURN m AS i
}
WITH DISTINCT i, asserted
WITH i, i AS m, asserted
WHERE <visible m> AND coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
    AND (NOT toLower(m.node_type) IN $names
    OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
WITH i, m, coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), []) AS said
WITH collect([i, m, said]) AS candidates
CALL {
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  RETURN i, m, said, null AS e, null AS o
  UNION ALL
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
  MATCH (i)-[e:LINK]-(o)
  WHERE <visible e>
  RETURN i, m, said, e, o
}
WITH i, m, said, collect(DISTINCT o.id) AS others,
    collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around,
    collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE [e.relation_type, startNode(e).id,
    endNode(e).id] END) AS own
OPTIONAL MATCH (m)-[:HAS_TRACE]->(t)
WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, own + said AS held,
    1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
WITH m, around, held,
    CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END WHEN size($groups) = 0 THEN 0.0 ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END AS nodes,
    CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) / size($triples) END AS relations,
    CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END AS emotion,
    CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END AS result,
    CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END AS likeness,
    CASE WHEN coalesce(m.importance,
    0.0) > $importance_floor THEN m.importance ELSE $importance_floor END AS importance,
    1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0)) AS recency,
    coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0) AS shown_lately,
    CASE WHEN $suppress_recent
    AND m.valid_at > $moment - 86400000000 THEN 0.2 + 0.8 * ($moment - m.valid_at) / 86400000000.0 ELSE 1.0 END AS lived_lately,
    CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END AS boost
WITH m, around, held,
    CASE WHEN lived_lately < shown_lately THEN lived_lately ELSE shown_lately END AS suppression, boost,
    nodes, relations, emotion, result, likeness, importance, recency,
    $w_nodes * (nodes) + $w_relations * (relations) + $w_emotion * (emotion * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_result * (result * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_likeness * (likeness) + $w_importance * (importance) + $w_recency * (recency) AS total
WITH *, total / $all_weights * suppression * boost AS resonance
ORDER BY resonance DESC, m.id, m.version
LIMIT $limit
RETURN resonance, total, suppression, boost, nodes, relations, emotion, result, likeness, importance, recency,
    string.join(around, '|'), string.join([h IN held[..64] | string.join(h, '|')], '|'), <found_columns m>
ORDER BY resonance DESC, m.id, m.version;

// resonate_fitting_then: resonate_fitting_now, but
    ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
-   MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
+   MATCH (s)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
    WITH one[0] AS s, one[1] AS e, one[2] AS i
-   WHERE <visible e> AND coalesce(i.abstraction, 'L0') <= $max_level AND <fits i> AND <is_statement i>
-       AND (NOT toLower(i.node_type) IN $names
-       OR (coalesce(i.description, '') <> '' AND i.node_type <> 'Session') OR i.id IN $ids)
+   WHERE <visible e>
    UNION ALL
+   UNWIND $embeddings AS v
+   MATCH (s:PastVersion)
+   WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
+       AND (NOT toLower(s.node_type) IN $names
+       OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
+   WITH v, s
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $pool
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
+   UNION ALL
    UNION ALL
+   UNWIND $felt_names AS name
+   MATCH (s:PastVersion)
+   WHERE name IN s.emotions
+   WITH DISTINCT s
+   WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
+       AND (NOT toLower(s.node_type) IN $names
+       OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
+   WITH s
+   ORDER BY s.valid_at DESC, s.id, s.version
+   LIMIT 2000
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $pool
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
+   UNION ALL
+   CALL db.idx.fulltext.queryNodes('PastVersion', $words)
+   YIELD node AS s, score
+   WITH s, score
+   WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
+       AND (NOT toLower(s.node_type) IN $names
+       OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
+   WITH s, score
+   ORDER BY score DESC, s.id
+   LIMIT $pool
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
+   UNION ALL
    MATCH (m:ConsciousnessNode)
-   WHERE id(m) >= $newest
+   WHERE id(m) >= $newest AND id(m) < $until
        OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
-   WITH m,
-       $w_emotion * (CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END) + $w_result * (CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END) + $w_importance * (CASE WHEN coalesce(m.importance,
-       0.0) > $importance_floor THEN m.importance ELSE $importance_floor END) + $w_recency * (1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0))) AS quick
-   ORDER BY quick DESC, m.valid_at DESC, m.id
+   WITH m
+   ORDER BY m.valid_at DESC, m.id
    LIMIT $pool
-   RETURN m AS i
+   WITH m AS i
+   RETURN i
+   UNION ALL
+   MATCH (m:PastVersion)
+   WHERE id(m) >= $newest AND id(m) < $until
+   WITH m
+   WHERE <visible m> AND coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
+       AND (NOT toLower(m.node_type) IN $names
+       OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
+   WITH m
+   ORDER BY m.valid_at DESC, m.id
+   LIMIT $pool
+   WITH m AS s
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
  WITH DISTINCT i, asserted
- WITH i, i AS m, asserted
- WHERE <visible m> AND coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
+ <records_of i, m, asserted>
+ WITH i, m, asserted
+ WHERE coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
    WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
-   MATCH (i)-[e:LINK]-(o)
+   MATCH (i)-[e:LINK|PAST_LINK]-(o)

// resonate_now: resonate_fitting_now, but
    UNION ALL
-   UNWIND $embeddings AS v
-   MATCH (s:ConsciousnessNode)
+   UNWIND $near AS one
+   MATCH (s:ConsciousnessNode {id: one[0]})
+   WITH s, one
        OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
-   WITH v, s
-   MATCH (s)-[:HAS_TRACE]->(t)
-   WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
-   ORDER BY score, s.id, s.version
+   MATCH (s)-[:HAS_TRACE]->(t:Trace)
+   WHERE coalesce(t.digest, '') = one[1]
+   WITH s, one[2] AS score
+   WITH s AS i, score
+   ORDER BY score, i.id
    LIMIT $pool
-   WITH s AS i

// resonate_then: resonate_fitting_now, but
    ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
-   MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
+   MATCH (s)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
    WITH one[0] AS s, one[1] AS e, one[2] AS i
-   WHERE <visible e> AND coalesce(i.abstraction, 'L0') <= $max_level AND <fits i> AND <is_statement i>
-       AND (NOT toLower(i.node_type) IN $names
-       OR (coalesce(i.description, '') <> '' AND i.node_type <> 'Session') OR i.id IN $ids)
+   WHERE <visible e>
    UNION ALL
-   UNWIND $embeddings AS v
-   MATCH (s:ConsciousnessNode)
-   WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
-       AND (NOT toLower(s.node_type) IN $names
-       OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
-   WITH v, s
-   MATCH (s)-[:HAS_TRACE]->(t)
-   WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
-   ORDER BY score, s.id, s.version
+   UNWIND $near AS one
+   MATCH (i:ConsciousnessNode {id: one[0]})
+   WITH i, min(one[2]) AS score
+   ORDER BY score, i.id
    LIMIT $pool
-   WITH s AS i
    UNION ALL
+   UNWIND $felt_names AS name
+   MATCH (s:PastVersion)
+   WHERE name IN s.emotions
+   WITH DISTINCT s
+   WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
+       AND (NOT toLower(s.node_type) IN $names
+       OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
+   WITH s
+   ORDER BY s.valid_at DESC, s.id, s.version
+   LIMIT 2000
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $pool
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
+   UNION ALL
+   CALL db.idx.fulltext.queryNodes('PastVersion', $words)
+   YIELD node AS s, score
+   WITH s, score
+   WHERE <visible s> AND coalesce(s.abstraction, 'L0') <= $max_level AND <fits s> AND <is_statement s>
+       AND (NOT toLower(s.node_type) IN $names
+       OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
+   WITH s, score
+   ORDER BY score DESC, s.id
+   LIMIT $pool
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
+   UNION ALL
    MATCH (m:ConsciousnessNode)
-   WHERE id(m) >= $newest
+   WHERE id(m) >= $newest AND id(m) < $until
        OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
-   WITH m,
-       $w_emotion * (CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END) + $w_result * (CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END) + $w_importance * (CASE WHEN coalesce(m.importance,
-       0.0) > $importance_floor THEN m.importance ELSE $importance_floor END) + $w_recency * (1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0))) AS quick
-   ORDER BY quick DESC, m.valid_at DESC, m.id
+   WITH m
+   ORDER BY m.valid_at DESC, m.id
    LIMIT $pool
-   RETURN m AS i
+   WITH m AS i
+   RETURN i
+   UNION ALL
+   MATCH (m:PastVersion)
+   WHERE id(m) >= $newest AND id(m) < $until
+   WITH m
+   WHERE <visible m> AND coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
+       AND (NOT toLower(m.node_type) IN $names
+       OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
+   WITH m
+   ORDER BY m.valid_at DESC, m.id
+   LIMIT $pool
+   WITH m AS s
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH i
+   RETURN i
  WITH DISTINCT i, asserted
- WITH i, i AS m, asserted
- WHERE <visible m> AND coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
+ <records_of i, m, asserted>
+ WITH i, m, asserted
+ WHERE coalesce(m.abstraction, 'L0') <= $max_level AND <fits m> AND <is_statement m>
    WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
-   MATCH (i)-[e:LINK]-(o)
+   MATCH (i)-[e:LINK|PAST_LINK]-(o)
