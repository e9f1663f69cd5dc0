// The queries of `substrate.store.search`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// begun_near_now
CALL {
  UNWIND $periods AS period
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND <visible m> AND <felt m> AND <is_evidence m>
  WITH DISTINCT m
  LIMIT 2000
  RETURN m
}
WITH m
MATCH (m)-[:HAS_TRACE]->(t)
WITH m, vec.cosineDistance(t.embedding, vecf32($embedding)) AS distance
WITH m, min(distance) AS score
WHERE score IS NOT NULL
WITH m, score
ORDER BY score, m.id, m.version
LIMIT $limit
WITH m, score, null AS e
RETURN 0 AS hop, score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// begun_near_then: begun_near_now, but
    MATCH (m:ConsciousnessNode)
+   WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND <visible m> AND <felt m> AND <is_evidence m>
+   WITH DISTINCT m
+   LIMIT 2000
+   RETURN m
+   UNION ALL
+   UNWIND $periods AS period
+   MATCH (m:PastVersion)

// begun_now
CALL {
  UNWIND $periods AS period
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND <visible m> AND <felt m> AND <is_evidence m>
  WITH DISTINCT m
  LIMIT 2000
  RETURN m
}
WITH m, null AS score
ORDER BY m.valid_at, m.id, m.version
LIMIT $limit
WITH m, score, null AS e
RETURN 0 AS hop, score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// begun_then: begun_now, but
    MATCH (m:ConsciousnessNode)
+   WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND <visible m> AND <felt m> AND <is_evidence m>
+   WITH DISTINCT m
+   LIMIT 2000
+   RETURN m
+   UNION ALL
+   UNWIND $periods AS period
+   MATCH (m:PastVersion)

// given_alone
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
WITH s AS m, score, null AS e
RETURN 0 AS hop, score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// given_nearest
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
MATCH (s)-[:HAS_TRACE]->(t)
WITH s, i, place, min(vec.cosineDistance(t.embedding, vecf32($embedding))) AS score
WHERE score IS NOT NULL
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
  MATCH (i)-[e:LINK|PAST_LINK]-(j)
  WHERE <visible e> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  <past_of j, i, e>
  WHERE <visible p> AND <felt p> AND <is_evidence p>
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN <visible j> AND <felt j> AND <is_evidence j> THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$first_hop] AS links, collect(records)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 1 AS hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities[..$far] AS i
  WITH DISTINCT i
  WITH i, collect([null]) AS ways
  WITH i, ways, indegree(i, ['LINK', 'PAST_LINK']) + outdegree(i, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (i)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE <visible e> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  <past_of b, i, e>
  WHERE <visible p> AND <felt p> AND <is_evidence p>
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN <visible b> AND <felt b> AND <is_evidence b> THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE <visible e> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  <past_of j, i, b, e>
  WHERE <visible p> AND <felt p> AND <is_evidence p>
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN <visible j> AND <felt j>
      AND <is_evidence j> THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// given_reached: given_nearest, but
  WHERE <visible s>
- MATCH (s)-[:HAS_TRACE]->(t)
- WITH s, i, place, min(vec.cosineDistance(t.embedding, vecf32($embedding))) AS score
- WHERE score IS NOT NULL

// graph_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $entities
  WITH s
  WHERE <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, 0.0 AS score
  ORDER BY s.id
  LIMIT 8
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE NOT s.id IN $entities AND <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id
  LIMIT $limit
}
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// graph_then
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $entities
  WITH i
  WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE <visible p>
  WITH i, collect(p) AS past
  UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS s
  WITH i, s
  WHERE <felt s> AND <is_evidence s>
  RETURN s, i, 0.0 AS score
  ORDER BY s.id, s.version
  LIMIT 64
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE NOT s.id IN $entities AND <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, s AS i, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id
  LIMIT $limit
  UNION ALL
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS s, score
  WITH s, score
  LIMIT 20000
  WITH s, score
  WHERE NOT s.id IN $entities AND <visible s> AND <felt s> AND <is_evidence s>
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  RETURN s, i, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id,
      s.version
  LIMIT $limit
  UNION ALL
  UNWIND $instruction_words AS words
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', words)
  YIELD node AS s, score
  WITH s, score
  WHERE toLower(s.speaker) IN $askers AND <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, s AS i, score
  ORDER BY score DESC, s.id
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  CALL db.idx.fulltext.queryNodes('PastVersion', words)
  YIELD node AS s, score
  WITH s, score
  WHERE toLower(s.speaker) IN $askers AND <visible s> AND <felt s> AND <is_evidence s>
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  RETURN s, i, score
  ORDER BY score DESC, s.id, s.version
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, s AS i, 0.0 AS score
  ORDER BY s.valid_at DESC, s.id
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s> AND <felt s> AND <is_evidence s>
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  RETURN s, i, 0.0 AS score
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 40
}
WITH collect(s) AS starts, collect(i) AS identities, collect(score) AS scores
CALL {
  WITH starts, scores
  UNWIND range(0, size(starts) - 1) AS place
  RETURN 0 AS hop, scores[place] AS score, null AS e, starts[place] AS m
  UNION ALL
  WITH identities
  UNWIND identities[..$expanded] AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]-(j)
  WHERE <visible e> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  <past_of j, i, e>
  WHERE <visible p> AND <felt p> AND <is_evidence p>
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN <visible j> AND <felt j> AND <is_evidence j> THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$first_hop] AS links, collect(records)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 1 AS hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities[..$far] AS i
  WITH DISTINCT i
  WITH i, collect([null]) AS ways
  WITH i, ways, indegree(i, ['LINK', 'PAST_LINK']) + outdegree(i, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (i)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE <visible e> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  <past_of b, i, e>
  WHERE <visible p> AND <felt p> AND <is_evidence p>
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN <visible b> AND <felt b> AND <is_evidence b> THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE <visible e> AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  <past_of j, i, b, e>
  WHERE <visible p> AND <felt p> AND <is_evidence p>
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN <visible j> AND <felt j>
      AND <is_evidence j> THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, <link_columns e>, <found_columns m>;

// instructed_now
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $entities
  WITH s
  WHERE <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, 0.0 AS score
  ORDER BY s.id
  LIMIT 8
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE NOT s.id IN $entities AND <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id
  LIMIT $limit
  UNION ALL
  UNWIND $instruction_words AS words
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', words)
  YIELD node AS s, score
  WITH s, score
  WHERE toLower(s.speaker) IN $askers AND <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, score
  ORDER BY score DESC, s.id
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE <visible s> AND <felt s> AND <is_evidence s>
  RETURN s, 0.0 AS score
  ORDER BY s.valid_at DESC, s.id
  LIMIT 40
}
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// members_now
MATCH (g:Tag {name: $label})
WITH g
MATCH (s:ConsciousnessNode)-[:TAGGED]->(g)
WITH s
WHERE <visible s> AND <felt s> AND <is_evidence s>
WITH s
MATCH (s)-[:HAS_TRACE]->(t:Trace)
WITH s, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
WHERE score IS NOT NULL
WITH s, score
ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// pools_now
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY m.valid_at DESC, m.id, m.version
  LIMIT $recent
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS m, score
  WITH m, score
  WHERE m.valid_at < $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END DESC, score DESC, m.id, m.version
  LIMIT $matching
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WITH max(id(m)) + 1 AS ids
  UNWIND range(0, size($lots) - 1) AS lot
  WITH lot, toInteger($lots[lot] * ids) AS place
  MATCH (m:ConsciousnessNode)
  WHERE id(m) = place
  WITH m, min(lot) AS lot
  WHERE m.valid_at < $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY lot
  LIMIT $chance
}
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// pools_then
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY m.valid_at DESC, m.id, m.version
  LIMIT $recent
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.valid_at >= $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY m.valid_at DESC, m.id, m.version
  LIMIT $recent
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS m, score
  WITH m, score
  WHERE m.valid_at < $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END DESC, score DESC, m.id, m.version
  LIMIT $matching
  UNION ALL
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS m, score
  WITH m, score
  WHERE m.valid_at < $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END DESC, score DESC, m.id, m.version
  LIMIT $matching
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WITH max(id(m)) + 1 AS ids
  UNWIND range(0, size($lots) - 1) AS lot
  WITH lot, toInteger($lots[lot] * ids) AS place
  MATCH (m:ConsciousnessNode)
  WHERE id(m) = place
  WITH m, min(lot) AS lot
  WHERE m.valid_at < $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY lot
  LIMIT $chance
  UNION ALL
  MATCH (m:PastVersion)
  WITH max(id(m)) + 1 AS ids
  UNWIND range(0, size($lots) - 1) AS lot
  WITH lot, toInteger($lots[lot] * ids) AS place
  MATCH (m:PastVersion)
  WHERE id(m) = place
  WITH m, min(lot) AS lot
  WHERE m.valid_at < $recent_from AND <visible m> AND <felt m> AND <is_evidence m>
  RETURN m
  ORDER BY lot
  LIMIT $chance
}
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, <link_columns e>, <found_columns m>;

// scan_now: members_now, but
- MATCH (g:Tag {name: $label})
- WITH g
- MATCH (s:ConsciousnessNode)-[:TAGGED]->(g)
- WITH s
+ MATCH (s:ConsciousnessNode)

// scan_then: given_nearest, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
- OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
+ CALL {
+   MATCH (s:ConsciousnessNode)
+   WHERE <visible s> AND <felt s> AND <is_evidence s>
+   RETURN s, s AS i
+   UNION ALL
+   MATCH (s:PastVersion)
+   WHERE <visible s> AND <felt s> AND <is_evidence s>
+   WITH s
+   MATCH (i:ConsciousnessNode)-[:HAD]->(s)
+   RETURN s, i
+ }
+ WITH s, i
  MATCH (s)-[:HAS_TRACE]->(t)
- WITH s, i, place, min(vec.cosineDistance(t.embedding, vecf32($embedding))) AS score
+ WITH s, i, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
  WHERE score IS NOT NULL
- WITH s, i, score, place
- ORDER BY place
+ WITH s, i, score
+ ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id,
+     s.version
+ LIMIT $limit

// vector_now
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE <felt s> AND <is_evidence s>
RETURN s.id;

// vector_then: given_nearest, but
- UNWIND range(0, size($given) - 1) AS place
- WITH place, $given[place] AS one
- MATCH (i:ConsciousnessNode {id: one[0]})
- WITH place, one, i
- OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
- WHERE p.version = one[1]
- WITH place, one, i, collect(p) AS past
- UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
- WITH s, i, place, coalesce(one[2], 0.0) AS score
- WHERE <visible s>
+ UNWIND $near AS one
+ WITH one[0] AS id, collect(one) AS found
+ MATCH (i:ConsciousnessNode {id: id})
+ WITH i, found
+ <past_of i, found>
+ WITH i, found, collect(p) AS past
+ UNWIND (past + [i]) AS s
+ WITH s, i, found
+ WHERE <visible s> AND <felt s> AND <is_evidence s>
  MATCH (s)-[:HAS_TRACE]->(t)
- WITH s, i, place, min(vec.cosineDistance(t.embedding, vecf32($embedding))) AS score
+ WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score
  WHERE score IS NOT NULL
- WITH s, i, score, place
- ORDER BY place
+ WITH s, i, score
+ ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id,
+     s.version
+ LIMIT $limit
