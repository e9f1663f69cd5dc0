// The queries of `substrate.store.column_reading`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// changed_lately
MATCH (m:SubstrateMeta {key: 'stamp'})
UNWIND m.lately AS note
RETURN note;

// columns_next
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first
RETURN id(s)
LIMIT 1;

// columns_page
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first AND id(s) < $until
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WITH collect(toString(held) + ' ' + s.id) AS held
RETURN 'held' AS c0, string.join(held, '') AS c1, null AS c2, null AS c3, null AS c4, null AS c5, null AS c6,
    null AS c7, null AS c8, null AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first AND id(s) < $until
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WHERE held < 256
WITH s
MATCH (s)-[e:LINK]-(m)
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
RETURN 'link' AS c0, s.id AS c1, m.id AS c2, e.relation_type AS c3,
    CASE WHEN e.id = startNode(e).id + '|' + e.relation_type + '|' + endNode(e).id THEN null ELSE e.id END AS c4,
    e.version AS c5, e.created_at AS c6, e.valid_at AS c7, e.invalid_at AS c8, CASE WHEN (e.unset IS NULL
    OR NOT e.unset STARTS WITH 'goal,') THEN 1 ELSE 0 END + CASE WHEN startNode(e).id = s.id THEN 2 ELSE 0 END + CASE WHEN e.expired_at = 9007199254740991 THEN 4 ELSE 0 END AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first AND id(s) < $until
WITH s
RETURN 'memory' AS c0, s.id AS c1, s.version AS c2, s.created_at AS c3, s.valid_at AS c4, s.invalid_at AS c5,
    CASE WHEN s.energy >= 0.0 THEN s.energy ELSE -1.0 END AS c6,
    CASE WHEN s.confidence >= 0.0 THEN s.confidence ELSE -1.0 END AS c7,
    CASE WHEN s.expired_at = 9007199254740991 THEN 1 ELSE 0 END + CASE WHEN s.node_type <> 'Generalisation' THEN 2 ELSE 0 END + CASE WHEN <tells s> THEN 4 ELSE 0 END + CASE WHEN <is_statement s> THEN 8 ELSE 0 END AS c8,
    toLower(coalesce(s.speaker, '')) AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first AND id(s) < $until
WITH s
MATCH (s)-[:HAS_TRACE]->(t)
WHERE t:Trace
RETURN 'key' AS c0, s.id AS c1, t.digest AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9;

// link_records_page
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first AND id(s) < $until
WITH s
MATCH (s)-[e:LINK]->(m)
RETURN s.id, m.id, <link_columns e>;

// links_around
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WITH collect(toString(held) + ' ' + s.id) AS held
RETURN 'held' AS c0, string.join(held, '') AS c1, null AS c2, null AS c3, null AS c4, null AS c5, null AS c6,
    null AS c7, null AS c8, null AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WHERE held < 256
WITH s
MATCH (s)-[e:LINK]-(m)
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
RETURN 'link' AS c0, s.id AS c1, m.id AS c2, e.relation_type AS c3,
    CASE WHEN e.id = startNode(e).id + '|' + e.relation_type + '|' + endNode(e).id THEN null ELSE e.id END AS c4,
    e.version AS c5, e.created_at AS c6, e.valid_at AS c7, e.invalid_at AS c8, CASE WHEN (e.unset IS NULL
    OR NOT e.unset STARTS WITH 'goal,') THEN 1 ELSE 0 END + CASE WHEN startNode(e).id = s.id THEN 2 ELSE 0 END + CASE WHEN e.expired_at = 9007199254740991 THEN 4 ELSE 0 END AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
RETURN 'memory' AS c0, s.id AS c1, s.version AS c2, s.created_at AS c3, s.valid_at AS c4, s.invalid_at AS c5,
    CASE WHEN s.energy >= 0.0 THEN s.energy ELSE -1.0 END AS c6,
    CASE WHEN s.confidence >= 0.0 THEN s.confidence ELSE -1.0 END AS c7,
    CASE WHEN s.expired_at = 9007199254740991 THEN 1 ELSE 0 END + CASE WHEN s.node_type <> 'Generalisation' THEN 2 ELSE 0 END + CASE WHEN <tells s> THEN 4 ELSE 0 END + CASE WHEN <is_statement s> THEN 8 ELSE 0 END AS c8,
    toLower(coalesce(s.speaker, '')) AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s , indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WHERE held < 256
WITH s
MATCH (s)-[e:LINK]-(m)
WITH DISTINCT m
RETURN 'memory' AS c0, m.id AS c1, m.version AS c2, m.created_at AS c3, m.valid_at AS c4, m.invalid_at AS c5,
    CASE WHEN m.energy >= 0.0 THEN m.energy ELSE -1.0 END AS c6,
    CASE WHEN m.confidence >= 0.0 THEN m.confidence ELSE -1.0 END AS c7,
    CASE WHEN m.expired_at = 9007199254740991 THEN 1 ELSE 0 END + CASE WHEN m.node_type <> 'Generalisation' THEN 2 ELSE 0 END + CASE WHEN <tells m> THEN 4 ELSE 0 END + CASE WHEN <is_statement m> THEN 8 ELSE 0 END AS c8,
    toLower(coalesce(m.speaker, '')) AS c9;

// memories_around
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
RETURN 'memory' AS c0, s.id AS c1, s.version AS c2, s.created_at AS c3, s.valid_at AS c4, s.invalid_at AS c5,
    CASE WHEN s.energy >= 0.0 THEN s.energy ELSE -1.0 END AS c6,
    CASE WHEN s.confidence >= 0.0 THEN s.confidence ELSE -1.0 END AS c7,
    CASE WHEN s.expired_at = 9007199254740991 THEN 1 ELSE 0 END + CASE WHEN s.node_type <> 'Generalisation' THEN 2 ELSE 0 END + CASE WHEN <tells s> THEN 4 ELSE 0 END + CASE WHEN <is_statement s> THEN 8 ELSE 0 END AS c8,
    toLower(coalesce(s.speaker, '')) AS c9;

// records_page
MATCH (s:ConsciousnessNode)
WHERE id(s) >= $first AND id(s) < $until
WITH s
RETURN <found_columns s>;

// strongest_all_links_around
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
MATCH (s)-[e:LINK]-(m)
WHERE <lasting e> AND <lasting m>
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
LIMIT 24
RETURN 'link' AS c0, s.id AS c1, m.id AS c2, e.relation_type AS c3,
    CASE WHEN e.id = startNode(e).id + '|' + e.relation_type + '|' + endNode(e).id THEN null ELSE e.id END AS c4,
    e.version AS c5, e.created_at AS c6, e.valid_at AS c7, e.invalid_at AS c8, CASE WHEN (e.unset IS NULL
    OR NOT e.unset STARTS WITH 'goal,') THEN 1 ELSE 0 END + CASE WHEN startNode(e).id = s.id THEN 2 ELSE 0 END + CASE WHEN e.expired_at = 9007199254740991 THEN 4 ELSE 0 END AS c9
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
MATCH (s)-[e:LINK]-(m)
WHERE <lasting e> AND <lasting m>
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
LIMIT 24
WITH DISTINCT m
RETURN 'memory' AS c0, m.id AS c1, m.version AS c2, m.created_at AS c3, m.valid_at AS c4, m.invalid_at AS c5,
    CASE WHEN m.energy >= 0.0 THEN m.energy ELSE -1.0 END AS c6,
    CASE WHEN m.confidence >= 0.0 THEN m.confidence ELSE -1.0 END AS c7,
    CASE WHEN m.expired_at = 9007199254740991 THEN 1 ELSE 0 END + CASE WHEN m.node_type <> 'Generalisation' THEN 2 ELSE 0 END + CASE WHEN <tells m> THEN 4 ELSE 0 END + CASE WHEN <is_statement m> THEN 8 ELSE 0 END AS c8,
    toLower(coalesce(m.speaker, '')) AS c9;

// strongest_links_around: strongest_all_links_around, but
  MATCH (s)-[e:LINK]-(m)
- WHERE <lasting e> AND <lasting m>
+ WHERE <lasting e> AND <lasting m> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND <felt m>
+     AND <is_evidence m>
  MATCH (s)-[e:LINK]-(m)
- WHERE <lasting e> AND <lasting m>
+ WHERE <lasting e> AND <lasting m> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND <felt m>
+     AND <is_evidence m>

// vector_keys_now: memories_around, but
      toLower(coalesce(s.speaker, '')) AS c9
+ UNION ALL
+ MATCH (s:ConsciousnessNode)
+ WHERE s.id IN $ids
+ WITH s
+ MATCH (s)-[:HAS_TRACE]->(t)
+ WHERE t:Trace
+ RETURN 'key' AS c0, s.id AS c1, t.digest AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
+     null AS c8, null AS c9
