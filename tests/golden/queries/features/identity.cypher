// The queries of `orchestration.features.identity.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// around
UNWIND $spans AS s
MATCH (i:ConsciousnessNode {id: s.id})
WITH s, i
OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion)
WHERE q.created_at >= s.until
WITH s, i, min(q.created_at) AS next
WITH s, i, CASE WHEN i.created_at >= s.until
    AND (next IS NULL OR i.created_at < next) THEN i.created_at ELSE coalesce(next, s.until) END AS until
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at <= until AND p.expired_at >= s.since AND p.created_at < $known_to
WITH s, i, until, collect(p) AS past
UNWIND (past + CASE WHEN i.created_at <= until AND i.expired_at >= s.since
    AND i.created_at < $known_to THEN [i] ELSE [] END) AS n
RETURN <node_columns n>;

// closings
MATCH (p:PastVersion)
WHERE p.expired_at < $known_to AND p.node_type <> 'Generalisation'
    AND (p.expired_at > $ended_at OR (p.expired_at = $ended_at AND p.id > $memory_id))
WITH p
ORDER BY p.expired_at, p.id
LIMIT $limit
RETURN p.expired_at, p.id, p.created_at;

// declared_self
MATCH (n:ConsciousnessNode {id: $self})
WITH n
WITH n, CASE WHEN outdegree(n, 'HAD') > 0 THEN n ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH n, collect(p) AS past
UNWIND (past + CASE WHEN <visible n> THEN [n] ELSE [] END) AS was
WITH n, was
WHERE <visible was>
RETURN n.id, was.name, was.node_type, was.unset, was.source;

// held_before
UNWIND $beliefs AS b
MATCH (i:ConsciousnessNode {id: b.id})
WITH b, i
MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < b.begun AND p.name = b.name AND p.description = b.description
RETURN b.place, p.created_at, p.expired_at;

// held_then
UNWIND $beliefs AS b
MATCH (i:ConsciousnessNode {id: b.id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to AND p.expired_at >= $known_to AND p.name = b.name
    AND p.description = b.description
WITH b, i, count(p) AS past
RETURN b.place, CASE WHEN past > 0 OR (i.created_at < $known_to AND i.expired_at >= $known_to
    AND i.name = b.name AND i.description = b.description) THEN 1 ELSE 0 END;

// identity_now
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND <visible n> AND NOT (n.node_type = 'Person' AND n.name_key IN $roles)
    AND n.node_type <> 'Self'
WITH n, indegree(n, 'LINK') AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT $pool
MATCH (m:ConsciousnessNode)-[e:LINK]->(n)
WHERE <visible e> AND <visible m> AND m.id <> n.id AND m.node_type <> 'Generalisation'
WITH n, n.name AS name, n.node_type AS type, collect(DISTINCT m) AS ms
WITH n, name, type, ms, size(ms) AS appearances
WHERE appearances < $fewer
    OR (appearances = $fewer AND (name > $behind OR (name = $behind AND n.id > $behind_id)))
WITH n, name, type, ms, appearances
ORDER BY appearances DESC, name, n.id
LIMIT $limit
UNWIND ([m IN ms WHERE m.emotions IS NOT NULL OR m.rule IS NOT NULL] + [null]) AS m
UNWIND ([x IN coalesce(m.emotions, []) | ['emotion', x]] + CASE WHEN m IS NULL THEN [['', '']] WHEN m.rule IS NULL THEN [] ELSE [['rule', m.rule]] END) AS told
WITH n, name, type, appearances, told[0] AS kind, told[1] AS said, count(*) AS times
RETURN n.id, name, type, appearances, kind, said, times
ORDER BY appearances DESC, name, n.id, kind, times DESC, said;

// identity_then
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND NOT (n.node_type = 'Person' AND n.name_key IN $roles)
    AND n.node_type <> 'Self'
WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT $pool
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE <visible p>
WITH n, collect(p) AS past
WITH n, head(past + CASE WHEN <visible n> THEN [n] ELSE [] END) AS was
WHERE was IS NOT NULL
WITH n, was.name AS name, was.node_type AS type
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE <visible e> AND j.node_type <> 'Generalisation' AND j.id <> n.id
WITH n, name, type, j, CASE WHEN <visible j> THEN j ELSE null END AS same
WITH n, name, type, collect(DISTINCT same) AS ms,
    collect(DISTINCT CASE WHEN same IS NULL AND outdegree(j, 'HAD') > 0 THEN j ELSE null END) AS changed
UNWIND (changed + [null]) AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE <visible p>
WITH n, name, type, ms, collect(p) AS past
WITH n, name, type, ms + past AS ms
WHERE size(ms) > 0
WITH n, name, type, ms, size(ms) AS appearances
WHERE appearances < $fewer
    OR (appearances = $fewer AND (name > $behind OR (name = $behind AND n.id > $behind_id)))
WITH n, name, type, ms, appearances
ORDER BY appearances DESC, name, n.id
LIMIT $limit
UNWIND ([m IN ms WHERE m.emotions IS NOT NULL OR m.rule IS NOT NULL] + [null]) AS m
UNWIND ([x IN coalesce(m.emotions, []) | ['emotion', x]] + CASE WHEN m IS NULL THEN [['', '']] WHEN m.rule IS NULL THEN [] ELSE [['rule', m.rule]] END) AS told
WITH n, name, type, appearances, told[0] AS kind, told[1] AS said, count(*) AS times
RETURN n.id, name, type, appearances, kind, said, times
ORDER BY appearances DESC, name, n.id, kind, times DESC, said;

// last_felt
MATCH (m:ConsciousnessNode)
WHERE id(m) >= $newest AND id(m) < $until AND m.emotions IS NOT NULL AND <visible m>
RETURN max(m.valid_at);

// people_now
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' AND <visible n> AND NOT n.name_key IN $roles
WITH n, indegree(n, 'LINK') AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT 64
MATCH (m:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.relation_type <> 'SAID_BY' AND <visible e> AND <visible m> AND m.id <> n.id
    AND ((m.speaker IS NULL AND m.source IN $own_sources)
    OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
WITH DISTINCT n, m, n.name AS name, n.aliases AS aliases
WITH n, name, aliases, m,
    toLower(CASE WHEN coalesce(m.description, '') = '' THEN m.name ELSE m.description END) AS lowered
WITH n, name, aliases, m, any(word IN $possessives WHERE lowered CONTAINS word) AS tells
ORDER BY m.valid_at, m.id
WITH n, name, aliases, count(m) AS appearances, collect(CASE WHEN tells THEN CASE WHEN coalesce(m.description,
    '') = '' THEN m.name ELSE m.description END ELSE null END)[..12] AS texts
UNWIND (texts + [null]) AS text
RETURN n.id, name, aliases, appearances, text, n.unset
ORDER BY appearances DESC, name, n.id;

// people_then
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' AND NOT n.name_key IN $roles
WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT 64
WITH n, CASE WHEN outdegree(n, 'HAD') > 0 THEN n ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH n, collect(p) AS past
UNWIND (past + CASE WHEN <visible n> THEN [n] ELSE [] END) AS was
WITH n, was
WITH n, was.name AS name, was.aliases AS aliases
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type <> 'SAID_BY' AND <visible e> AND j.id <> n.id
WITH DISTINCT n, name, aliases, j
<records_of j, m, n, name, aliases>
WHERE ((m.speaker IS NULL AND m.source IN $own_sources) OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
WITH DISTINCT n, m, name, aliases
WITH n, name, aliases, m,
    toLower(CASE WHEN coalesce(m.description, '') = '' THEN m.name ELSE m.description END) AS lowered
WITH n, name, aliases, m, any(word IN $possessives WHERE lowered CONTAINS word) AS tells
ORDER BY m.valid_at, m.id
WITH n, name, aliases, count(m) AS appearances, collect(CASE WHEN tells THEN CASE WHEN coalesce(m.description,
    '') = '' THEN m.name ELSE m.description END ELSE null END)[..12] AS texts
UNWIND (texts + [null]) AS text
RETURN n.id, name, aliases, appearances, text, n.unset
ORDER BY appearances DESC, name, n.id;

// selves_now
CALL {
  MATCH (n:ConsciousnessNode {id: $self})
  RETURN n
  UNION
  MATCH (n:ConsciousnessNode)
  WHERE n.name_key IN $keys
  RETURN n
}
WITH DISTINCT n
WITH n, n AS was
WHERE <visible was>
MATCH (j:ConsciousnessNode)-[e:LINK]->(n)
WHERE <visible e> AND j.id <> n.id AND j.node_type <> 'Generalisation'
WITH DISTINCT n, was, j
WITH n, was, j, j AS m
WHERE <visible m>
RETURN n.id, was.name, was.node_type, was.unset, count(DISTINCT m.id) AS appearances
ORDER BY appearances DESC, n.id
LIMIT 8;

// selves_then
CALL {
  MATCH (n:ConsciousnessNode {id: $self})
  RETURN n
  UNION
  MATCH (n:ConsciousnessNode)
  WHERE n.name_key IN $keys
  RETURN n
}
WITH DISTINCT n
WITH n, CASE WHEN outdegree(n, 'HAD') > 0 THEN n ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH n, collect(p) AS past
UNWIND (past + CASE WHEN <visible n> THEN [n] ELSE [] END) AS was
WITH n, was
WHERE <visible was>
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE <visible e> AND j.id <> n.id AND j.node_type <> 'Generalisation'
WITH DISTINCT n, was, j
<records_of j, m, n, was>
WHERE <visible m>
RETURN n.id, was.name, was.node_type, was.unset, count(DISTINCT m.id) AS appearances
ORDER BY appearances DESC, n.id
LIMIT 8;

// stated_now
MATCH (n:ConsciousnessNode {id: $self})
WITH n
MATCH (m:ConsciousnessNode)-[e:LINK]->(n)
WHERE <visible e> AND <visible m>
WITH DISTINCT m
RETURN m.id, coalesce(m.description, ''), m.name, m.source, m.speaker, m.valid_at, m.created_at
ORDER BY m.valid_at DESC, m.created_at DESC, m.id
LIMIT 200;

// stated_then
MATCH (n:ConsciousnessNode {id: $self})
WITH n
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE <visible e>
WITH DISTINCT j
WITH j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH j, collect(p) AS past
UNWIND (past + CASE WHEN <visible j> THEN [j] ELSE [] END) AS m
WITH j, m
WITH DISTINCT m
RETURN m.id, coalesce(m.description, ''), m.name, m.source, m.speaker, m.valid_at, m.created_at
ORDER BY m.valid_at DESC, m.created_at DESC, m.id
LIMIT 200;

// temperament_now
UNWIND range(0, 11) AS place
CALL {
  WITH place
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $last - (place + 1) * 2592000000000 AND m.valid_at < $last - place * 2592000000000
      AND m.emotions IS NOT NULL AND <visible m> AND m.node_type <> 'Generalisation'
      AND ((m.speaker IS NULL AND m.source IN $own_sources)
      OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
  RETURN m
  LIMIT 2000
}
UNWIND ([e IN m.emotions | e] + ['']) AS emotion
WITH place, emotion, count(m) AS memories
RETURN place, emotion, memories
ORDER BY place DESC, memories DESC, emotion;

// temperament_then: temperament_now, but
    MATCH (m:ConsciousnessNode)
+   WHERE m.valid_at >= $last - (place + 1) * 2592000000000 AND m.valid_at < $last - place * 2592000000000
+       AND m.emotions IS NOT NULL AND <visible m> AND m.node_type <> 'Generalisation'
+       AND ((m.speaker IS NULL AND m.source IN $own_sources)
+       OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
+   RETURN m
+   LIMIT 2000
+   UNION ALL
+   WITH place
+   MATCH (m:PastVersion)

// values_now
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.rule > '' AND <visible m> AND m.node_type <> 'Generalisation'
  RETURN m
  LIMIT 20000
}
WITH m
ORDER BY m.valid_at, m.id
WITH m.rule AS rule, count(DISTINCT m.id) AS memories, min(m.valid_at) AS since, collect(m.id) AS ids
ORDER BY memories DESC, since, rule
LIMIT $limit
RETURN rule, memories, since, ids[size(ids) - 1];

// values_then: values_now, but
    MATCH (m:ConsciousnessNode)
+   WHERE m.rule > '' AND <visible m> AND m.node_type <> 'Generalisation'
+   RETURN m
+   LIMIT 20000
+   UNION ALL
+   MATCH (m:PastVersion)
