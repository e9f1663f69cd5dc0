// The queries of `substrate.store.feelings`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// felt_lately_now
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8
UNION ALL
MATCH (m:ConsciousnessNode)
WHERE id(m) >= $newest AND id(m) < $until
WITH m
WHERE <visible m> AND m.node_type <> 'Generalisation'
    AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open)
WITH m
ORDER BY m.valid_at DESC, m.id, m.version
LIMIT 64
RETURN 0 AS c0, m.id AS c1, m.valid_at AS c2, m.emotion_vector AS c3, m.energy AS c4, m.goal AS c5,
    m.resolution_state AS c6, m.speaker AS c7, m.unset AS c8;

// felt_lately_then
MATCH (m:ConsciousnessNode)
WHERE id(m) >= $newest AND id(m) < $until
WITH m
WHERE <visible m> AND m.node_type <> 'Generalisation'
    AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open)
WITH m
ORDER BY m.valid_at DESC, m.id, m.version
LIMIT 64
RETURN m.id, m.valid_at, m.emotion_vector, m.energy, m.goal, m.resolution_state, m.speaker, m.unset
UNION ALL
MATCH (m:PastVersion)
WHERE id(m) >= $newest AND id(m) < $until
WITH m
WHERE <visible m> AND m.node_type <> 'Generalisation'
    AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open)
WITH m
ORDER BY m.valid_at DESC, m.id, m.version
LIMIT 64
RETURN m.id, m.valid_at, m.emotion_vector, m.energy, m.goal, m.resolution_state, m.speaker, m.unset;

// links_on_mind_now
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE indegree(s, 'LINK') + outdegree(s, 'LINK') <= 500
MATCH (s)-[e:LINK]-(:ConsciousnessNode)
WHERE <visible e>
WITH DISTINCT e
WITH e, startNode(e) AS i, endNode(e) AS j
ORDER BY e.id
LIMIT 200
RETURN i.id, j.id, <link_columns e>;

// links_on_mind_then: links_on_mind_now, but
  WHERE indegree(s, 'LINK') + outdegree(s, 'LINK') <= 500
- MATCH (s)-[e:LINK]-(:ConsciousnessNode)
+ MATCH (s)-[e:LINK|PAST_LINK]-(:ConsciousnessNode)
