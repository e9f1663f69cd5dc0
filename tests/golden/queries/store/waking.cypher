// The queries of `substrate.store.waking`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// doing_fitting_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY score DESC, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE <visible m> AND <fits m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// doing_fitting_then
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY score DESC, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  <past_of j, i, e>
  WHERE <visible p>
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// doing_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY score DESC, s.id, s.version
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// doing_then: doing_fitting_then

// felt_fitting_now: doing_fitting_now, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.valid_at DESC, s.id, s.version

// felt_fitting_then: doing_fitting_then, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
    WITH s, i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.valid_at DESC, s.id, s.version

// felt_near_fitting_now
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
      AND <is_statement s>
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $k
  WITH s, s AS i, score
  WHERE score <= $felt_far
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.valid_at DESC, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE <visible m> AND <fits m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// felt_near_fitting_then
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
      AND <is_statement s>
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $k
  WITH s, s AS i, score
  WHERE score <= $felt_far
  RETURN s, i, score
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:PastVersion)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
      AND <is_statement s>
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $k
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i, score
  WHERE score <= $felt_far
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.valid_at DESC, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  <past_of j, i, e>
  WHERE <visible p>
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// felt_near_now
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
      AND <is_statement s>
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $k
  WITH s, s AS i, score
  WHERE score <= $felt_far
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.valid_at DESC, s.id, s.version
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// felt_near_then: felt_near_fitting_then

// felt_new_fitting_now: doing_fitting_now, but
    MATCH (s:ConsciousnessNode)
-   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WHERE s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s>
+       AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.valid_at DESC, s.id, s.version

// felt_new_fitting_then: doing_fitting_then, but
    MATCH (s:ConsciousnessNode)
-   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WHERE s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s>
+       AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
    MATCH (s:PastVersion)
-   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WHERE s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s>
+       AND <fits s> AND <is_statement s>
    WITH s, i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.valid_at DESC, s.id, s.version

// felt_new_now
CALL {
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first AND s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND <visible s> AND <fits s> AND <is_statement s>
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  WHERE score <= $felt_far
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.valid_at DESC, s.id, s.version
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// felt_new_then
CALL {
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first AND s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND <visible s> AND <fits s> AND <is_statement s>
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  WHERE score <= $felt_far
  RETURN s, i, score
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:PastVersion)
  WHERE id(s) >= first AND s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND <visible s> AND <fits s> AND <is_statement s>
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  WHERE score <= $felt_far
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.valid_at DESC, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  <past_of j, i, e>
  WHERE <visible p>
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// felt_now: doing_now, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.valid_at DESC, s.id, s.version

// felt_then: doing_fitting_then, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
    WITH s, i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
+   WHERE score <= $felt_far
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.valid_at DESC, s.id, s.version

// given_count
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.resolution_state IN $states AND <visible s> AND (s.unset IS NULL
    OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
    AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
WITH count(s) AS given
RETURN 0 AS c0, given AS c1, null AS c2;

// given_felt
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE <visible s>
WITH s, i, score, place
ORDER BY place
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  <past_of j, i, e>
  WHERE <visible p>
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// given_resolved
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE <visible s>
WITH s, i, score, place
ORDER BY place
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[:HAD]->(p:PastVersion)
  WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
      AND NOT (<visible p>)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  <past_of j, i, e>
  WHERE <visible p>
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m>
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND <visible x>
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND <visible link>
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL AND (j.node_type IN ['Decision', 'Action', 'Learning']
      OR j.node_type = 'Turn' AND j.step IN ['Decision', 'Action', 'Learning'])
      AND NOT (e.relation_type = 'RESOLVED_BY' AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  <past_of j, r, e>
  WHERE <visible p>
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m>
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND <visible x>
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND <visible link>
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE <visible y> AND b.id IS NOT NULL AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  <past_of b, r, y>
  WHERE <visible p>
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR <visible b>
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  <past_of j, y, b, e>
  WHERE <visible p>
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  <records_of j, m, hop, e>
  WHERE <felt m>
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// like_in_energy_fitting_now: doing_fitting_now, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s, i, abs(s.energy - $energy) AS score
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.energy DESC, s.id, s.version

// like_in_energy_fitting_then: doing_fitting_then, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s, i, abs(s.energy - $energy) AS score
    WITH s, i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s, i, abs(s.energy - $energy) AS score
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.energy DESC, s.id, s.version

// like_in_energy_now: doing_now, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s, i, abs(s.energy - $energy) AS score
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.energy DESC, s.id, s.version

// like_in_energy_then: doing_fitting_then, but
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s, i, abs(s.energy - $energy) AS score
    WITH s, i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s, i, abs(s.energy - $energy) AS score
  WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.energy DESC, s.id, s.version

// resolved_alike_fitting_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (<visible p>)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.id, s.version
LIMIT $patterns
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[:HAD]->(p:PastVersion)
  WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
      AND NOT (<visible p>)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE <visible m> AND <fits m>
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND <visible x>
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND <visible j> AND (j.node_type IN ['Decision', 'Action', 'Learning']
      OR j.node_type = 'Turn' AND j.step IN ['Decision', 'Action', 'Learning'])
      AND NOT (e.relation_type = 'RESOLVED_BY' AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE <visible m> AND <fits m>
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND <visible x>
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE <visible y> AND <visible b> AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, 'LINK') + outdegree(b, 'LINK') AS held
  WHERE held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND <visible j> AND j.id <> r.id AND (j.node_type IN ['Decision', 'Action', 'Learning']
      OR j.node_type = 'Turn' AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE <visible m> AND <fits m>
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// resolved_alike_fitting_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s, s AS i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+ }
+ WITH s, i, score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_alike_now: resolved_alike_fitting_now

// resolved_alike_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s, s AS i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+ }
+ WITH s, i, score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_by_goal_fitting_now: resolved_alike_fitting_now, but
    WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, 2.0 AS score
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:ConsciousnessNode)
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   WITH s, s AS i
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $nearest
+   WITH s, i, score
+   WHERE score <= $far
  }
- WITH s, i, score
+ WITH s, i, min(score) AS score
  WITH s, i, score, apart
- ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,

// resolved_by_goal_fitting_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s, s AS i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:ConsciousnessNode)
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   WITH s, s AS i
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $nearest
+   WITH s, i, score
+   WHERE score <= $far
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $nearest
+   WITH s, i, score
+   WHERE score <= $far
+   RETURN s, i, score
+ }
+ WITH s, i, min(score) AS score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_by_goal_now: resolved_alike_fitting_now, but
    WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, 2.0 AS score
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   UNWIND $near AS one
+   MATCH (s:ConsciousnessNode {id: one[0]})
+   WITH s, one
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   MATCH (s)-[:HAS_TRACE]->(t:Trace)
+   WHERE coalesce(t.digest, '') = one[1]
+   WITH s, one[2] AS score
+   WITH s, s AS i, score
+   WHERE score <= $far
  }
- WITH s, i, score
+ WITH s, i, min(score) AS score
  WITH s, i, score, apart
- ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,

// resolved_by_goal_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s, s AS i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   UNWIND $near AS one
+   WITH one[0] AS id, collect(one) AS found
+   MATCH (i:ConsciousnessNode {id: id})
+   WITH i, found
+   <past_of i, found>
+   WITH i, found, collect(p) AS past
+   UNWIND (past + [i]) AS s
+   WITH s, i, found
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score
+   WHERE score IS NOT NULL
+   WITH s, i, score
+   WHERE score <= $far
+   RETURN s, i, score
+ }
+ WITH s, i, min(score) AS score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_by_impact_fitting_now: resolved_alike_fitting_now, but
  WITH s, i, score, apart
- ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,

// resolved_by_impact_fitting_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s, s AS i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+ }
+ WITH s, i, score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_by_impact_now: resolved_alike_fitting_now, but
  WITH s, i, score, apart
- ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,

// resolved_by_impact_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s, s AS i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
+       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
+       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s, i, 2.0 AS score
+   RETURN s, i, score
+ }
+ WITH s, i, score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_by_words_fitting_now: resolved_alike_fitting_now, but
    WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, 2.0 AS score
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
  }
- WITH s, i, score
+ WITH s, i, min(score) AS score
  WITH s, i, score, apart
- ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,

// resolved_by_words_fitting_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s, s AS i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+ }
+ WITH s, i, min(score) AS score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// resolved_by_words_now: resolved_alike_fitting_now, but
    WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, 2.0 AS score
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
  }
- WITH s, i, score
+ WITH s, i, min(score) AS score
  WITH s, i, score, apart
- ORDER BY (2.0 - apart) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,

// resolved_by_words_then: given_resolved, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s, s AS i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+ }
+ WITH s, i, min(score) AS score
+ MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
+ WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND <visible e>
+ WITH s, i, score, count(e) AS ways
  OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
- WITH s, i, score, place
- ORDER BY place
+ WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
+     AND NOT (<visible p>)
+ WITH s, i, score, collect(p) AS once
+ UNWIND (once + [s]) AS f
+ MATCH (f)-[:HAS_TRACE]->(t)
+ WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
+ WHERE apart <= $felt_far
+ WITH s, i, score, apart
+ ORDER BY coalesce(s.discovery_energy,
+     0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     s.id, s.version
+ LIMIT $patterns

// unresolved_by_words_fitting_now: doing_fitting_now, but
    WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
-       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s> AND (s.unset IS NULL
-       OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
-       AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
+       AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
    WITH s, s AS i
-   WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
+   WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
+   WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
+   WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
+       OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
+   UNWIND range(0, size(records) - 1) AS place
+   WITH records[place] AS s, places[place] AS i, 2.0 AS score
  }
- WITH s, i, score
- ORDER BY score DESC, s.id, s.version
+ WITH s, i, min(score) AS score
+ ORDER BY s.energy * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
+     score, s.id, s.version

// unresolved_by_words_fitting_then
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
  WITH s, s AS i
  WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
  WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
  WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
      OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
  UNWIND range(0, size(records) - 1) AS place
  WITH records[place] AS s, places[place] AS i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
  WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
  WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
      OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
  UNWIND range(0, size(records) - 1) AS place
  WITH records[place] AS s, places[place] AS i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, min(score) AS score
ORDER BY s.energy * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    score, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  <past_of j, i, e>
  WHERE <visible p>
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  <records_of j, m, hop, e>
  WHERE <felt m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// unresolved_by_words_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
  WITH s, s AS i
  WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
  WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
  WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
      OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
  UNWIND range(0, size(records) - 1) AS place
  WITH records[place] AS s, places[place] AS i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, min(score) AS score
ORDER BY s.energy * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    score, s.id, s.version
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// unresolved_by_words_then: unresolved_by_words_fitting_then

// unresolved_fitting_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND <visible s> AND <fits s> AND <is_statement s>
  WITH s, s AS i
  WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
  WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
  WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
      OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
  UNWIND range(0, size(records) - 1) AS place
  WITH records[place] AS s, places[place] AS i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
      AND <is_statement s>
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $nearest
  WITH s, i, score
  WHERE score <= $far
  RETURN s, i, score
}
WITH s, i, min(score) AS score
ORDER BY s.energy * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    score, s.id, s.version
LIMIT $limit
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]-(j:ConsciousnessNode)
  WHERE <visible e> AND <visible j>
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE <visible m> AND <fits m> AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// unresolved_fitting_then: unresolved_by_words_fitting_then, but
    WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:ConsciousnessNode)
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   WITH s, s AS i
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $nearest
+   WITH s, i, score
+   WHERE score <= $far
+   RETURN s, i, score
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   WITH s, i
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
+   ORDER BY score, s.id, s.version
+   LIMIT $nearest
+   WITH s, i, score
+   WHERE score <= $far

// unresolved_now: unresolved_by_words_now, but
    RETURN s, i, score
+   UNION ALL
+   UNWIND $near AS one
+   MATCH (s:ConsciousnessNode {id: one[0]})
+   WITH s, one
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   MATCH (s)-[:HAS_TRACE]->(t:Trace)
+   WHERE coalesce(t.digest, '') = one[1]
+   WITH s, one[2] AS score
+   WITH s, s AS i, score
+   WHERE score <= $far
+   RETURN s, i, score

// unresolved_then: unresolved_by_words_fitting_then, but
    WITH records[place] AS s, places[place] AS i, 2.0 AS score
+   RETURN s, i, score
+   UNION ALL
+   UNWIND $near AS one
+   WITH one[0] AS id, collect(one) AS found
+   MATCH (i:ConsciousnessNode {id: id})
+   WITH i, found
+   <past_of i, found>
+   WITH i, found, collect(p) AS past
+   UNWIND (past + [i]) AS s
+   WITH s, i, found
+   WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
+       AND s.energy >= $least_energy AND s.energy <= $most_energy AND <visible s> AND <fits s>
+       AND <is_statement s>
+   MATCH (s)-[:HAS_TRACE]->(t)
+   WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score
+   WHERE score IS NOT NULL
+   WITH s, i, score
+   WHERE score <= $far
