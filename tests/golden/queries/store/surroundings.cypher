// The queries of `substrate.store.surroundings`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// names_of_ends_now
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE <visible m>
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 200);

// names_of_ends_then
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
WITH i, m
WHERE <visible m>
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 200);

// surroundings_now
MATCH (s:ConsciousnessNode)
WHERE s.id IN $shown
WITH s
MATCH (s)-[e:LINK]->(o:ConsciousnessNode)
WHERE <visible e> AND o.name_key IS NOT NULL
WITH DISTINCT o.id AS id, o.name AS name
ORDER BY id
LIMIT 32
RETURN 'node' AS kind, id, name
UNION ALL
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $near
  WITH s
  ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
  MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH e
WHERE <visible e>
WITH e.relation_type AS name, count(e) AS links
ORDER BY links DESC, name
LIMIT 64
RETURN 'type' AS kind, null AS id, name;

// surroundings_then: surroundings_now, but
  WITH s
- MATCH (s)-[e:LINK]->(o:ConsciousnessNode)
+ MATCH (s)-[e:LINK|PAST_LINK]->(o:ConsciousnessNode)
    ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
-   MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
+   MATCH (s)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)

// words_of_memories_now
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE <visible m>
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 1000);

// words_of_memories_then: names_of_ends_then, but
  WHERE <visible m>
- RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 200)
+ RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 1000)
