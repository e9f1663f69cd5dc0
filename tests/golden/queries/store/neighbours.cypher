// The queries of `substrate.store.neighbours`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// all_links_around
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WITH collect(toString(held) + ' ' + s.id) AS held
RETURN 'held' AS c0, string.join(held, '') AS c1, null AS c2, null AS c3, null AS c4, null AS c5, null AS c6,
    null AS c7, null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14,
    null AS c15, null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22,
    null AS c23, null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30,
    null AS c31, null AS c32, null AS c33, null AS c34, null AS c35
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WHERE held < 256
WITH s
MATCH (s)-[e:LINK]-(m)
WHERE <lasting e> AND <lasting m>
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
RETURN 'link' AS c0, s.id AS c1, startNode(e).id AS c2, e.id AS c3, e.relation_type AS c4, e.goal AS c5,
    e.mindstate AS c6, e.energy AS c7, e.confidence AS c8, e.formation_trigger AS c9, e.emotion_vector AS c10,
    e.energy_transfer_coefficient AS c11, e.resolution_state AS c12, e.felt_quality AS c13,
    e.emotion_description AS c14, e.body_sensation AS c15, e.spatial_context AS c16, e.sensory_details AS c17,
    e.valid_at AS c18, e.invalid_at AS c19, e.created_at AS c20, e.expired_at AS c21, e.version AS c22,
    e.invalidation_reason AS c23, e.closed_reason AS c24, e.source AS c25, e.author AS c26,
    e.episode_id AS c27, e.extra AS c28, e.unset AS c29, m.id AS c30, m.version AS c31, m.created_at AS c32,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c33, m.valid_at AS c34, m.invalid_at AS c35;

// few_links_around: all_links_around, but
- <SEEN>
- RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
-     null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
-     null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
-     null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
-     null AS c32, null AS c33, null AS c34, null AS c35
- UNION ALL
  MATCH (s)-[e:LINK]-(m)
- WHERE <lasting e> AND <lasting m>
+ WHERE <lasting e> AND <lasting m> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND <felt m>
+     AND <is_evidence m>
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
+ WITH s, collect(e)[..$few] AS links, collect(m)[..$few] AS others
+ UNWIND range(0, size(links) - 1) AS place
+ WITH s, links[place] AS e, others[place] AS m

// links_around: all_links_around, but
  MATCH (s)-[e:LINK]-(m)
- WHERE <lasting e> AND <lasting m>
+ WHERE <lasting e> AND <lasting m> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND <felt m>
+     AND <is_evidence m>

// strongest_all_links_around
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
MATCH (s)-[e:LINK]-(m)
WHERE <lasting e> AND <lasting m>
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
LIMIT 24
RETURN 'link' AS c0, s.id AS c1, startNode(e).id AS c2, e.id AS c3, e.relation_type AS c4, e.goal AS c5,
    e.mindstate AS c6, e.energy AS c7, e.confidence AS c8, e.formation_trigger AS c9, e.emotion_vector AS c10,
    e.energy_transfer_coefficient AS c11, e.resolution_state AS c12, e.felt_quality AS c13,
    e.emotion_description AS c14, e.body_sensation AS c15, e.spatial_context AS c16, e.sensory_details AS c17,
    e.valid_at AS c18, e.invalid_at AS c19, e.created_at AS c20, e.expired_at AS c21, e.version AS c22,
    e.invalidation_reason AS c23, e.closed_reason AS c24, e.source AS c25, e.author AS c26,
    e.episode_id AS c27, e.extra AS c28, e.unset AS c29, m.id AS c30, m.version AS c31, m.created_at AS c32,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c33, m.valid_at AS c34, m.invalid_at AS c35;

// strongest_links_around: strongest_all_links_around, but
  MATCH (s)-[e:LINK]-(m)
- WHERE <lasting e> AND <lasting m>
+ WHERE <lasting e> AND <lasting m> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND <felt m>
+     AND <is_evidence m>

// vector_names_now
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE <lasting s> AND <felt s> AND <is_evidence s>
MATCH (s)-[:HAS_TRACE]->(t)
WHERE t:Trace
RETURN 'near', t.digest, toLower(coalesce(s.speaker, '')), s.valid_at, s.invalid_at, s.id, s.version,
    s.created_at, s.expired_at, CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;
