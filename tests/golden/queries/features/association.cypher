// The queries of `orchestration.features.association.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// anchors_now
CALL db.meta.stats()
YIELD nodeCount
WITH nodeCount - 20000 AS first
MATCH (n:ConsciousnessNode)
WHERE id(n) >= first
WITH avg(n.terms) AS mean
CALL {
  WITH mean
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS m, score
  WITH m, score, mean
  WHERE <visible m> AND <fits m> AND <is_statement m>
  RETURN m, score
  ORDER BY score DESC, m.id, m.version
  LIMIT $pool
}
RETURN mean, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END;

// anchors_then: anchors_now, but
    LIMIT $pool
+   UNION ALL
+   WITH mean
+   CALL db.idx.fulltext.queryNodes('PastVersion', $words)
+   YIELD node AS m, score
+   WITH m, score, mean
+   WHERE <visible m> AND <fits m> AND <is_statement m>
+   RETURN m, score
+   ORDER BY score DESC, m.id, m.version
+   LIMIT $pool

// walk_now
CALL {
  UNWIND $tags AS tag
  MATCH (t:Tag {name: tag[0]})
  WITH t, tag[1] AS weight, tag[2] AS place
  MATCH (t)<-[g:TAGGED|MADE_TAG]-(i:ConsciousnessNode)
  WITH i, sum(weight) AS weight,
      collect(CASE type(g) WHEN 'MADE_TAG' THEN 'm' + toString(place) ELSE null END) AS made
  WHERE NOT i.id IN $held AND <visible i> AND <fits i> AND <is_statement i>
  WITH i, made, weight
  ORDER BY weight DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i, string.join(made, '|') AS way
  UNION ALL
  MATCH (a:ConsciousnessNode)
  WHERE a.id IN $from
  WITH a, collect([null]) AS ways
  WITH a, ways, indegree(a, 'LINK') + outdegree(a, 'LINK') AS held
  WHERE held < 64
  UNWIND ways AS way
  WITH a
  MATCH (a)-[e:LINK]-(b:ConsciousnessNode)
  WHERE <visible e>
  WITH DISTINCT a, b
  <uncrowded_now b, a, 64>
  RETURN b AS i, '1' + a.id AS way
  UNION ALL
  MATCH (a:ConsciousnessNode)
  WHERE a.id IN $from
  WITH a, collect([null]) AS ways
  WITH a, ways, indegree(a, 'LINK') + outdegree(a, 'LINK') AS held
  WHERE held < 64
  UNWIND ways AS way
  WITH a
  MATCH (a)-[e:LINK]-(b:ConsciousnessNode)
  WHERE <visible e>
  WITH DISTINCT a, b
  <uncrowded_now b, a, 64>
  MATCH (b)-[e:LINK]-(c:ConsciousnessNode)
  WHERE <visible e> AND c.id <> a.id
  WITH DISTINCT a, c
  <uncrowded_now c, a, 64>
  RETURN c AS i, '2' + a.id AS way
}
WITH i, string.join(collect(DISTINCT way), '|') AS ways
WITH i AS m, ways
WHERE <visible m> AND <fits m>
RETURN ways, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END
ORDER BY m.id, m.version;

// walk_then
CALL {
  UNWIND $tags AS tag
  MATCH (t:Tag {name: tag[0]})
  WITH t, tag[1] AS weight
  MATCH (t)<-[:TAGGED]-(i:ConsciousnessNode)
  WITH i, sum(weight) AS weight
  WHERE NOT i.id IN $held
  WITH i, weight
  ORDER BY weight DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i, null AS way
  UNION ALL
  MATCH (a:ConsciousnessNode)
  WHERE a.id IN $from
  WITH a, collect([null]) AS ways
  WITH a, ways, indegree(a, ['LINK', 'PAST_LINK']) + outdegree(a, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (a)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH a, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH a
  MATCH (a)-[e:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE <visible e>
  WITH DISTINCT a, b
  <uncrowded_then b, a, 64>
  RETURN b AS i, '1' + a.id AS way
  UNION ALL
  MATCH (a:ConsciousnessNode)
  WHERE a.id IN $from
  WITH a, collect([null]) AS ways
  WITH a, ways, indegree(a, ['LINK', 'PAST_LINK']) + outdegree(a, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (a)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND <visible link>
  WITH a, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH a
  MATCH (a)-[e:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE <visible e>
  WITH DISTINCT a, b
  <uncrowded_then b, a, 64>
  MATCH (b)-[e:LINK|PAST_LINK]-(c:ConsciousnessNode)
  WHERE <visible e> AND c.id <> a.id
  WITH DISTINCT a, c
  <uncrowded_then c, a, 64>
  RETURN c AS i, '2' + a.id AS way
  UNION ALL
  MATCH (p:PastVersion)
  WHERE <visible p> AND <fits p> AND <is_statement p>
      AND (any(t IN $quoted_tags WHERE coalesce(p.tags, '') CONTAINS t)
      OR any(t IN $quoted_buckets WHERE coalesce(p.buckets, '') CONTAINS t))
  WITH p
  ORDER BY p.valid_at DESC, p.id, p.version
  LIMIT $pool
  MATCH (i:ConsciousnessNode)-[:HAD]->(p)
  RETURN i, null AS way
}
WITH i, string.join(collect(DISTINCT way), '|') AS ways
<records_of i, m, ways>
WHERE <fits m>
RETURN ways, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END
ORDER BY m.id, m.version;
