// The queries of `substrate.store.erasure`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// erase_authors
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND ([n] + past) AS record
RETURN DISTINCT record.author;

// erase_authors_of_episode: erase_authors, but
  MATCH (n:ConsciousnessNode)
- WHERE n.id IN $ids
+ WHERE n.episode_id IN $ids

// erase_bare
MATCH (g:Tag)
WHERE indegree(g, ['TAGGED', 'MADE_TAG']) = 0
RETURN g.name;

// erase_bare_tags
MATCH (g:Tag)
WHERE g.name IN $names AND indegree(g, ['TAGGED', 'MADE_TAG']) = 0
WITH collect(g) AS gone
FOREACH (g IN gone |
  DELETE g
)
RETURN size(gone);

// erase_holding_consciousnessnode
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held;

// erase_holding_pastversion: erase_holding_consciousnessnode, but
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
    WITH word
-   CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)

// erase_link_authors_of_episode
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.episode_id IN $ids
WITH n, e
RETURN max(id(n)), collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE coalesce(e.author, '') END);

// erase_links_of
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]-(m)
WITH DISTINCT e
LIMIT $rows
RETURN DISTINCT e.id;

// erase_links_of_episode: erase_links_of, but
  WITH n
- MATCH (n)-[e:LINK|PAST_LINK]-(m)
+ MATCH (n)-[e:LINK|PAST_LINK]->(m)
+ WHERE e.episode_id = $episode

// erase_member_links_of
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.relation_type = 'GENERALISES'
WITH collect(DISTINCT e) AS found
RETURN [e IN found | e.id], size([e IN found WHERE type(e) = 'LINK']);

// erase_memories
<SHIFT>
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
WHERE outdegree(n, 'HAD') = 0
OPTIONAL MATCH (n)-[:HAS_TRACE|HAS_TRACE_B]->(t)
WITH collect(DISTINCT n) AS memories, collect(DISTINCT t) AS traces
OPTIONAL MATCH (q:Passage)
WHERE q.memory_id IN $ids
OPTIONAL MATCH (q)-[:HAS_TRACE|HAS_TRACE_B]->(qt)
WITH memories, traces, collect(DISTINCT q) AS passages, collect(DISTINCT qt) AS parts
FOREACH (t IN parts |
  DELETE t
)
FOREACH (q IN passages |
  DELETE q
)
FOREACH (n IN memories |
  DELETE n
)
FOREACH (t IN traces |
  DELETE t
)
RETURN size(memories), size(traces) + size(parts), size(passages);

// erase_names_of_nothing
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN id(n), n.id, NOT <tells n>
    AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0;

// erase_newest_texts
CALL db.meta.stats()
YIELD nodeCount
WITH nodeCount - 5000 AS first
MATCH (n:ConsciousnessNode)
WHERE id(n) >= first AND n.expired_at = $open
WITH n
ORDER BY id(n) DESC
LIMIT $rows
RETURN n.id, left(coalesce(n.description, n.name), $characters);

// erase_of_episode
MATCH (n:ConsciousnessNode)
WHERE n.episode_id = $episode
WITH n
LIMIT $rows
RETURN n.id;

// erase_other_links_of: erase_links_of, but
  MATCH (n)-[e:LINK|PAST_LINK]-(m)
+ WHERE e.relation_type <> 'GENERALISES' OR NOT startNode(e).id IN $ids

// erase_past_tags
MATCH (p:PastVersion)
WHERE id(p) > $after
WITH p
LIMIT $rows
RETURN max(id(p)), p.tags, p.buckets;

// erase_present
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
RETURN n.id;

// erase_records
<SHIFT>
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:HAD]->(p:PastVersion)
WITH p
LIMIT $rows
OPTIONAL MATCH (p)-[:HAS_TRACE|HAS_TRACE_B]->(t)
WITH collect(DISTINCT p) AS records, collect(DISTINCT t) AS traces
FOREACH (p IN records |
  DELETE p
)
FOREACH (t IN traces |
  DELETE t
)
RETURN size(records), size(traces);

// erase_rest_of_episode
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.episode_id = $episode
WITH n, collect(DISTINCT e.id) AS links
RETURN id(n), n.id, size(links), n.command_id = $ingestion
    AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0;

// erase_statements_on
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)<-[e:LINK|PAST_LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND s.node_type = 'Contest' AND s.id STARTS
WITH 'c_'
WITH DISTINCT s
LIMIT $rows
RETURN s.id;

// made
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m.created_at;
