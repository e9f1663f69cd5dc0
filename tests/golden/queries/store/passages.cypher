// The queries of `substrate.store.passages`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// add_passages
<SHIFT>
MATCH (n:ConsciousnessNode {id: $memory_id})
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.passages = $digest
WITH n, count(p) AS past
WHERE n.passages = $digest OR past > 0
UNWIND $rows AS r
OPTIONAL MATCH (q:Passage {handle: r.handle})
WITH r, q
WHERE q IS NULL
CREATE (p:Passage {handle: r.handle, memory_id: $memory_id, digest: $digest, start: r.start, end: r.end,
    text: r.text, search_text: r.search_text})-[:HAS_TRACE]->(:PassageTrace {embedding: vecf32(r.embedding)})
RETURN count(p);

// erase_passages
<SHIFT>
MATCH (q:Passage)
WHERE q.memory_id IN $ids
WITH q
LIMIT $rows
OPTIONAL MATCH (q)-[:HAS_TRACE|HAS_TRACE_B]->(t)
WITH collect(DISTINCT q) AS passages, collect(DISTINCT t) AS traces
FOREACH (t IN traces |
  DELETE t
)
FOREACH (q IN passages |
  DELETE q
)
RETURN size(passages), size(traces);

// erase_stray_passages
<SHIFT>
MATCH (q:Passage {memory_id: $memory_id})
OPTIONAL MATCH (n:ConsciousnessNode {id: q.memory_id})
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.passages = q.digest
WITH q, n, count(p) AS past
WHERE n IS NULL OR (past = 0 AND coalesce(n.passages, -1) <> q.digest)
WITH q
LIMIT $rows
OPTIONAL MATCH (q)-[:HAS_TRACE|HAS_TRACE_B]->(t)
WITH collect(DISTINCT q) AS passages, collect(DISTINCT t) AS traces
FOREACH (t IN traces |
  DELETE t
)
FOREACH (q IN passages |
  DELETE q
)
RETURN size(passages);

// last_passage
MATCH (q:Passage)
WHERE id(q) > $after
WITH q
LIMIT $rows
RETURN max(id(q));

// long_texts
MATCH (n:ConsciousnessNode)
WHERE id(n) IN $places AND n.expired_at = $open
    AND (n.passages IS NOT NULL OR size(n.description) >= $longest_short)
OPTIONAL MATCH (q:Passage {memory_id: n.id})
WHERE q.digest = n.passages
WITH n, count(q) AS stored
RETURN n.id, n.version, n.passages, stored, n.description;

// mark_long_text
<SHIFT>
MATCH (n:ConsciousnessNode {id: $memory_id})
WHERE n.version = $seen AND n.expired_at = $open
SET n.passages = $digest
RETURN n.version;

// passages_now
CALL {
  UNWIND $near AS one
  MATCH (q:Passage {handle: one[1]})
  RETURN q, one[2] AS score, 0.0 AS words
  UNION ALL
  CALL db.idx.fulltext.queryNodes('Passage', $words)
  YIELD node AS q, score AS words
  WITH q, words
  ORDER BY words DESC, q.handle
  LIMIT 120
  MATCH (q)-[:HAS_TRACE]->(t)
  RETURN q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score, words
}
WITH q, min(score) AS score, max(words) AS words
MATCH (s:ConsciousnessNode {id: q.memory_id})
WHERE s.passages = q.digest AND <visible s> AND <felt s> AND <is_evidence s>
WITH s, q, score, words
ORDER BY score, q.start
WITH s, min(score) AS score, collect([q, score, words]) AS near,
    collect(CASE WHEN words > 0.0 THEN [q, score, words] ELSE null END) AS worded
WITH s, score, near[..12] + worded[..12] AS chosen
ORDER BY score, s.id, s.version
LIMIT $limit
UNWIND chosen AS one
WITH s, score, one[0] AS q, one[1] AS distance, one[2] AS words
WITH s, score, toString(q.start) + '' + toString(q.end) + '' + toString(distance) + '' + q.text AS place
WITH s, score, string.join(collect(DISTINCT place), '') AS places, null AS e
ORDER BY score, s.id, s.version
RETURN 0 AS hop, score, places, null AS target, <link_columns e>, <found_columns s>;

// passages_scan_now: passages_now, but
  CALL {
-   UNWIND $near AS one
-   MATCH (q:Passage {handle: one[1]})
-   RETURN q, one[2] AS score, 0.0 AS words
+   MATCH (q:Passage)
+   WITH q
+   MATCH (q)-[:HAS_TRACE]->(t:PassageTrace)
+   WITH q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
+   WHERE score IS NOT NULL
+   RETURN q, score, 0.0 AS words
+   ORDER BY score
+   LIMIT $k

// passages_scan_then
CALL {
  MATCH (q:Passage)
  WITH q
  MATCH (q)-[:HAS_TRACE]->(t:PassageTrace)
  WITH q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
  WHERE score IS NOT NULL
  RETURN q, score, 0.0 AS words
  ORDER BY score
  LIMIT $k
  UNION ALL
  CALL db.idx.fulltext.queryNodes('Passage', $words)
  YIELD node AS q, score AS words
  WITH q, words
  ORDER BY words DESC, q.handle
  LIMIT 120
  MATCH (q)-[:HAS_TRACE]->(t)
  RETURN q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score, words
}
WITH q, min(score) AS score, max(words) AS words
MATCH (i:ConsciousnessNode {id: q.memory_id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.passages = q.digest AND <visible p> AND <felt p> AND <is_evidence p>
WITH q, score, words, i, collect(p) AS past
UNWIND (past + CASE WHEN i.passages = q.digest AND <visible i> AND <felt i>
    AND <is_evidence i> THEN [i] ELSE [] END) AS s
WITH s, q, score, words
ORDER BY score, q.start
WITH s, min(score) AS score, collect([q, score, words]) AS near,
    collect(CASE WHEN words > 0.0 THEN [q, score, words] ELSE null END) AS worded
WITH s, score, near[..12] + worded[..12] AS chosen
ORDER BY score, s.id, s.version
LIMIT $limit
UNWIND chosen AS one
WITH s, score, one[0] AS q, one[1] AS distance, one[2] AS words
WITH s, score, toString(q.start) + '' + toString(q.end) + '' + toString(distance) + '' + q.text AS place
WITH s, score, string.join(collect(DISTINCT place), '') AS places, null AS e
ORDER BY score, s.id, s.version
RETURN 0 AS hop, score, places, null AS target, <link_columns e>, <found_columns s>;

// passages_then: passages_now, but
  WITH q, min(score) AS score, max(words) AS words
- MATCH (s:ConsciousnessNode {id: q.memory_id})
- WHERE s.passages = q.digest AND <visible s> AND <felt s> AND <is_evidence s>
+ MATCH (i:ConsciousnessNode {id: q.memory_id})
+ OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
+ WHERE p.passages = q.digest AND <visible p> AND <felt p> AND <is_evidence p>
+ WITH q, score, words, i, collect(p) AS past
+ UNWIND (past + CASE WHEN i.passages = q.digest AND <visible i> AND <felt i>
+     AND <is_evidence i> THEN [i] ELSE [] END) AS s

// passages_worded_now: passages_now, but
  CALL {
-   UNWIND $near AS one
-   MATCH (q:Passage {handle: one[1]})
-   RETURN q, one[2] AS score, 0.0 AS words
-   UNION ALL
    YIELD node AS q, score AS words
-   WITH q, words
+   RETURN q, 1.0 AS score, words
    LIMIT 120
-   MATCH (q)-[:HAS_TRACE]->(t)
-   RETURN q, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score, words

// passages_worded_then
CALL {
  CALL db.idx.fulltext.queryNodes('Passage', $words)
  YIELD node AS q, score AS words
  RETURN q, 1.0 AS score, words
  ORDER BY words DESC, q.handle
  LIMIT 120
}
WITH q, min(score) AS score, max(words) AS words
MATCH (i:ConsciousnessNode {id: q.memory_id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.passages = q.digest AND <visible p> AND <felt p> AND <is_evidence p>
WITH q, score, words, i, collect(p) AS past
UNWIND (past + CASE WHEN i.passages = q.digest AND <visible i> AND <felt i>
    AND <is_evidence i> THEN [i] ELSE [] END) AS s
WITH s, q, score, words
ORDER BY score, q.start
WITH s, min(score) AS score, collect([q, score, words]) AS near,
    collect(CASE WHEN words > 0.0 THEN [q, score, words] ELSE null END) AS worded
WITH s, score, near[..12] + worded[..12] AS chosen
ORDER BY score, s.id, s.version
LIMIT $limit
UNWIND chosen AS one
WITH s, score, one[0] AS q, one[1] AS distance, one[2] AS words
WITH s, score, toString(q.start) + '' + toString(q.end) + '' + toString(distance) + '' + q.text AS place
WITH s, score, string.join(collect(DISTINCT place), '') AS places, null AS e
ORDER BY score, s.id, s.version
RETURN 0 AS hop, score, places, null AS target, <link_columns e>, <found_columns s>;

// stored_passages
MATCH (q:Passage {memory_id: $memory_id})
WHERE q.digest = $digest AND outdegree(q, 'HAS_TRACE') > 0
RETURN q.start;

// stray_passages
MATCH (q:Passage)
WHERE id(q) > $after
WITH q
LIMIT $rows
WITH collect(q) AS page, max(id(q)) AS last
UNWIND page AS q
OPTIONAL MATCH (n:ConsciousnessNode {id: q.memory_id})
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.passages = q.digest
WITH last, q, n, count(p) AS past
WHERE n IS NULL OR (past = 0 AND coalesce(n.passages, -1) <> q.digest)
RETURN last, q.memory_id, count(q);
