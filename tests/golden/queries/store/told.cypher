// The queries of `substrate.store.told`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// between_now
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35, null AS c36, null AS c37, null AS c38, null AS c39,
    null AS c40, null AS c41, null AS c42, null AS c43, null AS c44, null AS c45, null AS c46, null AS c47,
    null AS c48, null AS c49, null AS c50, null AS c51, null AS c52, null AS c53, null AS c54, null AS c55,
    null AS c56, null AS c57, null AS c58, null AS c59, null AS c60, null AS c61, null AS c62, null AS c63,
    null AS c64, null AS c65, null AS c66, null AS c67, null AS c68
UNION ALL
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $told
  WITH i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'NEXT' AND <visible e> AND NOT j.id IN $ids
  WITH e, j AS m
  WHERE <visible m> AND <fits m> AND NOT coalesce(m.resolution_state, '') IN $hidden
  WITH e, m
  ORDER BY e.valid_at, e.id, m.version
  LIMIT 8
  RETURN e, m
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $told
  WITH i
  OPTIONAL MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'NEXT' AND <visible e>
  WITH collect(j) AS next
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $ids
  WITH next, collect(s) AS own
  WITH next + own AS shown
  UNWIND shown AS s
  WITH DISTINCT s, shown
  MATCH (s)-[e:LINK]->(o:ConsciousnessNode)
  WHERE o IN shown AND <visible e>
  RETURN e, null AS m
  ORDER BY e.energy * e.confidence DESC, e.id
  LIMIT 200
}
RETURN 0 AS c0, 1 AS c1, null AS c2, startNode(e).id AS c3, endNode(e).id AS c4, e.id AS c5,
    e.relation_type AS c6, e.goal AS c7, e.mindstate AS c8, e.energy AS c9, e.confidence AS c10,
    e.formation_trigger AS c11, e.emotion_vector AS c12, e.energy_transfer_coefficient AS c13,
    e.resolution_state AS c14, e.felt_quality AS c15, e.emotion_description AS c16, e.body_sensation AS c17,
    e.spatial_context AS c18, e.sensory_details AS c19, e.valid_at AS c20, e.invalid_at AS c21,
    e.created_at AS c22, e.expired_at AS c23, e.version AS c24, e.invalidation_reason AS c25,
    e.closed_reason AS c26, e.source AS c27, e.author AS c28, e.episode_id AS c29, e.extra AS c30,
    e.unset AS c31, m.id AS c32, m.node_type AS c33, m.name AS c34,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END AS c35, m.valid_at AS c36, m.invalid_at AS c37,
    m.created_at AS c38, m.expired_at AS c39, m.version AS c40, m.invalidation_reason AS c41,
    m.closed_reason AS c42, m.correction_pattern_id AS c43, m.discovery_energy AS c44, m.energy AS c45,
    m.confidence AS c46, m.emotion_vector AS c47, m.felt_quality AS c48, m.body_sensation AS c49,
    m.goal AS c50, m.resolution_state AS c51, m.tags AS c52, m.buckets AS c53, m.aliases AS c54,
    m.importance AS c55, m.intensity AS c56, m.result AS c57, m.rule AS c58, m.severity AS c59,
    m.abstraction AS c60, m.step AS c61, m.source AS c62, m.author AS c63, m.shared_from AS c64,
    m.episode_id AS c65, m.speaker AS c66, m.extra AS c67, m.unset AS c68;

// between_then: between_now, but
    WITH i
-   MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
+   MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
    WHERE e.relation_type = 'NEXT' AND <visible e> AND NOT j.id IN $ids
-   WITH e, j AS m
+   <records_of j, m, e>
    WITH i
-   OPTIONAL MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
+   OPTIONAL MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
    WITH DISTINCT s, shown
-   MATCH (s)-[e:LINK]->(o:ConsciousnessNode)
+   MATCH (s)-[e:LINK|PAST_LINK]->(o:ConsciousnessNode)

// told_after_now
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
UNWIND range(id(i) + 1, id(i) + 100) AS place
MATCH (j:ConsciousnessNode)
WHERE id(j) = place
WITH i, j
WHERE j.episode_id = i.episode_id
WITH i, j, j AS s
WHERE <visible s>
WITH i, j, s
WHERE s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others AND <fits s>
    AND <is_statement s>
WITH i, j, s
ORDER BY id(j), s.version
WITH i, collect(s)[..8] AS said
UNWIND said AS m
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// told_after_then: told_after_now, but
  WHERE j.episode_id = i.episode_id
- WITH i, j, j AS s
- WHERE <visible s>
- WITH i, j, s
+ <records_of j, s, i>

// told_after_thin: told_after_now, but
+ <SEEN>
+ RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6
+ UNION ALL
  UNWIND said AS m
- WITH DISTINCT m, null AS e
- RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, <link_columns e>, <found_columns m>
+ RETURN 0 AS c0, i.id AS c1, m.id AS c2, m.version AS c3, m.created_at AS c4, m.expired_at AS c5,
+     CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c6

// told_earlier
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3
UNION ALL
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to AND p.valid_at < $valid_to AND NOT (<visible p>)
WITH i, min(p.valid_at) AS begun, max(CASE WHEN p.resolution_state IN $open THEN 1 ELSE 0 END) AS was_open
RETURN 0 AS c0, i.id AS c1, begun AS c2, was_open AS c3;

// told_lately_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE <visible s> AND s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others AND <fits s>
      AND <is_statement s> AND s.unset CONTAINS 'resolution_state'
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= $newest AND id(s) < $until
  WITH s
  WHERE <visible s> AND s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others AND <fits s>
      AND <is_statement s>
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
}
WITH DISTINCT s AS m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// told_lately_then: told_lately_now, but
    RETURN s
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $open
+   WITH s
+   WHERE <visible s> AND s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others AND <fits s>
+       AND <is_statement s> AND s.unset CONTAINS 'resolution_state'
+   WITH s
+   ORDER BY s.valid_at DESC, s.id, s.version
+   LIMIT 60
+   RETURN s
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE id(s) >= $newest AND id(s) < $until
+   WITH s
+   WHERE <visible s> AND s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others AND <fits s>
+       AND <is_statement s>
+   WITH s
+   ORDER BY s.valid_at DESC, s.id, s.version
+   LIMIT 60
+   RETURN s

// told_lately_thin: told_lately_now, but
+ <SEEN>
+ RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5
+ UNION ALL
  }
- WITH DISTINCT s AS m, null AS e
- RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, <link_columns e>, <found_columns m>
+ WITH DISTINCT s AS m
+ RETURN 0 AS c0, m.id AS c1, m.version AS c2, m.created_at AS c3, m.expired_at AS c4,
+     CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c5

// told_solved_now
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND <visible e>
WITH e, j, j AS s
WHERE <visible s>
WITH e, j, s
WHERE <fits s>
WITH e, s AS m
ORDER BY e.valid_at DESC, e.id, m.version
LIMIT 40
RETURN 1 AS hop, 0.0 AS score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// told_solved_then
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND <visible e>
<records_of j, s, e>
WHERE <fits s>
WITH e, s AS m
ORDER BY e.valid_at DESC, e.id, m.version
LIMIT 40
RETURN 1 AS hop, 0.0 AS score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// told_solved_thin
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35
UNION ALL
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND <visible e>
WITH i, e, j, j AS s
WHERE <visible s>
WITH i, e, j, s
WHERE <fits s>
WITH i, e, s AS m
RETURN 0 AS c0, i.id AS c1, startNode(e).id AS c2, endNode(e).id AS c3, m.id AS c4, m.version AS c5,
    m.created_at AS c6, m.expired_at AS c7, CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c8, e.id AS c9,
    e.relation_type AS c10, e.goal AS c11, e.mindstate AS c12, e.energy AS c13, e.confidence AS c14,
    e.formation_trigger AS c15, e.emotion_vector AS c16, e.energy_transfer_coefficient AS c17,
    e.resolution_state AS c18, e.felt_quality AS c19, e.emotion_description AS c20, e.body_sensation AS c21,
    e.spatial_context AS c22, e.sensory_details AS c23, e.valid_at AS c24, e.invalid_at AS c25,
    e.created_at AS c26, e.expired_at AS c27, e.version AS c28, e.invalidation_reason AS c29,
    e.closed_reason AS c30, e.source AS c31, e.author AS c32, e.episode_id AS c33, e.extra AS c34,
    e.unset AS c35;
