// Every query of the store, by name, as it is sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `:params` lists the parameters of the query below it.

// add_made_tags
// :params $rows, $run
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.id})
WITH r, n
OPTIONAL MATCH (n)-[old:MADE_TAG]->(:Tag {name: r.name})
WITH r, n, old
WHERE old IS NULL
MERGE (g:Tag {name: r.name})
ON CREATE SET g.shown = r.shown
CREATE (n)-[:MADE_TAG {run: $run}]->(g)
RETURN count(n);

// add_passages
// :params $digest, $memory_id, $rows
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
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

// agent_logs
// :params $before, $behind, $id, $limit
MATCH (c:ContextNote)
WHERE c.notes > 0 AND ($id IS NULL OR c.memory_id = $id)
    AND (c.created_at < $before OR (c.created_at = $before AND c.memory_id > $behind))
WITH c
ORDER BY c.created_at DESC, c.memory_id
LIMIT $limit
RETURN c.memory_id, c.created_at, c.digest, c.receipt, c.log, c.edges, c.ends;

// all_links_around
// :params $from, $ids, $known_from, $known_to, $until
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
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
WHERE e.valid_at + 0 < $until AND e.invalid_at > $from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $until AND m.invalid_at > $from
    AND m.created_at < $known_to AND m.expired_at > $known_from
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

// anchors_now
// :params $began_from, $began_to, $episodes, $generalised, $known_from, $known_to, $labels, $node_types, $pool, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  RETURN m, score
  ORDER BY score DESC, m.id, m.version
  LIMIT $pool
}
RETURN mean, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END;

// anchors_then
// :params $began_from, $began_to, $episodes, $generalised, $known_from, $known_to, $labels, $node_types, $pool, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  RETURN m, score
  ORDER BY score DESC, m.id, m.version
  LIMIT $pool
  UNION ALL
  WITH mean
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS m, score
  WITH m, score, mean
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  RETURN m, score
  ORDER BY score DESC, m.id, m.version
  LIMIT $pool
}
RETURN mean, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END;

// answer_prediction
// :params $at, $context, $emotion, $id, $result
MATCH (p:Prediction)
WHERE p.id = $id AND (p.context_id IS NULL OR p.context_id = $context)
SET p.context_id = $context, p.result = $result, p.emotion = $emotion, p.answered_at = $at,
    p.named = [x IN p.named WHERE x <> $context] + [$context]
RETURN p.id;

// appetite_due_now
// :params $ahead, $known_from, $known_to, $moment, $others, $said_after, $until, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation' AND s.valid_at + 0 > $said_after AND s.name_key IS NULL
      AND coalesce(s.resolution_state, '') <> 'resolved'
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 100
  RETURN 'said' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at > $moment AND s.valid_at < $ahead
  WITH s
  WHERE s.expired_at = $until AND s.created_at < $known_to AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at, s.id
  LIMIT 50
  RETURN 'planned' AS kind, s AS m
}
RETURN kind, m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at;

// appetite_due_then
// :params $ahead, $known_from, $known_to, $moment, $others, $said_after, $until, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation' AND s.valid_at + 0 > $said_after AND s.name_key IS NULL
      AND coalesce(s.resolution_state, '') <> 'resolved'
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 100
  RETURN 'said' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at > $moment AND s.valid_at < $ahead
  WITH s
  WHERE s.expired_at = $until AND s.created_at < $known_to AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at, s.id
  LIMIT 50
  RETURN 'planned' AS kind, s AS m
}
RETURN kind, m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at;

// appetite_fresh
// :params $citizen, $known_from, $known_to, $since, $valid_from, $valid_to
CALL db.meta.stats()
YIELD nodeCount
WITH nodeCount - 5000 AS first
MATCH (s:ConsciousnessNode)
WHERE id(s) >= first AND s.created_at > $since
WITH s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from AND s.node_type <> 'Generalisation' AND coalesce(s.author, '') <> $citizen
WITH s
ORDER BY s.created_at DESC, s.id
WITH collect(s) AS fresh
WITH fresh[..100] AS shown, size(fresh) AS count
UNWIND shown AS m
RETURN 'fresh', m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at, count;

// appetite_own_now
// :params $ahead, $blocked, $in_progress, $known_from, $known_to, $moment, $open, $others, $said_after, $until, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation'
  WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half
  WITH s,
      s.energy * 2.0 ^ (($moment - s.valid_at) / 86400000000.0 / -half) * CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END AS left_of_it
  ORDER BY left_of_it DESC, s.valid_at DESC, s.id
  LIMIT 50
  RETURN 'open' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation' AND s.valid_at + 0 > $said_after AND s.name_key IS NULL
      AND coalesce(s.resolution_state, '') <> 'resolved'
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 100
  RETURN 'said' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at > $moment AND s.valid_at < $ahead
  WITH s
  WHERE s.expired_at = $until AND s.created_at < $known_to AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at, s.id
  LIMIT 50
  RETURN 'planned' AS kind, s AS m
  UNION ALL
  MATCH (a:Revaluation)
  WHERE a.waiting = true
  WITH a
  ORDER BY a.asked_at DESC, a.memory_id
  LIMIT 50
  MATCH (s:ConsciousnessNode {id: a.memory_id})
  RETURN 'waiting' AS kind, s AS m
}
RETURN kind, m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at;

// appetite_own_then
// :params $ahead, $blocked, $in_progress, $known_from, $known_to, $moment, $open, $others, $said_after, $until, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation'
  WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half
  WITH s,
      s.energy * 2.0 ^ (($moment - s.valid_at) / 86400000000.0 / -half) * CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END AS left_of_it
  ORDER BY left_of_it DESC, s.valid_at DESC, s.id
  LIMIT 50
  RETURN 'open' AS kind, s AS m
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation'
  WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half
  WITH s,
      s.energy * 2.0 ^ (($moment - s.valid_at) / 86400000000.0 / -half) * CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END AS left_of_it
  ORDER BY left_of_it DESC, s.valid_at DESC, s.id
  LIMIT 50
  RETURN 'open' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 60
  RETURN 'rule' AS kind, s AS m
  UNION ALL
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND NOT toLower(coalesce(s.speaker, '')) IN $others
      AND s.node_type <> 'Generalisation' AND s.valid_at + 0 > $said_after AND s.name_key IS NULL
      AND coalesce(s.resolution_state, '') <> 'resolved'
  WITH s
  ORDER BY s.valid_at DESC, s.id
  LIMIT 100
  RETURN 'said' AS kind, s AS m
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at > $moment AND s.valid_at < $ahead
  WITH s
  WHERE s.expired_at = $until AND s.created_at < $known_to AND NOT toLower(coalesce(s.speaker, '')) IN $others
  WITH s
  ORDER BY s.valid_at, s.id
  LIMIT 50
  RETURN 'planned' AS kind, s AS m
  UNION ALL
  MATCH (a:Revaluation)
  WHERE a.waiting = true
  WITH a
  ORDER BY a.asked_at DESC, a.memory_id
  LIMIT 50
  MATCH (s:ConsciousnessNode {id: a.memory_id})
  RETURN 'waiting' AS kind, s AS m
}
RETURN kind, m.id, m.name, m.speaker, left(coalesce(m.description, ''), 240), m.resolution_state, m.energy,
    m.goal, m.rule, m.valid_at, m.created_at;

// around
// :params $known_to, $spans
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
RETURN n.id, n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset;

// begin_reembedding
// :params $dimension, $model
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state IS NULL
SET m.other_model = $model, m.other_dimension = $dimension, m.other_state = 'filling'
RETURN m.other_state;

// begun_near_now
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $periods, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $periods AS period
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND m.valid_at + 0 < $valid_to
      AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
      AND m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
RETURN 0 AS hop, score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// begun_near_then
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $periods, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $periods AS period
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND m.valid_at + 0 < $valid_to
      AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
      AND m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH DISTINCT m
  LIMIT 2000
  RETURN m
  UNION ALL
  UNWIND $periods AS period
  MATCH (m:PastVersion)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND m.valid_at + 0 < $valid_to
      AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
      AND m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
RETURN 0 AS hop, score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// begun_now
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $periods, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $periods AS period
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND m.valid_at + 0 < $valid_to
      AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
      AND m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH DISTINCT m
  LIMIT 2000
  RETURN m
}
WITH m, null AS score
ORDER BY m.valid_at, m.id, m.version
LIMIT $limit
WITH m, score, null AS e
RETURN 0 AS hop, score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// begun_then
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $periods, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $periods AS period
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND m.valid_at + 0 < $valid_to
      AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
      AND m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH DISTINCT m
  LIMIT 2000
  RETURN m
  UNION ALL
  UNWIND $periods AS period
  MATCH (m:PastVersion)
  WHERE m.valid_at >= period[0] AND m.valid_at < period[1] AND m.valid_at + 0 < $valid_to
      AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
      AND m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH DISTINCT m
  LIMIT 2000
  RETURN m
}
WITH m, null AS score
ORDER BY m.valid_at, m.id, m.version
LIMIT $limit
WITH m, score, null AS e
RETURN 0 AS hop, score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// between_now
// :params $began_from, $began_to, $episodes, $generalised, $hidden, $ids, $known_from, $known_to, $labels, $node_types, $sources, $speakers, $told, $unfiltered, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35, null AS c36, null AS c37, null AS c38, null AS c39,
    null AS c40, null AS c41, null AS c42, null AS c43, null AS c44, null AS c45, null AS c46, null AS c47,
    null AS c48, null AS c49, null AS c50, null AS c51, null AS c52, null AS c53, null AS c54, null AS c55,
    null AS c56, null AS c57, null AS c58, null AS c59, null AS c60, null AS c61, null AS c62, null AS c63,
    null AS c64, null AS c65, null AS c66, null AS c67, null AS c68
UNION ALL
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $told
  WITH i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'NEXT' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from AND NOT j.id IN $ids
  WITH e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.resolution_state,
      '') IN $hidden
  WITH e, m
  ORDER BY e.valid_at, e.id, m.version
  LIMIT 8
  RETURN e, m
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $told
  WITH i
  OPTIONAL MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'NEXT' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH $ids + collect(j.id) AS ids
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN ids
  WITH s, ids
  MATCH (s)-[e:LINK]->(o:ConsciousnessNode)
  WHERE o.id IN ids AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  RETURN e, null AS m
  ORDER BY e.energy * e.confidence DESC, e.id
  LIMIT 200
}
RETURN 0 AS c0, 1 AS c1, null AS c2, startNode(e).id AS c3, endNode(e).id AS c4, e.id AS c5,
    e.relation_type AS c6, e.goal AS c7, e.mindstate AS c8, e.energy AS c9, e.confidence AS c10,
    e.formation_trigger AS c11, e.emotion_vector AS c12, e.energy_transfer_coefficient AS c13,
    e.resolution_state AS c14, e.felt_quality AS c15, e.emotion_description AS c16, e.body_sensation AS c17,
    e.spatial_context AS c18, e.sensory_details AS c19, e.valid_at AS c20, e.invalid_at AS c21,
    e.created_at AS c22, e.expired_at AS c23, e.version AS c24, e.invalidation_reason AS c25,
    e.closed_reason AS c26, e.source AS c27, e.author AS c28, e.episode_id AS c29, e.extra AS c30,
    e.unset AS c31, m.id AS c32, m.node_type AS c33, m.name AS c34,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END AS c35, m.valid_at AS c36, m.invalid_at AS c37,
    m.created_at AS c38, m.expired_at AS c39, m.version AS c40, m.invalidation_reason AS c41,
    m.closed_reason AS c42, m.correction_pattern_id AS c43, m.discovery_energy AS c44, m.energy AS c45,
    m.confidence AS c46, m.emotion_vector AS c47, m.felt_quality AS c48, m.body_sensation AS c49,
    m.goal AS c50, m.resolution_state AS c51, m.tags AS c52, m.buckets AS c53, m.aliases AS c54,
    m.importance AS c55, m.intensity AS c56, m.result AS c57, m.rule AS c58, m.severity AS c59,
    m.abstraction AS c60, m.step AS c61, m.source AS c62, m.author AS c63, m.shared_from AS c64,
    m.episode_id AS c65, m.speaker AS c66, m.extra AS c67, m.unset AS c68;

// between_then
// :params $began_from, $began_to, $episodes, $generalised, $hidden, $ids, $known_from, $known_to, $labels, $node_types, $sources, $speakers, $told, $unfiltered, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35, null AS c36, null AS c37, null AS c38, null AS c39,
    null AS c40, null AS c41, null AS c42, null AS c43, null AS c44, null AS c45, null AS c46, null AS c47,
    null AS c48, null AS c49, null AS c50, null AS c51, null AS c52, null AS c53, null AS c54, null AS c55,
    null AS c56, null AS c57, null AS c58, null AS c59, null AS c60, null AS c61, null AS c62, null AS c63,
    null AS c64, null AS c65, null AS c66, null AS c67, null AS c68
UNION ALL
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $told
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'NEXT' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from AND NOT j.id IN $ids
  WITH e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH e, j, m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.resolution_state,
      '') IN $hidden
  WITH e, m
  ORDER BY e.valid_at, e.id, m.version
  LIMIT 8
  RETURN e, m
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $told
  WITH i
  OPTIONAL MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'NEXT' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH $ids + collect(j.id) AS ids
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN ids
  WITH s, ids
  MATCH (s)-[e:LINK|PAST_LINK]->(o:ConsciousnessNode)
  WHERE o.id IN ids AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  RETURN e, null AS m
  ORDER BY e.energy * e.confidence DESC, e.id
  LIMIT 200
}
RETURN 0 AS c0, 1 AS c1, null AS c2, startNode(e).id AS c3, endNode(e).id AS c4, e.id AS c5,
    e.relation_type AS c6, e.goal AS c7, e.mindstate AS c8, e.energy AS c9, e.confidence AS c10,
    e.formation_trigger AS c11, e.emotion_vector AS c12, e.energy_transfer_coefficient AS c13,
    e.resolution_state AS c14, e.felt_quality AS c15, e.emotion_description AS c16, e.body_sensation AS c17,
    e.spatial_context AS c18, e.sensory_details AS c19, e.valid_at AS c20, e.invalid_at AS c21,
    e.created_at AS c22, e.expired_at AS c23, e.version AS c24, e.invalidation_reason AS c25,
    e.closed_reason AS c26, e.source AS c27, e.author AS c28, e.episode_id AS c29, e.extra AS c30,
    e.unset AS c31, m.id AS c32, m.node_type AS c33, m.name AS c34,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END AS c35, m.valid_at AS c36, m.invalid_at AS c37,
    m.created_at AS c38, m.expired_at AS c39, m.version AS c40, m.invalidation_reason AS c41,
    m.closed_reason AS c42, m.correction_pattern_id AS c43, m.discovery_energy AS c44, m.energy AS c45,
    m.confidence AS c46, m.emotion_vector AS c47, m.felt_quality AS c48, m.body_sensation AS c49,
    m.goal AS c50, m.resolution_state AS c51, m.tags AS c52, m.buckets AS c53, m.aliases AS c54,
    m.importance AS c55, m.intensity AS c56, m.result AS c57, m.rule AS c58, m.severity AS c59,
    m.abstraction AS c60, m.step AS c61, m.source AS c62, m.author AS c63, m.shared_from AS c64,
    m.episode_id AS c65, m.speaker AS c66, m.extra AS c67, m.unset AS c68;

// carried_links
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, m.id, properties(e);

// carried_page
// :params $after, $beside, $rows
MATCH (n)
WHERE id(n) > $after AND NOT ('Tag' IN labels(n) AND n.name STARTS WITH '~')
WITH n
LIMIT $rows
RETURN id(n), labels(n), CASE WHEN any(l IN labels(n) WHERE l IN $beside) THEN null ELSE properties(n) END,
    outdegree(n, 'HAD'), outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK')
ORDER BY id(n);

// carried_past_links
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:PAST_LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, m.id, properties(e);

// carried_records
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, p
SKIP $skip
LIMIT $rows
OPTIONAL MATCH (p)-[:HAS_TRACE]->(t)
RETURN id(n), id(p), properties(p), id(t), labels(t), t {.*, embedding: null, emotion: null, digest: null};

// carried_records_whole
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, p
SKIP $skip
LIMIT $rows
OPTIONAL MATCH (p)-[:HAS_TRACE]->(t)
RETURN id(n), id(p), properties(p), id(t), labels(t), properties(t);

// carried_stamp
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m {.*, key: null, generation: null, other_model: null, other_dimension: null, other_state: null,
    upkeep_fence: null, shifts: null, likeness: null, changes_until: null}
LIMIT 1;

// carried_tags
// :params $beyond, $first
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[g:TAGGED]->(t:Tag)
RETURN id(n), t.name, properties(g);

// carried_traces
// :params $beyond, $first
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), labels(t), t {.*, embedding: null, emotion: null, digest: null};

// carried_traces_whole
// :params $beyond, $first
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), labels(t), properties(t);

// change_state
// :params $at, $closing, $kept, $latest, $seen, $widths
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
OPTIONAL MATCH (s:CitizenState)
WITH m, at, s
WHERE coalesce(s.version, 0) = $seen
OPTIONAL MATCH (o:PastState)
WHERE o.version IN $closing
WITH m, at, s, collect(o) AS past
FOREACH (k IN $kept |
  CREATE (n:PastState)
  SET n = coalesce(properties([x IN past + [s] WHERE x.version = k.of][0]), {})
  SET n += k.change
  SET n += {created_at: at, emotion_vector: intern(n.emotion_vector), goal: intern(n.goal),
      drives: intern(n.drives), window: intern(n.window), focus: intern(n.focus), senses: intern(n.senses),
      writers: intern(n.writers)}
)
FOREACH (k IN $latest |
  CREATE (n:CitizenState)
  SET n = coalesce(properties(s), {})
  SET n += k
  SET n += {created_at: at, emotion_vector: intern(n.emotion_vector), goal: intern(n.goal),
      drives: intern(n.drives), window: intern(n.window), focus: intern(n.focus), senses: intern(n.senses),
      writers: intern(n.writers)}
)
FOREACH (o IN past |
  SET o.expired_at = at
)
FOREACH (o IN CASE WHEN s IS NULL THEN [] ELSE [s] END |
  SET o.expired_at = at,
      o.cell = [w IN $widths WHERE w >= at - o.created_at | 'known/' + toString(w) + '/' + toString(o.created_at / w)][0]
  REMOVE o:CitizenState
  SET o:PastState
)
SET m.clock = at
RETURN at;

// changed_since_now
// :params $known_from, $known_to, $newest, $since, $until, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since AND coalesce(n.version, 1) = 1 AND n.valid_at + 0 < $valid_to
    AND n.invalid_at > $valid_from AND n.created_at < $known_to AND n.expired_at > $known_from
    AND n.node_type <> 'Generalisation' AND n.description <> ''
WITH n
ORDER BY n.created_at DESC, id(n) DESC
LIMIT 100
RETURN n.id AS id, n.created_at AS at, n.created_at AS known, null AS said, null AS work, null AS reason,
    1 AS holds, coalesce(left(n.description, 1000), '') AS now, n.resolution_state AS state,
    n.speaker AS speaker
UNION ALL
MATCH (p:PastVersion)
WHERE id(p) >= $newest AND id(p) < $until
WITH p
WHERE p.expired_at >= $since AND p.expired_at < $known_to AND p.valid_at < $valid_to
    AND p.node_type <> 'Generalisation'
WITH p
ORDER BY p.expired_at DESC, p.id
LIMIT 100
MATCH (i:ConsciousnessNode)-[:HAD]->(p)
OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion)
WHERE q.valid_at + 0 < $valid_to AND q.invalid_at > $valid_from AND q.created_at < $known_to
    AND q.expired_at > $known_from
WITH p, i, collect(q) AS past
WITH p, (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END)[0] AS s
RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, coalesce(left(p.description, 1000), '') AS said,
    p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason,
    CASE WHEN s IS NULL THEN 0 ELSE 1 END AS holds, coalesce(left(s.description, 1000), '') AS now,
    s.resolution_state AS state, p.speaker AS speaker
UNION ALL
MATCH (c:Receipt)
WHERE id(c) >= $newest AND id(c) < $until
WITH c
WHERE c.created_at >= $since
WITH DISTINCT c.id AS changed
LIMIT 1000
MATCH (p:ConsciousnessNode {id: changed})
WHERE p.expired_at >= $since AND p.expired_at < $known_to AND p.node_type <> 'Generalisation'
RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, coalesce(left(p.description, 1000), '') AS said,
    p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason, 0 AS holds,
    '' AS now, null AS state, p.speaker AS speaker
LIMIT 100
UNION ALL
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since
WITH n
ORDER BY id(n) DESC
LIMIT 100
MATCH (w:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.relation_type = 'RESOLVED_BY' AND e.created_at >= $since AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
RETURN w.id AS id, e.created_at AS at, w.created_at AS known, null AS said, 'linked' AS work, null AS reason,
    1 AS holds, coalesce(left(w.description, 1000), '') AS now, 'resolved' AS state, w.speaker AS speaker
LIMIT 100;

// changed_since_then
// :params $known_from, $known_to, $newest, $since, $until, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since AND coalesce(n.version, 1) = 1 AND n.valid_at + 0 < $valid_to
    AND n.invalid_at > $valid_from AND n.created_at < $known_to AND n.expired_at > $known_from
    AND n.node_type <> 'Generalisation' AND n.description <> ''
WITH n
ORDER BY n.created_at DESC, id(n) DESC
LIMIT 100
RETURN n.id AS id, n.created_at AS at, n.created_at AS known, null AS said, null AS work, null AS reason,
    1 AS holds, coalesce(left(n.description, 1000), '') AS now, n.resolution_state AS state,
    n.speaker AS speaker
UNION ALL
MATCH (n:PastVersion)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since AND coalesce(n.version, 1) = 1 AND n.valid_at + 0 < $valid_to
    AND n.invalid_at > $valid_from AND n.created_at < $known_to AND n.expired_at > $known_from
    AND n.node_type <> 'Generalisation' AND n.description <> ''
WITH n
ORDER BY n.created_at DESC, id(n) DESC
LIMIT 100
RETURN n.id AS id, n.created_at AS at, n.created_at AS known, null AS said, null AS work, null AS reason,
    1 AS holds, coalesce(left(n.description, 1000), '') AS now, n.resolution_state AS state,
    n.speaker AS speaker
UNION ALL
MATCH (p:PastVersion)
WHERE id(p) >= $newest AND id(p) < $until
WITH p
WHERE p.expired_at >= $since AND p.expired_at < $known_to AND p.valid_at < $valid_to
    AND p.node_type <> 'Generalisation'
WITH p
ORDER BY p.expired_at DESC, p.id
LIMIT 100
MATCH (i:ConsciousnessNode)-[:HAD]->(p)
OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion)
WHERE q.valid_at + 0 < $valid_to AND q.invalid_at > $valid_from AND q.created_at < $known_to
    AND q.expired_at > $known_from
WITH p, i, collect(q) AS past
WITH p, (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END)[0] AS s
RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, coalesce(left(p.description, 1000), '') AS said,
    p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason,
    CASE WHEN s IS NULL THEN 0 ELSE 1 END AS holds, coalesce(left(s.description, 1000), '') AS now,
    s.resolution_state AS state, p.speaker AS speaker
UNION ALL
MATCH (c:Receipt)
WHERE id(c) >= $newest AND id(c) < $until
WITH c
WHERE c.created_at >= $since
WITH DISTINCT c.id AS changed
LIMIT 1000
MATCH (p:ConsciousnessNode {id: changed})
WHERE p.expired_at >= $since AND p.expired_at < $known_to AND p.node_type <> 'Generalisation'
RETURN p.id AS id, p.expired_at AS at, p.created_at AS known, coalesce(left(p.description, 1000), '') AS said,
    p.resolution_state AS work, coalesce(p.closed_reason, p.invalidation_reason) AS reason, 0 AS holds,
    '' AS now, null AS state, p.speaker AS speaker
LIMIT 100
UNION ALL
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.created_at >= $since
WITH n
ORDER BY id(n) DESC
LIMIT 100
MATCH (w:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'RESOLVED_BY' AND e.created_at >= $since AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
RETURN w.id AS id, e.created_at AS at, w.created_at AS known, null AS said, 'linked' AS work, null AS reason,
    1 AS holds, coalesce(left(w.description, 1000), '') AS now, 'resolved' AS state, w.speaker AS speaker
LIMIT 100;

// clear
// :params $rows
MATCH (t:TraceB)
WITH t
LIMIT $rows
DELETE t
RETURN count(t);

// clear_passages
// :params $rows
MATCH (t:PassageTraceB)
WITH t
LIMIT $rows
DELETE t
RETURN count(t);

// clear_past
// :params $rows
MATCH (t:PastTraceB)
WITH t
LIMIT $rows
DELETE t
RETURN count(t);

// clock
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m.clock
LIMIT 1;

// clock_of_links
// :params $after, $open, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH m, n
LIMIT $rows
OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->()
WITH m, max(id(n)) AS last,
    max(CASE WHEN e.expired_at = $open THEN e.created_at ELSE e.expired_at END) AS latest
SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END
RETURN last;

// clock_of_memories
// :params $after, $open, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH m, n
LIMIT $rows
WITH m, max(id(n)) AS last,
    max(CASE WHEN n.expired_at = $open THEN n.created_at ELSE n.expired_at END) AS latest
SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END
RETURN last;

// clock_of_versions
// :params $after, $open, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (n:PastVersion)
WHERE id(n) > $after
WITH m, n
LIMIT $rows
WITH m, max(id(n)) AS last,
    max(CASE WHEN n.expired_at = $open THEN n.created_at ELSE n.expired_at END) AS latest
SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END
RETURN last;

// close_generation
// :params $generation
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state IN ['filling', 'leaving'] AND coalesce(m.generation, 0) = $generation
SET m.other_state = 'clearing'
RETURN m.other_state;

// close_record
// :params $at, $closed_source, $id, $key_id, $open, $receipt, $replaced_at, $seen, $version
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
MATCH (n:ConsciousnessNode {id: $id})
WITH m, at, n
LIMIT 1
MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.version = $version AND p.created_at = $seen AND p.expired_at = $open
WITH m, at, n, p
LIMIT 1
SET n.touched = at, p.expired_at = $replaced_at, p.closed_by = $receipt.command_id,
    p.closed_source = $closed_source, p.closed_key = $key_id
CREATE (c:Receipt {command_id: $receipt.command_id})
SET c += $receipt, c.created_at = at, m.clock = at
RETURN at;

// closings
// :params $ended_at, $known_to, $limit, $memory_id
MATCH (p:PastVersion)
WHERE p.expired_at < $known_to AND p.node_type <> 'Generalisation'
    AND (p.expired_at > $ended_at OR (p.expired_at = $ended_at AND p.id > $memory_id))
WITH p
ORDER BY p.expired_at, p.id
LIMIT $limit
RETURN p.expired_at, p.id, p.created_at;

// consolidation_contents
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
WHERE n.expired_at = 9007199254740991
    AND (n.unset IS NULL OR NOT n.unset STARTS WITH 'name,' OR coalesce(n.description, '') <> '')
RETURN n.id, n.node_type, n.name, CASE WHEN n.passages IS NULL THEN n.description ELSE left(n.description,
    1000) + '' + toString(size(n.description)) END, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset;

// consolidation_holders
// :params $ids
MATCH (o:ConsciousnessNode)
WHERE o.id IN $ids
WITH o
MATCH (n:ConsciousnessNode)-[e:LINK]-(o)
WHERE e.expired_at = 9007199254740991 AND n.expired_at = 9007199254740991
WITH DISTINCT n
LIMIT 2000
RETURN n.id;

// consolidation_made
// :params $ids
MATCH (g:ConsciousnessNode)
WHERE g.id IN $ids
WITH g
MATCH (g)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'GENERALISES'
RETURN g.id, g.expired_at = 9007199254740991, g.version, g.invalid_at, g.created_at, g.extra, n.id,
    n.expired_at = 9007199254740991, type(e) = 'LINK' AND e.expired_at = 9007199254740991;

// consolidation_made_of
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (g:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'GENERALISES' AND g.node_type = 'Generalisation'
RETURN DISTINCT g.id;

// consolidation_node_names
// :params $ids
MATCH (o:ConsciousnessNode)
WHERE o.id IN $ids
RETURN o.id, o.name, o.name_key, indegree(o, 'LINK') + outdegree(o, 'LINK');

// consolidation_nodes
// :params $ids, $kinds
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK]-(o:ConsciousnessNode)
WHERE e.expired_at = 9007199254740991 AND o.expired_at = 9007199254740991 AND o.name_key IS NOT NULL
    AND toLower(o.node_type) IN $kinds
WITH DISTINCT n.id AS id, o.id AS node
LIMIT 2000
RETURN id, node;

// consolidation_page
// :params $after, $kinds, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN id(n), n.id, n.expired_at = 9007199254740991, toLower(n.node_type) IN $kinds,
    indegree(n, 'LINK') + outdegree(n, 'LINK')
ORDER BY id(n);

// consolidation_same_words
// :params $abstraction, $near
UNWIND $near AS one
MATCH (s:ConsciousnessNode {id: one[0]})
WITH s, one
WHERE s.node_type = 'Generalisation' AND s.expired_at = 9007199254740991 AND s.abstraction = $abstraction
MATCH (s)-[:HAS_TRACE]->(t:Trace)
WHERE coalesce(t.digest, '') = one[1]
WITH s, one[2] AS score
RETURN 1.0 - score
ORDER BY score
LIMIT 1;

// consolidation_tag_holders
// :params $names
MATCH (t:Tag)
WHERE t.name IN $names
RETURN t.name, indegree(t, 'TAGGED');

// consolidation_vectors
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:HAS_TRACE]->(t:Trace)
WHERE t.embedding IS NOT NULL
RETURN n.id, t.embedding;

// contents
// :params $places
UNWIND $places AS place
MATCH (n:ConsciousnessNode)
WHERE id(n) = place
RETURN n.id, n.name, toStringOrNull(n.description), toStringOrNull(n.speaker), n.node_type, n.version,
    n.valid_at, n.invalid_at, n.created_at, n.expired_at;

// contested
// :params $after, $characters, $known_from, $known_to, $rows, $valid_from, $valid_to
MATCH (t:ConsciousnessNode)
WHERE id(t) > $after
WITH t
LIMIT $rows
OPTIONAL MATCH (t)<-[e:LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from AND s.valid_at + 0 < $valid_to
    AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
    AND t.valid_at + 0 < $valid_to AND t.invalid_at > $valid_from AND t.created_at < $known_to
    AND t.expired_at > $known_from
WITH id(t) AS place, t, count(e) AS held
ORDER BY place
WITH max(place) AS last, collect(CASE WHEN held > 0 THEN t END) AS found
UNWIND CASE WHEN size(found) = 0 THEN [null] ELSE found END AS t
RETURN last, id(t), t.id, t.name, t.speaker, left(t.description, $characters), t.author;

// contests_now
// :params $characters, $contests, $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (t:ConsciousnessNode)
WHERE t.id IN $ids
WITH t
MATCH (t)<-[e:LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from AND s.valid_at + 0 < $valid_to
    AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
RETURN t.id, e.author, left(coalesce(e.formation_trigger, s.description, s.name), $characters), s.id, e.id,
    e.valid_at
ORDER BY e.valid_at, e.id
LIMIT $contests;

// contests_then
// :params $characters, $contests, $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (t:ConsciousnessNode)
WHERE t.id IN $ids
WITH t
MATCH (t)<-[e:LINK|PAST_LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from
OPTIONAL MATCH (s)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH t, e, s, count(p) AS past
WHERE past > 0 OR s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
RETURN t.id, e.author, left(coalesce(e.formation_trigger, s.description, s.name), $characters), s.id, e.id,
    e.valid_at
ORDER BY e.valid_at, e.id
LIMIT $contests;

// context_note_of_command
// :params $command
MATCH (c:ContextNote)
WHERE c.command_id = $command
RETURN c.memory_id, c.created_at, c.digest, c.receipt, c.log, c.edges, c.ends
LIMIT 1;

// context_notes_of
// :params $ids
MATCH (c:ContextNote)
WHERE c.memory_id IN $ids
RETURN c.memory_id, c.created_at, c.digest, c.receipt, c.log, c.edges, c.ends;

// copies_among
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids AND n.shared_from IS NOT NULL
RETURN n.id, n.author, n.shared_from, n.expired_at;

// count_episodes
// :params $values
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.episode_id IN $values
  RETURN m.episode_id AS value
  LIMIT 2001
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.episode_id IN $values
  RETURN m.episode_id AS value
  LIMIT 2001
}
RETURN value, count(value);

// count_node_types
// :params $values
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.node_type IN $values
  RETURN m.node_type AS value
  LIMIT 2001
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.node_type IN $values
  RETURN m.node_type AS value
  LIMIT 2001
}
RETURN value, count(value);

// count_nodes
CALL db.meta.stats()
YIELD nodeCount, labels
OPTIONAL MATCH (f:Feedback)
WHERE f.held IS NULL
RETURN nodeCount, coalesce(labels.LearningMoment, 0), sum(size(coalesce(f.not_changed, [])));

// count_open_links
// :params $all, $ids, $open, $scanned, $valid_from, $valid_to, $work
UNWIND $ids AS id
MATCH (i:ConsciousnessNode {id: id})
WITH i
MATCH (i)-[e:LINK|PAST_LINK]-(o)
WHERE e.expired_at = $open AND e.valid_at < $valid_to AND e.invalid_at > $valid_from
    AND e.resolution_state IN ['blocked', 'in_progress']
    AND (e.relation_type IN $work OR $all AND (e.unset IS NULL OR NOT e.unset CONTAINS 'goal'))
WITH i, e
LIMIT $scanned
RETURN count(DISTINCT e.id);

// count_sources
// :params $values
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.source IN $values
  RETURN m.source AS value
  LIMIT 2001
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.source IN $values
  RETURN m.source AS value
  LIMIT 2001
}
RETURN value, count(value);

// count_speakers
// :params $values
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.speaker IN $values
  RETURN m.speaker AS value
  LIMIT 2001
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.speaker IN $values
  RETURN m.speaker AS value
  LIMIT 2001
}
RETURN value, count(value);

// count_stream_notes
MATCH (s:StreamNote)
RETURN count(s);

// count_vectors
OPTIONAL MATCH (t:Trace)
WHERE t.embedding IS NOT NULL
WITH count(t) AS open
OPTIONAL MATCH (t:PassageTrace)
WHERE t.embedding IS NOT NULL
RETURN open, count(t);

// counts
CALL db.meta.stats()
YIELD labels, relTypes
RETURN labels.ConsciousnessNode, labels.PastVersion, labels.Trace, labels.PastTrace, relTypes.LINK,
    relTypes.PAST_LINK;

// declared_self
// :params $known_from, $known_to, $self, $valid_from, $valid_to
MATCH (n:ConsciousnessNode {id: $self})
WITH n
WITH n, CASE WHEN outdegree(n, 'HAD') > 0 THEN n ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH n, collect(p) AS past
UNWIND (past + CASE WHEN n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from
    AND n.created_at < $known_to AND n.expired_at > $known_from THEN [n] ELSE [] END) AS was
WITH n, was
WHERE was.valid_at + 0 < $valid_to AND was.invalid_at > $valid_from AND was.created_at < $known_to
    AND was.expired_at > $known_from
RETURN n.id, was.name, was.node_type, was.unset, was.source;

// decline_offer
// :params $at, $id, $offer, $other
MATCH (x:ConsciousnessNode {id: $id})
MATCH (o:ConsciousnessNode {id: $other})
MERGE (x)-[d:DECLINED {offer: $offer}]->(o)
ON CREATE SET d.at = $at
RETURN d.offer;

// declined_offers
// :params $ids
UNWIND $ids AS id
MATCH (x:ConsciousnessNode {id: id})
WITH x
MATCH (x)-[d:DECLINED]->()
RETURN d.offer;

// deep_maps
MATCH (r:ConsciousnessNode)
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 0 AS past, text
UNION ALL
MATCH ()-[r:LINK]->()
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 0 AS past, text
UNION ALL
MATCH (r:PastVersion)
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 1 AS past, text
UNION ALL
MATCH ()-[r:PAST_LINK]->()
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 1 AS past, text;

// doing_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $episodes, $expanded, $first_hop, $generalised, $known_from, $known_to, $labels, $least_energy, $limit, $moment, $most_energy, $node_types, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to, $window
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// doing_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $first_hop, $generalised, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $moment, $most_energy, $node_types, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to, $window
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// doing_now
// :params $began_from, $began_to, $episodes, $generalised, $known_from, $known_to, $labels, $least_energy, $limit, $moment, $most_energy, $node_types, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to, $window
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
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

// doing_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $first_hop, $generalised, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $moment, $most_energy, $node_types, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to, $window
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, s.energy * (1.0 / (1.0 + (1.0 * $moment - s.valid_at) / $window)) AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// drop_held_feedback
// :params $quarantine
MATCH (f:Feedback)
WHERE f.held = $quarantine
WITH collect(f) AS those
FOREACH (f IN those |
  DELETE f
)
RETURN size(those);

// drop_made_tags
// :params $rows
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.id})
WITH r, n
MATCH (n)-[g:MADE_TAG]->(t:Tag)
WHERE t.name = r.name
WITH collect(g) AS gone
FOREACH (g IN gone |
  DELETE g
)
RETURN size(gone);

// drop_oldest_stream_notes
// :params $rows
MATCH (s:StreamNote)
WITH s
ORDER BY s.at
LIMIT $rows
DELETE s
RETURN count(s);

// drop_otherpassagetrace_embedding
DROP VECTOR INDEX FOR (n:PassageTraceB) ON (n.embedding);

// drop_otherpasttrace_embedding
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.embedding);

// drop_otherpasttrace_emotion
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.emotion);

// drop_othertrace_embedding
DROP VECTOR INDEX FOR (n:TraceB) ON (n.embedding);

// drop_othertrace_emotion
DROP VECTOR INDEX FOR (n:TraceB) ON (n.emotion);

// drop_quality
// :params $ids, $times
MATCH (q:QualitySummary)
WHERE q.swept_at IN $times OR q.id IN $ids
DELETE q
RETURN count(q);

// drop_rule_checks
// :params $rows
MATCH (k:RuleCheck)
WITH k
ORDER BY k.at
LIMIT $rows
DELETE k
RETURN count(k);

// drop_stream_notes_before
// :params $before, $rows
MATCH (s:StreamNote)
WHERE s.at < $before
WITH s
LIMIT $rows
DELETE s
RETURN count(s);

// drop_unused_made_tags
// :params $names
MATCH (t:Tag)
WHERE t.name IN $names AND t.name STARTS
WITH '~' AND indegree(t, 'MADE_TAG') = 0
WITH collect(t) AS gone
FOREACH (t IN gone |
  DELETE t
)
RETURN size(gone);

// drop_vector_otherpassagetrace_embedding
DROP VECTOR INDEX FOR (n:PassageTraceB) ON (n.embedding);

// drop_vector_otherpassagetrace_emotion
DROP VECTOR INDEX FOR (n:PassageTraceB) ON (n.emotion);

// drop_vector_otherpasttrace_embedding
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.embedding);

// drop_vector_otherpasttrace_emotion
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.emotion);

// drop_vector_othertrace_embedding
DROP VECTOR INDEX FOR (n:TraceB) ON (n.embedding);

// drop_vector_othertrace_emotion
DROP VECTOR INDEX FOR (n:TraceB) ON (n.emotion);

// drop_vector_passagetrace_embedding
DROP VECTOR INDEX FOR (n:PassageTrace) ON (n.embedding);

// drop_vector_passagetrace_emotion
DROP VECTOR INDEX FOR (n:PassageTrace) ON (n.emotion);

// drop_vector_pasttrace_embedding
DROP VECTOR INDEX FOR (n:PastTrace) ON (n.embedding);

// drop_vector_pasttrace_emotion
DROP VECTOR INDEX FOR (n:PastTrace) ON (n.emotion);

// drop_vector_trace_embedding
DROP VECTOR INDEX FOR (n:Trace) ON (n.embedding);

// drop_vector_trace_emotion
DROP VECTOR INDEX FOR (n:Trace) ON (n.emotion);

// end_offers
// :params $run
MATCH (a:Revaluation)
WHERE a.waiting = true AND a.run <> $run
SET a.waiting = false
RETURN count(a);

// end_reembedding
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state = 'clearing'
SET m.other_model = null, m.other_dimension = null, m.other_state = null
RETURN m.generation;

// ends_told
// :params $limit, $open, $since
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state = 'resolved' AND n.unset CONTAINS 'resolution_state' AND n.created_at > $since
    AND n.expired_at = $open
WITH n
ORDER BY n.created_at DESC, n.id
LIMIT $limit
RETURN n.id, n.name, n.description, n.node_type, n.speaker, n.source, n.episode_id, n.valid_at;

// episode_turns
// :params $after, $episodes, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND n.episode_id IN $episodes
WITH n
LIMIT $rows
RETURN id(n), n.episode_id, n.id, n.node_type, n.name, n.speaker, n.description, n.valid_at, n.invalid_at,
    n.expired_at, coalesce(n.version, 1), n.fingerprint, n.extra;

// erase_authors
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND ([n] + past) AS record
RETURN DISTINCT record.author;

// erase_authors_of_episode
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.episode_id IN $ids
WITH n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND ([n] + past) AS record
RETURN DISTINCT record.author;

// erase_bare
MATCH (g:Tag)
WHERE indegree(g, ['TAGGED', 'MADE_TAG']) = 0
RETURN g.name;

// erase_bare_tags
// :params $names
MATCH (g:Tag)
WHERE g.name IN $names AND indegree(g, ['TAGGED', 'MADE_TAG']) = 0
WITH collect(g) AS gone
FOREACH (g IN gone |
  DELETE g
)
RETURN size(gone);

// erase_changes
// :params $ids
MATCH (c:UpkeepChange)
WHERE c.target IN $ids
WITH collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
RETURN size(gone);

// erase_deeds_of
// :params $ids, $rows, $trigger
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:LINK|PAST_LINK]->(a:ConsciousnessNode)
WHERE a.name_key IS NOT NULL
WITH DISTINCT a
MATCH (a)-[e:LINK|PAST_LINK]-()
WHERE e.episode_id IN $ids AND e.formation_trigger = $trigger
WITH a, e
LIMIT $rows
RETURN DISTINCT e.id, a.id;

// erase_holding_consciousnessnode
// :params $words
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

// erase_holding_pastversion
// :params $words
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
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
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 30
  RETURN collect(DISTINCT node.id) AS held
}
RETURN word, held;

// erase_in_runs
// :params $ids
MATCH (r:UpkeepRun)
WHERE any(x IN $ids WHERE r.errors CONTAINS x OR r.cursor CONTAINS x)
SET r.errors = '[]', r.cursor = null
RETURN count(r);

// erase_link_authors_of_episode
// :params $after, $ids, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.episode_id IN $ids
WITH n, e
RETURN max(id(n)), collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE coalesce(e.author, '') END);

// erase_links
// :params $ids, $links
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]-(m)
WHERE e.id IN $links
WITH DISTINCT e
WITH collect(e) AS gone
WITH gone, size([e IN gone WHERE type(e) = 'LINK']) AS open
FOREACH (e IN gone |
  DELETE e
)
RETURN open, size(gone) - open;

// erase_links_of
// :params $ids, $rows
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]-(m)
WITH DISTINCT e
LIMIT $rows
RETURN DISTINCT e.id;

// erase_links_of_episode
// :params $episode, $ids, $rows
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.episode_id = $episode
WITH DISTINCT e
LIMIT $rows
RETURN DISTINCT e.id;

// erase_memories
// :params $ids
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
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
// :params $after, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN id(n), n.id,
    NOT (n.unset IS NULL OR NOT n.unset STARTS WITH 'name,' OR coalesce(n.description, '') <> '')
    AND indegree(n, 'LINK') + outdegree(n, 'LINK') + indegree(n, 'PAST_LINK') + outdegree(n, 'PAST_LINK') = 0;

// erase_newest_texts
// :params $characters, $open, $rows
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
// :params $episode, $rows
MATCH (n:ConsciousnessNode)
WHERE n.episode_id = $episode
WITH n
LIMIT $rows
RETURN n.id;

// erase_passages
// :params $ids, $rows
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
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

// erase_past_tags
// :params $after, $rows
MATCH (p:PastVersion)
WHERE id(p) > $after
WITH p
LIMIT $rows
RETURN max(id(p)), p.tags, p.buckets;

// erase_present
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
RETURN n.id;

// erase_receipts
// :params $commands, $ids
MATCH (c:Receipt)
WHERE c.id IN $ids OR c.command_id IN $commands
WITH collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
WITH size(gone) AS gone
OPTIONAL MATCH (t:Receipt)
WHERE t.told_of IS NOT NULL AND any(id IN t.told_of WHERE id IN $ids)
WITH gone, collect(t) AS naming
FOREACH (t IN naming |
  SET t.told = null, t.told_of = null
)
RETURN gone;

// erase_records
// :params $ids, $rows
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
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
// :params $after, $episode, $ingestion, $rows
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
// :params $ids, $rows
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)<-[e:LINK|PAST_LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND s.node_type = 'Contest' AND s.id STARTS
WITH 'c_'
WITH DISTINCT s
LIMIT $rows
RETURN s.id;

// erase_stray_passages
// :params $memory_id, $rows
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
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

// erased_at
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.erased_at, 0);

// existing
// :params $ids
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, n.fingerprint;

// feedback
MATCH (f:Feedback)
WHERE f.held IS NULL
RETURN f.id, f.created_at, f.question, f.used, f.wrong, f.lesson, f.not_changed;

// feedback_at
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.feedback_at, 0)
LIMIT 1;

// feedback_naming
// :params $ids
MATCH (f:Feedback)
WHERE any(x IN f.used + f.wrong + coalesce(f.not_changed, []) WHERE x IN $ids)
RETURN f.id;

// felt_at_ends
// :params $ids
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, n.emotion_vector, n.resolution_state, n.energy;

// felt_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $episodes, $expanded, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $emotions_needed, $episodes, $expanded, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  WHERE score <= $felt_far
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_lately_now
// :params $known_from, $known_to, $newest, $open, $until, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8
UNION ALL
MATCH (m:ConsciousnessNode)
WHERE id(m) >= $newest AND id(m) < $until
WITH m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
    AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open)
WITH m
ORDER BY m.valid_at DESC, m.id, m.version
LIMIT 64
RETURN 0 AS c0, m.id AS c1, m.valid_at AS c2, m.emotion_vector AS c3, m.energy AS c4, m.goal AS c5,
    m.resolution_state AS c6, m.speaker AS c7, m.unset AS c8;

// felt_lately_then
// :params $known_from, $known_to, $newest, $open, $until, $valid_from, $valid_to
MATCH (m:ConsciousnessNode)
WHERE id(m) >= $newest AND id(m) < $until
WITH m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
    AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open)
WITH m
ORDER BY m.valid_at DESC, m.id, m.version
LIMIT 64
RETURN m.id, m.valid_at, m.emotion_vector, m.energy, m.goal, m.resolution_state, m.speaker, m.unset
UNION ALL
MATCH (m:PastVersion)
WHERE id(m) >= $newest AND id(m) < $until
WITH m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
    AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open)
WITH m
ORDER BY m.valid_at DESC, m.id, m.version
LIMIT 64
RETURN m.id, m.valid_at, m.emotion_vector, m.energy, m.goal, m.resolution_state, m.speaker, m.unset;

// felt_near_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $episodes, $expanded, $felt_far, $felt_names, $first_hop, $generalised, $half_life, $k, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_near_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $emotions_needed, $episodes, $expanded, $felt_far, $felt_names, $first_hop, $generalised, $half_life, $k, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_near_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $felt_names, $generalised, $half_life, $k, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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

// felt_near_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $emotions_needed, $episodes, $expanded, $felt_far, $felt_names, $first_hop, $generalised, $half_life, $k, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_new_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $episodes, $expanded, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_new_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $emotions_needed, $episodes, $expanded, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  WHERE score <= $felt_far
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_new_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first AND s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $emotions_needed, $episodes, $expanded, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  CALL db.meta.stats()
  YIELD nodeCount
  WITH nodeCount - 5000 AS first
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= first AND s.valid_at >= $since AND s.energy >= $least_energy AND s.energy <= $most_energy
      AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// felt_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
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

// felt_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotion, $emotions_needed, $episodes, $expanded, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.emotion, vecf32($emotion)) AS score
  WHERE score <= $felt_far
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// few_links_around
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $few, $from, $generalised, $ids, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $until
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
WHERE e.valid_at + 0 < $until AND e.invalid_at > $from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $until AND m.invalid_at > $from
    AND m.created_at < $known_to AND m.expired_at > $known_from AND (e.unset IS NULL
    OR NOT e.unset STARTS WITH 'goal,') AND m.energy >= $min_energy AND m.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
    AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
    OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
    OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH s, e, m
ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
WITH s, collect(e)[..$few] AS links, collect(m)[..$few] AS others
UNWIND range(0, size(links) - 1) AS place
WITH s, links[place] AS e, others[place] AS m
RETURN 'link' AS c0, s.id AS c1, startNode(e).id AS c2, e.id AS c3, e.relation_type AS c4, e.goal AS c5,
    e.mindstate AS c6, e.energy AS c7, e.confidence AS c8, e.formation_trigger AS c9, e.emotion_vector AS c10,
    e.energy_transfer_coefficient AS c11, e.resolution_state AS c12, e.felt_quality AS c13,
    e.emotion_description AS c14, e.body_sensation AS c15, e.spatial_context AS c16, e.sensory_details AS c17,
    e.valid_at AS c18, e.invalid_at AS c19, e.created_at AS c20, e.expired_at AS c21, e.version AS c22,
    e.invalidation_reason AS c23, e.closed_reason AS c24, e.source AS c25, e.author AS c26,
    e.episode_id AS c27, e.extra AS c28, e.unset AS c29, m.id AS c30, m.version AS c31, m.created_at AS c32,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c33, m.valid_at AS c34, m.invalid_at AS c35;

// first_state
// :params $after, $open, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (s:CitizenState)
WHERE id(s) > $after AND s.version IS NULL
WITH m, s, coalesce(s.updated_at, m.created_at) AS told
LIMIT $rows
SET s.version = 1, s.valid_at = told, s.invalid_at = $open, s.created_at = told, s.expired_at = $open,
    s.key = null, s.updated_at = null,
    m.clock = CASE WHEN told > coalesce(m.clock, 0) THEN told ELSE m.clock END
RETURN id(s);

// forget_context_notes
// :params $ids
MATCH (c:ContextNote)
WHERE c.memory_id IN $ids
WITH collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
RETURN size(gone);

// forget_made_tags
// :params $names, $rows
UNWIND $names AS name
MATCH (t:Tag {name: name})
WITH t
MATCH (t)<-[g:MADE_TAG]-()
WITH g
LIMIT $rows
WITH collect(g) AS gone
FOREACH (g IN gone |
  DELETE g
)
RETURN size(gone);

// forget_moments
// :params $ids
MATCH (k:LearningMoment)
WHERE k.earlier IN $ids OR k.later IN $ids
DELETE k
RETURN count(k);

// forget_predictions
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH collect(n.name_key) + $ids AS gone_names
MATCH (p:Prediction)
WHERE any(x IN p.named WHERE x IN gone_names)
WITH collect(p) AS gone
FOREACH (p IN gone |
  DELETE p
)
RETURN size(gone);

// forget_revaluations
// :params $ids
MATCH (a:Revaluation)
WHERE a.memory_id IN $ids
DELETE a
RETURN count(a);

// forget_rule_checks
// :params $ids
MATCH (k:RuleCheck)
WHERE k.rule_id IN $ids
DELETE k
RETURN count(k);

// found_former
// :params $wanted
UNWIND $wanted AS one
MATCH (n:ConsciousnessNode {id: one[0]})
WITH one, n
MATCH (n)-[:HAD]->(m:PastVersion)
WHERE m.version = one[1]
RETURN m.id, m.node_type, m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// found_links
// :params $wanted
UNWIND $wanted AS one
MATCH (a:ConsciousnessNode {id: one[0]})
MATCH (b:ConsciousnessNode {id: one[1]})
WITH one, a, b
MATCH (a)-[e:LINK]->(b)
WHERE e.id = one[2]
RETURN e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset;

// found_memories
// :params $ids
MATCH (m:ConsciousnessNode)
WHERE m.id IN $ids
RETURN m.id, m.node_type, m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// fulltext_node
CREATE FULLTEXT INDEX FOR (n:ConsciousnessNode) ON (n.name, n.description, n.search_text, n.entity_names);

// fulltext_passage
CREATE FULLTEXT INDEX FOR (q:Passage) ON (q.text, q.search_text);

// fulltext_past
CREATE FULLTEXT INDEX FOR (n:PastVersion) ON (n.name, n.description, n.search_text, n.entity_names);

// given_alone
// :params $given, $known_from, $known_to, $valid_from, $valid_to
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
WITH s, i, score, place
ORDER BY place
WITH s AS m, score, null AS e
RETURN 0 AS hop, score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// given_count
// :params $known_from, $known_to, $states, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.resolution_state IN $states AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
    AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.unset IS NULL
    OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
    AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
WITH count(s) AS given
RETURN 0 AS c0, given AS c1, null AS c2;

// given_felt
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $first_hop, $generalised, $given, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// given_nearest
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $expanded, $far, $first_hop, $generalised, $given, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $second_hop, $second_starts, $sources, $speakers, $unfiltered, $valid_from, $valid_to
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
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
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  WITH i, e, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from AND b.energy >= $min_energy
      AND b.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN b.emotions]) >= $emotions_needed
      AND (b.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR b.node_type IN $node_types)
      AND (size($speakers) = 0 OR b.speaker IN $speakers)
      AND (size($episodes) = 0 OR b.episode_id IN $episodes) AND (size($sources) = 0 OR b.source IN $sources)
      AND b.valid_at >= $began_from AND b.valid_at < $began_to
      AND all(label IN $labels WHERE b[label[0]] CONTAINS label[1])) AND (b.unset IS NULL
      OR NOT b.unset STARTS WITH 'name,' OR coalesce(b.description, '') <> '') AND ($asked
      OR NOT coalesce(b.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  WITH i, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// given_reached
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $expanded, $far, $first_hop, $generalised, $given, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $second_hop, $second_starts, $sources, $speakers, $unfiltered, $valid_from, $valid_to
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
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
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  WITH i, e, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from AND b.energy >= $min_energy
      AND b.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN b.emotions]) >= $emotions_needed
      AND (b.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR b.node_type IN $node_types)
      AND (size($speakers) = 0 OR b.speaker IN $speakers)
      AND (size($episodes) = 0 OR b.episode_id IN $episodes) AND (size($sources) = 0 OR b.source IN $sources)
      AND b.valid_at >= $began_from AND b.valid_at < $began_to
      AND all(label IN $labels WHERE b[label[0]] CONTAINS label[1])) AND (b.unset IS NULL
      OR NOT b.unset STARTS WITH 'name,' OR coalesce(b.description, '') <> '') AND ($asked
      OR NOT coalesce(b.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  WITH i, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// given_resolved
// :params $began_from, $began_to, $emotions_needed, $episodes, $first_hop, $generalised, $given, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $second_hop, $sources, $speakers, $unfiltered, $valid_from, $valid_to
UNWIND range(0, size($given) - 1) AS place
WITH place, $given[place] AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH place, one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH place, one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
WITH s, i, place, coalesce(one[2], 0.0) AS score
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// given_tags
// :params $names
MATCH (g:Tag)
WHERE g.name IN $names AND indegree(g, 'TAGGED') > 0
RETURN g.name, indegree(g, 'TAGGED');

// graph_now
// :params $asked, $began_from, $began_to, $emotions_needed, $entities, $episodes, $favoured, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $entities
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, 0.0 AS score
  ORDER BY s.id
  LIMIT 8
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE NOT s.id IN $entities AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id
  LIMIT $limit
}
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// graph_then
// :params $asked, $askers, $began_from, $began_to, $emotions_needed, $entities, $episodes, $expanded, $far, $favoured, $first_hop, $generalised, $instruction_words, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $second_hop, $second_starts, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $entities
  WITH i
  WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, collect(p) AS past
  UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
      AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS s
  WITH i, s
  WHERE s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, i, 0.0 AS score
  ORDER BY s.id, s.version
  LIMIT 64
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE NOT s.id IN $entities AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, s AS i, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id
  LIMIT $limit
  UNION ALL
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS s, score
  WITH s, score
  LIMIT 20000
  WITH s, score
  WHERE NOT s.id IN $entities AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
  WHERE toLower(s.speaker) IN $askers AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, s AS i, score
  ORDER BY score DESC, s.id
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  CALL db.idx.fulltext.queryNodes('PastVersion', words)
  YIELD node AS s, score
  WITH s, score
  WHERE toLower(s.speaker) IN $askers AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  RETURN s, i, score
  ORDER BY score DESC, s.id, s.version
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, s AS i, 0.0 AS score
  ORDER BY s.valid_at DESC, s.id
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
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
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  WITH i, e, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from AND b.energy >= $min_energy
      AND b.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN b.emotions]) >= $emotions_needed
      AND (b.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR b.node_type IN $node_types)
      AND (size($speakers) = 0 OR b.speaker IN $speakers)
      AND (size($episodes) = 0 OR b.episode_id IN $episodes) AND (size($sources) = 0 OR b.source IN $sources)
      AND b.valid_at >= $began_from AND b.valid_at < $began_to
      AND all(label IN $labels WHERE b[label[0]] CONTAINS label[1])) AND (b.unset IS NULL
      OR NOT b.unset STARTS WITH 'name,' OR coalesce(b.description, '') <> '') AND ($asked
      OR NOT coalesce(b.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  WITH i, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// held
CALL db.meta.stats()
YIELD labels, relTypes
RETURN labels, relTypes;

// held_before
// :params $beliefs
UNWIND $beliefs AS b
MATCH (i:ConsciousnessNode {id: b.id})
WITH b, i
MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < b.begun AND p.name = b.name AND p.description = b.description
RETURN b.place, p.created_at, p.expired_at;

// held_out
// :params $at, $id, $kind, $open
MATCH (s:ConsciousnessNode {id: $id})-[e:LINK]->(t)
WHERE e.relation_type = $kind AND e.expired_at = $open AND e.valid_at < $at AND e.invalid_at > $at
RETURN e.id, t.id, e.version
ORDER BY e.id;

// held_then
// :params $beliefs, $known_to
UNWIND $beliefs AS b
MATCH (i:ConsciousnessNode {id: b.id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to AND p.expired_at >= $known_to AND p.name = b.name
    AND p.description = b.description
WITH b, i, count(p) AS past
RETURN b.place, CASE WHEN past > 0 OR (i.created_at < $known_to AND i.expired_at >= $known_to
    AND i.name = b.name AND i.description = b.description) THEN 1 ELSE 0 END;

// history
// :params $id
MATCH (i:ConsciousnessNode {id: $id})
CALL {
  WITH i
  RETURN i AS n
  UNION ALL
  WITH i
  MATCH (i)-[:HAD]->(n:PastVersion)
  RETURN n
}
RETURN n.id, n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset, n.command_id, n.key_id,
    n.closed_by, n.closed_source, n.closed_key, n.known_as_happened
ORDER BY n.created_at, n.valid_at;

// history_page
// :params $held_at, $id, $known_at, $known_to, $limit
MATCH (i:ConsciousnessNode {id: $id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to
    AND (p.created_at > $known_at OR (p.created_at = $known_at AND p.valid_at > $held_at))
WITH i, collect(p) AS past
UNWIND past + CASE WHEN i.created_at < $known_to AND (i.created_at > $known_at
    OR (i.created_at = $known_at AND i.valid_at > $held_at)) THEN [i] ELSE [] END AS n
WITH n
ORDER BY n.created_at, n.valid_at
LIMIT $limit
RETURN n.id, n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset, n.command_id, n.key_id,
    n.closed_by, n.closed_source, n.closed_key, n.known_as_happened;

// hold_feedback
// :params $at, $ids, $quarantine
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
MATCH (f:Feedback)
WHERE f.held IS NULL AND any(x IN f.used + f.wrong WHERE x IN $ids)
WITH m, at, collect(f) AS those
WHERE size(those) > 0
FOREACH (f IN those |
  SET f.held = $quarantine
)
SET m.clock = at, m.feedback_at = at
RETURN size(those);

// identity_now
// :params $behind, $behind_id, $fewer, $known_from, $known_to, $limit, $pool, $roles, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from
    AND n.created_at < $known_to AND n.expired_at > $known_from
    AND NOT (n.node_type = 'Person' AND n.name_key IN $roles) AND n.node_type <> 'Self'
WITH n, indegree(n, 'LINK') AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT $pool
MATCH (m:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
    AND m.created_at < $known_to AND m.expired_at > $known_from AND m.id <> n.id
    AND m.node_type <> 'Generalisation'
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
// :params $behind, $behind_id, $fewer, $known_from, $known_to, $limit, $pool, $roles, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND NOT (n.node_type = 'Person' AND n.name_key IN $roles)
    AND n.node_type <> 'Self'
WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT $pool
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH n, collect(p) AS past
WITH n, head(past + CASE WHEN n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from
    AND n.created_at < $known_to AND n.expired_at > $known_from THEN [n] ELSE [] END) AS was
WHERE was IS NOT NULL
WITH n, was.name AS name, was.node_type AS type
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND j.node_type <> 'Generalisation' AND j.id <> n.id
WITH n, name, type, j, CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
    AND j.created_at < $known_to AND j.expired_at > $known_from THEN j ELSE null END AS same
WITH n, name, type, collect(DISTINCT same) AS ms,
    collect(DISTINCT CASE WHEN same IS NULL AND outdegree(j, 'HAD') > 0 THEN j ELSE null END) AS changed
UNWIND (changed + [null]) AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
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

// index_change_command
CREATE INDEX FOR (c:UpkeepChange) ON (c.command_id);

// index_change_page
CREATE INDEX FOR (c:UpkeepChange) ON (c.page);

// index_change_target
CREATE INDEX FOR (c:UpkeepChange) ON (c.target);

// index_context_command
CREATE INDEX FOR (c:ContextNote) ON (c.command_id);

// index_context_memory
CREATE INDEX FOR (c:ContextNote) ON (c.memory_id);

// index_context_note_command
CREATE INDEX FOR (c:ContextNote) ON (c.command_id);

// index_context_note_memory
CREATE INDEX FOR (c:ContextNote) ON (c.memory_id);

// index_emotions
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.emotions);

// index_link_handle
CREATE INDEX FOR ()-[e:LINK]-() ON (e.handle);

// index_node_begun
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.valid_at);

// index_node_emotions
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.emotions);

// index_node_id
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.id);

// index_node_name
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.name_key);

// index_node_rule
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.rule);

// index_node_state
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state);

// index_node_text
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key);

// index_note_at
CREATE INDEX FOR (s:StreamNote) ON (s.at);

// index_note_id
CREATE INDEX FOR (s:StreamNote) ON (s.id);

// index_passage_handle
CREATE INDEX FOR (q:Passage) ON (q.handle);

// index_passage_memory
CREATE INDEX FOR (q:Passage) ON (q.memory_id);

// index_past_begun
CREATE INDEX FOR (n:PastVersion) ON (n.valid_at);

// index_past_emotions
CREATE INDEX FOR (n:PastVersion) ON (n.emotions);

// index_past_id
CREATE INDEX FOR (n:PastVersion) ON (n.id);

// index_past_link
CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle);

// index_past_link_handle
CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle);

// index_past_name
CREATE INDEX FOR (n:PastVersion) ON (n.name_key);

// index_past_rule
CREATE INDEX FOR (n:PastVersion) ON (n.rule);

// index_past_state
CREATE INDEX FOR (n:PastVersion) ON (n.resolution_state);

// index_receipt
CREATE INDEX FOR (n:Receipt) ON (n.command_id);

// index_receipt_command
CREATE INDEX FOR (n:Receipt) ON (n.command_id);

// index_rule
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.rule);

// index_state
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state);

// index_state_begun
CREATE INDEX FOR (s:PastState) ON (s.valid_at);

// index_state_cell
CREATE INDEX FOR (s:PastState) ON (s.cell);

// index_state_version
CREATE INDEX FOR (s:PastState) ON (s.version);

// index_stream_note_at
CREATE INDEX FOR (s:StreamNote) ON (s.at);

// index_stream_note_id
CREATE INDEX FOR (s:StreamNote) ON (s.id);

// index_tag_name
CREATE INDEX FOR (n:Tag) ON (n.name);

// index_text
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key);

// instructed_now
// :params $asked, $askers, $began_from, $began_to, $emotions_needed, $entities, $episodes, $favoured, $generalised, $instruction_words, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $entities
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, 0.0 AS score
  ORDER BY s.id
  LIMIT 8
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE NOT s.id IN $entities AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, score
  ORDER BY score * CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 1.5 ELSE 1.0 END DESC, s.id
  LIMIT $limit
  UNION ALL
  UNWIND $instruction_words AS words
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', words)
  YIELD node AS s, score
  WITH s, score
  WHERE toLower(s.speaker) IN $askers AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
      AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, score
  ORDER BY score DESC, s.id
  LIMIT 40
  UNION ALL
  UNWIND $instruction_words AS words
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, 0.0 AS score
  ORDER BY s.valid_at DESC, s.id
  LIMIT 40
}
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// keep
// :params $receipts
UNWIND $receipts AS r
MERGE (c:Receipt {command_id: r.command_id})
ON CREATE SET c += r
RETURN c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told;

// keep_prediction
// :params $most, $record
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
OPTIONAL MATCH (o:Prediction)
WITH m, o
ORDER BY o.created_at DESC, o.id
WITH m, [x IN collect(o)[$most..] | x] AS gone
FOREACH (o IN gone |
  DELETE o
)
CREATE (p:Prediction)
SET p = $record
RETURN p.id;

// keep_quality
// :params $at, $id, $summary
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
MERGE (q:QualitySummary {id: $id})
ON CREATE SET q.swept_at = $at, q.summary = $summary
RETURN q.swept_at;

// keep_rule_checks
// :params $at, $checks, $since
UNWIND $checks AS c
MERGE (k:RuleCheck {key: c.key})
ON CREATE SET k.rule_id = c.rule_id, k.graph = c.graph, k.action_key = c.action_key, k.action = c.action
SET k.checked = coalesce(k.checked, 0) + 1, k.at = $at, k.overridden = coalesce(k.overridden,
    0) + c.overridden, k.streak = CASE WHEN c.blocked = 0 THEN coalesce(k.streak,
    0) WHEN coalesce(k.blocked_at, 0) > $since THEN k.streak + 1 ELSE 1 END, k.blocked = coalesce(k.blocked,
    0) + c.blocked, k.blocked_at = CASE WHEN c.blocked = 0 THEN k.blocked_at ELSE $at END
WITH count(k) AS kept
MATCH (k:RuleCheck)
RETURN count(k);

// keep_stream_notes
// :params $moments, $most, $notes
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
UNWIND $notes AS note
WITH m, note
WHERE note.at >= m.created_at
MERGE (s:StreamNote {id: note.id})
ON CREATE SET s.at = note.at, s.data = note.data
WITH m, count(s) AS kept
OPTIONAL MATCH (o:LearningMoment)
WITH m, kept, o
ORDER BY o.created_at DESC
WITH m, kept, [x IN collect(o)[$most..] | x] AS gone
FOREACH (o IN gone |
  DELETE o
)
FOREACH (x IN [y IN $moments WHERE y.at >= m.created_at AND y.at > coalesce(m.erased_at, 0)] |
  MERGE (k:LearningMoment {earlier: x.earlier, earlier_version: x.earlier_version, later: x.later,
      later_version: x.later_version})
  ON CREATE SET k.created_at = x.at
)
RETURN kept;

// kept_page
// :params $after, $open, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN id(n), n.expired_at = $open, n.id, n.name, n.source, n.node_type, n.tags, n.resolution_state,
    n.created_at, n.valid_at
ORDER BY id(n);

// known_since
// :params $id, $open
MATCH (n:ConsciousnessNode {id: $id})
WHERE n.expired_at = $open
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.expired_at = $open
RETURN n.version, n.valid_at, min(p.valid_at);

// labels
MATCH (t:Tag)
WITH t.name AS name, indegree(t, 'TAGGED') AS held, indegree(t, 'MADE_TAG') AS made
WHERE held > 0 OR made = 0
RETURN name
ORDER BY held DESC, name
LIMIT 2000;

// lacking
// :params $after, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND outdegree(n, 'HAS_TRACE_B') = 0
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), n.id, n.version, n.created_at, n.name, n.description, n.speaker, n.emotion_vector
ORDER BY id(n);

// lacking_passages
// :params $after, $rows
MATCH (q:Passage)
WHERE id(q) > $after AND outdegree(q, 'HAS_TRACE_B') = 0
WITH q
LIMIT $rows
RETURN id(q), q.memory_id, q.handle, q.text
ORDER BY id(q);

// lacking_past
// :params $after, $rows
MATCH (n:PastVersion)
WHERE id(n) > $after AND outdegree(n, 'HAS_TRACE_B') = 0
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), n.id, n.version, n.created_at, n.name, n.description, n.speaker, n.emotion_vector
ORDER BY id(n);

// last_felt
// :params $known_from, $known_to, $newest, $until, $valid_from, $valid_to
MATCH (m:ConsciousnessNode)
WHERE id(m) >= $newest AND id(m) < $until AND m.emotions IS NOT NULL AND m.valid_at + 0 < $valid_to
    AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
RETURN max(m.valid_at);

// last_node
CALL db.meta.stats()
YIELD nodeCount
RETURN nodeCount;

// last_passage
// :params $after, $rows
MATCH (q:Passage)
WHERE id(q) > $after
WITH q
LIMIT $rows
RETURN max(id(q));

// last_passagetrace
// :params $after, $rows
MATCH (t:PassageTrace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
RETURN max(id(t));

// last_pasttrace
// :params $after, $rows
MATCH (t:PastTrace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
RETURN max(id(t));

// last_trace
// :params $after, $rows
MATCH (t:Trace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
RETURN max(id(t));

// learned_later
// :params $known_from, $known_to, $open, $valid_from, $valid_to
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.created_at >= $known_to AND m.expired_at = $open AND m.valid_at < $valid_to
      AND m.invalid_at > $valid_from
  WITH m, CASE WHEN outdegree(m, 'HAD') > 0 THEN m ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH m, p
  WHERE p IS NULL
  RETURN m.id AS id
  LIMIT 1000
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.created_at >= $known_to AND m.expired_at = $open AND m.valid_at < $valid_to
      AND m.invalid_at > $valid_from
  WITH m
  MATCH (i:ConsciousnessNode)-[:HAD]->(m)
  WITH m, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH m, p
  WHERE p IS NULL
  RETURN m.id AS id
  LIMIT 1000
}
RETURN count(DISTINCT id);

// lexicon_now
// :params $phrases, $sounds, $words
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS kind, seen[0] AS key, seen[1] AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, null AS via
UNION ALL
CALL {
  MATCH (g:ConsciousnessNode {text_key: 0})
  RETURN count(g) AS made
}
CALL db.meta.stats()
YIELD labels
UNWIND [['memories', labels.ConsciousnessNode - made], ['traces', labels.Trace - made],
    ['past_traces', labels.PastTrace], ['past_versions', labels.PastVersion],
    ['passages', labels.Passage]] AS size
RETURN 'size' AS kind, size[0] AS key, size[1] AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, null AS via
UNION ALL
UNWIND $words AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
MATCH (node:ConsciousnessNode)
WHERE node.name_key IN $phrases
WITH node
LIMIT 64
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, null AS via
UNION ALL
UNWIND $sounds AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;

// lexicon_now_alone
// :params $sounds, $words
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $sounds[0..1] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[1..2] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[2..3] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[3..4] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[4..5] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[5..6] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[6..7] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[7..8] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;

// lexicon_then
// :params $phrases, $sounds, $words
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS kind, seen[0] AS key, seen[1] AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, null AS via
UNION ALL
CALL {
  MATCH (g:ConsciousnessNode {text_key: 0})
  RETURN count(g) AS made
}
CALL db.meta.stats()
YIELD labels
UNWIND [['memories', labels.ConsciousnessNode - made], ['traces', labels.Trace - made],
    ['past_traces', labels.PastTrace], ['past_versions', labels.PastVersion],
    ['passages', labels.Passage]] AS size
RETURN 'size' AS kind, size[0] AS key, size[1] AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, null AS via
UNION ALL
UNWIND $words AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
MATCH (node:ConsciousnessNode)
WHERE node.name_key IN $phrases
WITH node
LIMIT 64
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, null AS via
UNION ALL
UNWIND $sounds AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $words AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
MATCH (node:PastVersion)
WHERE node.name_key IN $phrases
WITH node
LIMIT 64
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, null AS via
UNION ALL
UNWIND $sounds AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;

// lexicon_then_alone
// :params $sounds, $words
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $sounds[0..1] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[1..2] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[2..3] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[3..4] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[4..5] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[5..6] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[6..7] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[7..8] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation'
      AND NOT coalesce(node.step, '') IN ['Question', 'Courtesy', 'Echo'] THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $sounds[0..1] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[1..2] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[2..3] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[3..4] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[4..5] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[5..6] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[6..7] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[7..8] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;

// like_in_energy_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $energy, $episodes, $expanded, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, abs(s.energy - $energy) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.energy DESC, s.id, s.version
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// like_in_energy_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $energy, $episodes, $expanded, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, abs(s.energy - $energy) AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, abs(s.energy - $energy) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.energy DESC, s.id, s.version
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// like_in_energy_now
// :params $began_from, $began_to, $energy, $episodes, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $recent_from, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, abs(s.energy - $energy) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.energy DESC, s.id, s.version
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// like_in_energy_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $energy, $episodes, $expanded, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $recent_from, $required_emotions, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, abs(s.energy - $energy) AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, abs(s.energy - $energy) AS score
  RETURN s, i, score
}
WITH s, i, score
ORDER BY (2.0 - score) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    s.energy DESC, s.id, s.version
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// likeness
// :params $pairs
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN null AS one, seen[0] AS other, seen[1] AS cosine
UNION ALL
UNWIND $pairs AS pair
MATCH (a:ConsciousnessNode {id: pair[0]})-[:HAS_TRACE]->(t:Trace)
WITH pair, t
MATCH (b:ConsciousnessNode {id: pair[1]})-[:HAS_TRACE]->(u:Trace)
RETURN pair[0] AS one, pair[1] AS other, 1.0 - vec.cosineDistance(t.embedding, u.embedding) AS cosine;

// link_history
// :params $id, $source_id, $target_id
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = $id
RETURN a.id, b.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
ORDER BY known, held;

// link_history_page
// :params $held_at, $id, $known_at, $known_to, $limit, $source_id, $target_id
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// link_page
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, id(n), n.expired_at, n.invalid_at, n.invalidation_reason, m.id, id(m), m.expired_at,
    m.invalid_at, m.invalidation_reason, e.energy >= 0.0 AND e.confidence >= 0.0
    AND e.energy_transfer_coefficient >= 0.0, CASE WHEN size(split(e.extra, '{')) + size(split(e.extra,
    '[')) > 34 THEN e.extra ELSE null END, CASE WHEN size(split(e.sensory_details,
    '{')) + size(split(e.sensory_details, '[')) > 34 THEN e.sensory_details ELSE null END, e.id,
    e.relation_type, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.energy, e.confidence,
    e.emotion_vector, e.goal, e.mindstate, e.energy_transfer_coefficient, e.resolution_state,
    e.formation_trigger, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.source, e.unset;

// link_seen
// :params $id, $known_from, $known_to, $source_id, $target_id, $valid_from, $valid_to
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
OPTIONAL MATCH (a)-[e:LINK]->(b)
WHERE e.id = $id
WITH a, b, collect(e) AS held
WITH a, b, [e IN held WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from] AS now, size(held) AS known
UNWIND [CASE WHEN size(now) > 0 THEN null ELSE a END] AS s
OPTIONAL MATCH (s)-[p:PAST_LINK]->(b)
WHERE p.id = $id
WITH now, known, count(p) AS gone, collect(CASE WHEN p.valid_at + 0 < $valid_to
    AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from THEN p ELSE null END) AS past
WITH known + gone AS known, now + past AS seen
WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e
RETURN known, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source,
    e.closed_key, e.known_as_happened;

// links_around
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $from, $generalised, $ids, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $until
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
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
WHERE e.valid_at + 0 < $until AND e.invalid_at > $from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $until AND m.invalid_at > $from
    AND m.created_at < $known_to AND m.expired_at > $known_from AND (e.unset IS NULL
    OR NOT e.unset STARTS WITH 'goal,') AND m.energy >= $min_energy AND m.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
    AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
    OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
    OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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

// links_of
// :params $links
UNWIND $links AS l
MATCH (a:ConsciousnessNode {id: l.source_id})
MATCH (b:ConsciousnessNode {id: l.target_id})
WITH l, a, b
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = l.id
RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened;

// links_on_mind_now
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE indegree(s, 'LINK') + outdegree(s, 'LINK') <= 500
MATCH (s)-[e:LINK]-(:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
WITH DISTINCT e
WITH e, startNode(e) AS i, endNode(e) AS j
ORDER BY e.id
LIMIT 200
RETURN i.id, j.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset;

// links_on_mind_then
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE indegree(s, 'LINK') + outdegree(s, 'LINK') <= 500
MATCH (s)-[e:LINK|PAST_LINK]-(:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
WITH DISTINCT e
WITH e, startNode(e) AS i, endNode(e) AS j
ORDER BY e.id
LIMIT 200
RETURN i.id, j.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset;

// list_links
// :params $behind, $first, $key_id, $kind, $known_from, $known_to, $last, $limit, $source, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[e:LINK|PAST_LINK]->(j)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND (id(i) > $first OR e.id > $behind)
    AND ($kind IS NULL OR e.relation_type = $kind) AND ($source IS NULL OR e.source = $source)
    AND ($key_id IS NULL OR e.key_id = $key_id)
RETURN id(i), i.id, j.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence,
    e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset
ORDER BY id(i), e.id
LIMIT $limit;

// list_memories
// :params $began_from, $began_to, $episodes, $first, $generalised, $key_id, $kind, $known_from, $known_to, $labels, $last, $limit, $node_types, $source, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE ($kind IS NULL OR m.node_type = $kind) AND ($source IS NULL OR m.source = $source) AND ($key_id IS NULL
    OR m.key_id = $key_id) AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
RETURN id(i), m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY id(i), m.version
LIMIT $limit;

// list_of_label
// :params $began_from, $began_to, $episodes, $first, $generalised, $key_id, $kind, $known_from, $known_to, $label, $labels, $last, $limit, $node_types, $source, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (t:Tag {name: $label})
WITH t
MATCH (i:ConsciousnessNode)-[:TAGGED]->(t)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE ($kind IS NULL OR m.node_type = $kind) AND ($source IS NULL OR m.source = $source) AND ($key_id IS NULL
    OR m.key_id = $key_id) AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
RETURN id(i), m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY id(i), m.version
LIMIT $limit;

// long_texts
// :params $longest_short, $open, $places
MATCH (n:ConsciousnessNode)
WHERE id(n) IN $places AND n.expired_at = $open
    AND (n.passages IS NOT NULL OR size(n.description) >= $longest_short)
OPTIONAL MATCH (q:Passage {memory_id: n.id})
WHERE q.digest = n.passages
WITH n, count(q) AS stored
RETURN n.id, n.version, n.passages, stored, n.description;

// low_importance
// :params $after, $at, $below, $last, $open, $rows, $things
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND id(n) <= $last AND n.expired_at + 0 = $open AND n.valid_at + 0 <= $at
    AND n.invalid_at + 0 > $at AND coalesce(n.importance, 0.0) < $below AND NOT n.node_type IN $things
WITH n
LIMIT $rows
RETURN id(n), n.id, n.node_type, n.speaker, n.name, left(toStringOrNull(n.description), 200);

// made_links
// :params $id, $open
MATCH (n:ConsciousnessNode {id: $id})
WITH n
MATCH (n)-[e:LINK]->(t)
WHERE e.formation_trigger = 'named in the text' AND e.unset IS NOT NULL AND e.expired_at = $open
RETURN e.id AS id
UNION
MATCH (n:ConsciousnessNode {id: $id})
WITH n
MATCH (n)-[:LINK]->(t)
WHERE t.name_key IS NOT NULL
WITH DISTINCT t
MATCH (t)-[e:LINK]-()
WHERE e.episode_id = $id AND e.formation_trigger = 'told in the text' AND e.expired_at = $open
RETURN e.id AS id;

// made_tags_of
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:MADE_TAG]->(t:Tag)
RETURN n.id, t.name, coalesce(t.shown, t.name), indegree(t, 'TAGGED') + indegree(t, 'MADE_TAG')
ORDER BY n.id, t.name;

// made_tags_of_run
// :params $after, $last, $run
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND id(n) <= $last
WITH n
MATCH (n)-[g:MADE_TAG]->(t:Tag)
WHERE g.run = $run
RETURN n.id, t.name;

// mark_long_text
// :params $digest, $memory_id, $open, $seen
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
MATCH (n:ConsciousnessNode {id: $memory_id})
WHERE n.version = $seen AND n.expired_at = $open
SET n.passages = $digest
RETURN n.version;

// members_now
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $favoured, $generalised, $known_from, $known_to, $label, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (g:Tag {name: $label})
WITH g
MATCH (s:ConsciousnessNode)-[:TAGGED]->(g)
WITH s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH s
MATCH (s)-[:HAS_TRACE]->(t:Trace)
WITH s, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
WHERE score IS NOT NULL
WITH s, score
ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// memories_of
// :params $open, $wanted
UNWIND $wanted AS w
MATCH (i:ConsciousnessNode {id: w.id})
WITH i, w, w.every OR (i.expired_at < $open AND w.since < $open) AS every
CALL {
  WITH i
  RETURN i AS n
  UNION ALL
  WITH i, w, every
  WITH i, w, every
  WHERE every OR i.valid_at > w.since
  MATCH (i)-[:HAD]->(n:PastVersion)
  WHERE every OR n.expired_at = $open
  RETURN n
}
RETURN n.fingerprint, i.version, coalesce(i.versions, i.version),
    coalesce(i.touched, CASE WHEN i.expired_at = $open THEN i.created_at ELSE i.expired_at END), n.id,
    n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at, n.version,
    n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset, n.command_id, n.key_id,
    n.closed_by, n.closed_source, n.closed_key, n.known_as_happened;

// memories_of_graph
CALL db.meta.stats()
YIELD labels
RETURN labels.ConsciousnessNode;

// memories_of_run
// :params $after, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN max(id(n)), count(n);

// memory
// :params $id
MATCH (n:ConsciousnessNode {id: $id})
RETURN n.id, n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset, n.command_id, n.key_id,
    n.closed_by, n.closed_source, n.closed_key, n.known_as_happened;

// memory_page
// :params $after, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace)
RETURN id(n), n.energy >= 0.0 AND n.confidence >= 0.0, typeOf(t.embedding), indegree(n, 'LINK'),
    outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK'), outdegree(n, 'HAD'),
    CASE WHEN size(split(n.extra, '{')) + size(split(n.extra, '[')) > 34 THEN n.extra ELSE null END, n.id,
    n.node_type, n.name, n.speaker, n.version, n.energy, n.confidence, n.emotion_vector, n.goal,
    n.resolution_state, n.unset, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    left(toStringOrNull(n.description), 2000), left(toStringOrNull(n.felt_quality), 2000),
    left(toStringOrNull(n.body_sensation), 2000)
ORDER BY id(n);

// memory_seen
// :params $id, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode {id: $id})
WITH i, i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from AND i.created_at < $known_to
    AND i.expired_at > $known_from AS carried
UNWIND [CASE WHEN carried THEN null ELSE i END] AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, carried, p
ORDER BY p.created_at DESC, p.valid_at DESC
LIMIT 1
WITH CASE WHEN carried THEN i ELSE p END AS n
RETURN n.id, n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset, n.command_id, n.key_id,
    n.closed_by, n.closed_source, n.closed_key, n.known_as_happened;

// mirror_keys
// :params $first, $known_from, $known_to, $last, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
WITH i, i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from AND i.created_at < $known_to
    AND i.expired_at > $known_from AS carried
UNWIND [CASE WHEN carried THEN null ELSE i END] AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH CASE WHEN carried THEN i ELSE p END AS m
WITH m
WHERE m IS NOT NULL
RETURN m.id, m.version, m.created_at, m.valid_at, m.invalid_at, m.node_type, m.name, m.speaker, m.tags,
    m.buckets, m.source, m.episode_id, m.unset, left(toStringOrNull(m.description), 200), size(m.description),
    CASE WHEN m.extra CONTAINS '"path"' THEN m.extra ELSE null END;

// mirror_links
// :params $first, $known_from, $known_to, $last, $rows, $skip, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[e:LINK|PAST_LINK]->(j)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
WITH i, e, j
SKIP $skip
LIMIT $rows
RETURN i.id, j.id, e.relation_type;

// mirror_made_tags
// :params $first, $last
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[:MADE_TAG]->(g:Tag)
RETURN i.id, coalesce(g.shown, g.name)
ORDER BY i.id, g.name;

// mirror_next_change
// :params $first, $last, $now, $open
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
WITH i
WHERE i.expired_at = $open
UNWIND [i.valid_at, i.invalid_at] AS at
WITH at
WHERE at > $now AND at < $open
RETURN min(at);

// mirror_next_past_change
// :params $first, $last, $now, $open
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.expired_at = $open
UNWIND [p.valid_at, p.invalid_at] AS at
WITH at
WHERE at > $now AND at < $open
RETURN min(at);

// mirror_records
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
UNWIND $ids AS id
MATCH (i:ConsciousnessNode {id: id})
WITH i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
RETURN m.id, m.node_type, m.name, m.description, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// moments
// :params $before
MATCH (k:LearningMoment)
WHERE k.created_at < $before
RETURN k.earlier, k.earlier_version, k.later, k.later_version
ORDER BY k.earlier, k.later;

// most_vectors
CALL db.meta.stats()
YIELD labels
RETURN labels.Trace, labels.PassageTrace;

// named_by_words
// :params $kinds, $open, $words
CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
YIELD node AS n
WITH n
WHERE n.expired_at = $open AND n.node_type IN $kinds
WITH n
ORDER BY n.id
LIMIT 500
RETURN n.id, n.name, n.node_type, n.aliases, n.valid_at, n.unset;

// named_link_history
// :params $handle, $id
MATCH (a)-[e:LINK {handle: $handle}]->(b)
WHERE e.id = $id
RETURN a.id, b.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
UNION ALL
MATCH (a)-[e:PAST_LINK {handle: $handle}]->(b)
WHERE e.id = $id
RETURN a.id, b.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// named_link_history_page
// :params $handle, $held_at, $id, $known_at, $known_to, $limit
MATCH (a)-[e:LINK {handle: $handle}]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
UNION ALL
MATCH (a)-[e:PAST_LINK {handle: $handle}]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence, e.formation_trigger,
    e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// named_link_seen
// :params $handle, $id, $known_from, $known_to, $valid_from, $valid_to
OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->()
WHERE e.id = $id
WITH collect(e) AS held
WITH [e IN held WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from] AS now, size(held) AS known
UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle
OPTIONAL MATCH ()-[p:PAST_LINK {handle: handle}]->()
WHERE p.id = $id
WITH now, known, count(p) AS gone, collect(CASE WHEN p.valid_at + 0 < $valid_to
    AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from THEN p ELSE null END) AS past
WITH known + gone AS known, now + past AS seen
WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e
RETURN known, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source,
    e.closed_key, e.known_as_happened;

// named_links_of
// :params $links
UNWIND $links AS l
MATCH (a)-[e:LINK {handle: l.handle}]->(b)
WHERE e.id = l.id
RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened
UNION ALL
UNWIND $links AS l
MATCH (a)-[e:PAST_LINK {handle: l.handle}]->(b)
WHERE e.id = l.id
RETURN e.fingerprint, type(e) = 'LINK', a.id, b.id, e.versions, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened;

// names_of
// :params $ids
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
WITH DISTINCT n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND ([n] + past) AS r
RETURN n.id, r.name, r.aliases;

// names_of_ends_now
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 200);

// names_of_ends_then
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 200);

// near_for_tags
// :params $ids, $known_from, $known_to, $near, $valid_from, $valid_to
UNWIND range(0, size($ids) - 1) AS place
WITH $ids[place] AS id, $near[place] AS found
UNWIND found AS one
MATCH (m:ConsciousnessNode {id: one[0]})
WITH id, one, m
WHERE m.id <> id AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
    AND (m.unset IS NULL OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '')
MATCH (m)-[:HAS_TRACE]->(t:Trace)
WHERE coalesce(t.digest, '') = one[1]
RETURN id, m.id, 1.0 - one[2], m.node_type, CASE WHEN m.speaker IS NULL THEN m.name ELSE null END,
    left(m.description, 4000), m.tags, m.unset;

// nearest
// :params $embedding, $k
CALL {
  CALL db.idx.vector.queryNodes('Trace', 'embedding', $k, vecf32($embedding))
  YIELD node AS t, score
  RETURN t, score
  UNION ALL
  CALL db.idx.vector.queryNodes('PastTrace', 'embedding', $k, vecf32($embedding))
  YIELD node AS t, score
  RETURN t, score
}
WITH t, score
ORDER BY score
LIMIT $k
MATCH (s)-[:HAS_TRACE]->(t)
WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// nearest_open
// :params $embedding, $k
CALL db.idx.vector.queryNodes('Trace', 'embedding', $k, vecf32($embedding))
YIELD node AS t, score
MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t)
RETURN s.id, coalesce(t.digest, ''), score
ORDER BY score
LIMIT $k;

// nearest_passages
// :params $embedding, $k
CALL db.idx.vector.queryNodes('PassageTrace', 'embedding', $k, vecf32($embedding))
YIELD node AS t, score
MATCH (q:Passage)-[:HAS_TRACE]->(t)
RETURN q.memory_id, q.handle, score
ORDER BY score
LIMIT $k;

// newest_told_now
// :params $known_from, $known_to, $newest, $until, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from AND n.created_at < $known_to
    AND n.expired_at > $known_from AND n.node_type <> 'Generalisation' AND n.description <> ''
    AND coalesce(n.version, 1) = 1
WITH n
ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC
LIMIT 40
RETURN n.id AS id, n.speaker AS speaker, coalesce(left(n.description, 1000), '') AS text, n.valid_at AS held,
    n.created_at AS known;

// newest_told_then
// :params $known_from, $known_to, $newest, $until, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from AND n.created_at < $known_to
    AND n.expired_at > $known_from AND n.node_type <> 'Generalisation' AND n.description <> ''
    AND coalesce(n.version, 1) = 1
WITH n
ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC
LIMIT 40
RETURN n.id AS id, n.speaker AS speaker, coalesce(left(n.description, 1000), '') AS text, n.valid_at AS held,
    n.created_at AS known
UNION ALL
MATCH (n:PastVersion)
WHERE id(n) >= $newest AND id(n) < $until
WITH n
WHERE n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from AND n.created_at < $known_to
    AND n.expired_at > $known_from AND n.node_type <> 'Generalisation' AND n.description <> ''
    AND coalesce(n.version, 1) = 1
WITH n
ORDER BY n.valid_at DESC, n.created_at DESC, size(n.id) DESC, n.id DESC
LIMIT 40
RETURN n.id AS id, n.speaker AS speaker, coalesce(left(n.description, 1000), '') AS text, n.valid_at AS held,
    n.created_at AS known;

// next_change
// :params $after, $open
CALL {
  MATCH (x:ConsciousnessNode)
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
  UNION ALL
  MATCH (x:PastVersion)
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
  UNION ALL
  MATCH ()-[x:LINK]->()
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
  UNION ALL
  MATCH ()-[x:PAST_LINK]->()
  WHERE (x.invalid_at < $open OR x.valid_at + 0 > $after) AND x.invalid_at > $after AND x.expired_at = $open
  RETURN min(CASE WHEN x.valid_at > $after THEN x.valid_at ELSE x.invalid_at END) AS at
}
RETURN min(at);

// node_types
MATCH (m:ConsciousnessNode)
WITH m
LIMIT 5000
RETURN m.node_type, count(m) AS held
ORDER BY held DESC, m.node_type
LIMIT 40;

// note_context
// :params $record
MATCH (n:ConsciousnessNode {id: $record.memory_id})
WITH n
LIMIT 1
MERGE (c:ContextNote {memory_id: $record.memory_id})
ON CREATE SET c = $record
RETURN c.memory_id;

// note_links
// :params $ids
UNWIND $ids AS id
MATCH (a:ConsciousnessNode {id: id})
WITH a
MATCH (a)-[e:LINK]->(b)
WHERE e.relation_type IN ['PART_OF', 'NEXT', 'MENTIONS'] AND e.source = 'ingestion'
RETURN e.id, a.id, e.relation_type, b.id, e.valid_at, e.invalid_at;

// notes
// :params $after, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND n.node_type IN ['Document', 'Note'] AND n.episode_id IS NOT NULL
WITH n
LIMIT $rows
RETURN id(n), n.id, n.node_type, n.name, n.description, n.tags, n.buckets, n.aliases, n.valid_at,
    n.invalid_at, n.expired_at, coalesce(n.version, 1), n.source, coalesce(n.episode_id, ''), n.extra,
    n.unset, n.resolution_state;

// offered_in
// :params $run
MATCH (a:Revaluation)
WHERE a.run = $run
RETURN count(a);

// offered_work
// :params $characters, $links, $memories, $now, $open, $states, $work
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15
UNION ALL
MATCH (x:ConsciousnessNode)
WHERE x.resolution_state IN $states AND x.expired_at = $open AND x.valid_at + 0 <= $now
    AND x.invalid_at > $now
WITH x
ORDER BY x.valid_at DESC, x.id
LIMIT $memories
MATCH (x)-[e:LINK]-(o:ConsciousnessNode)
WITH x, e, o
WHERE e.relation_type IN $work AND e.expired_at = $open AND e.valid_at <= $now AND e.invalid_at > $now
WITH DISTINCT x, e, o
LIMIT $links
RETURN 0 AS c0, x.id AS c1, x.name AS c2, x.speaker AS c3, left(x.description, $characters) AS c4,
    x.resolution_state AS c5, x.valid_at AS c6, e.id AS c7, e.relation_type AS c8, e.resolution_state AS c9,
    startNode(e).id AS c10, o.id AS c11, o.name AS c12, o.speaker AS c13,
    left(o.description, $characters) AS c14, CASE WHEN o.expired_at = $open
    AND o.invalid_at > $now THEN coalesce(o.resolution_state, '') ELSE 'resolved' END AS c15;

// open_links
// :params $all, $ids, $limit, $open, $scanned, $valid_from, $valid_to, $work
UNWIND $ids AS id
MATCH (i:ConsciousnessNode {id: id})
WITH i
MATCH (i)-[e:LINK|PAST_LINK]-(o)
WHERE e.expired_at = $open AND e.valid_at < $valid_to AND e.invalid_at > $valid_from
    AND e.resolution_state IN ['blocked', 'in_progress']
    AND (e.relation_type IN $work OR $all AND (e.unset IS NULL OR NOT e.unset CONTAINS 'goal'))
WITH i, e
LIMIT $scanned
WITH i, e, CASE WHEN e.relation_type IN $work THEN 0 ELSE 1 END AS rank
ORDER BY rank, e.id
LIMIT $limit
RETURN i.id, e.id, e.relation_type, startNode(e).id, endNode(e).id;

// open_threads
// :params $before, $embedding, $limit, $open, $speaker
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state IN ['blocked', 'in_progress'] AND n.expired_at = $open AND n.valid_at < $before
    AND n.invalid_at > $before AND n.unset CONTAINS 'resolution_state' AND coalesce(n.speaker, '') = $speaker
WITH n
ORDER BY n.valid_at DESC, n.id
LIMIT $limit
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
RETURN n.id, n.name, n.description, n.valid_at, n.source, vec.cosineDistance(t.embedding, vecf32($embedding));

// open_threads_by_words
// :params $before, $limit, $open, $speaker
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state IN ['blocked', 'in_progress'] AND n.expired_at = $open AND n.valid_at < $before
    AND n.invalid_at > $before AND n.unset CONTAINS 'resolution_state' AND coalesce(n.speaker, '') = $speaker
WITH n
ORDER BY n.valid_at DESC, n.id
LIMIT $limit
RETURN n.id, n.name, n.description, n.valid_at, n.source, null;

// open_vectors
// :params $after, $rows
MATCH (t:Trace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
OPTIONAL MATCH (n:ConsciousnessNode)-[:HAS_TRACE]->(t)
OPTIONAL MATCH (p:PastVersion)-[:HAS_TRACE]->(t)
RETURN id(t), coalesce(head(collect(n.id)), head(collect(p.id))), t.digest, t.embedding
ORDER BY id(t);

// own_vectors
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:HAS_TRACE]->(own:Trace)
WHERE own.embedding IS NOT NULL
RETURN n.id, own.embedding
ORDER BY n.id;

// owned_passages
// :params $owners
UNWIND $owners AS id
MATCH (q:Passage {memory_id: id})
RETURN id, q.handle;

// owned_vectors
// :params $owners
UNWIND $owners AS id
OPTIONAL MATCH (n:ConsciousnessNode {id: id})-[:HAS_TRACE]->(t)
WITH id, collect(t.digest) AS own
OPTIONAL MATCH (p:PastVersion {id: id})-[:HAS_TRACE]->(t)
WITH id, own, collect(DISTINCT t.digest) AS past
UNWIND (own + past) AS digest
RETURN DISTINCT id, digest;

// owned_vectors_now
// :params $owners
UNWIND $owners AS id
MATCH (n:ConsciousnessNode {id: id})
WITH n
MATCH (n)-[:HAS_TRACE]->(t:Trace)
WHERE t.digest IS NOT NULL
RETURN n.id, t.digest;

// passage_vectors
// :params $after, $rows
MATCH (t:PassageTrace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
MATCH (q:Passage)-[:HAS_TRACE]->(t)
RETURN id(t), q.memory_id, q.handle, t.embedding
ORDER BY id(t);

// passages_now
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $near, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
WHERE s.passages = q.digest AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
    AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
    AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
RETURN 0 AS hop, score, places, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, s.id, s.node_type, s.name,
    CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END, s.valid_at, s.invalid_at, s.created_at, s.expired_at,
    s.version, s.invalidation_reason, s.closed_reason, s.correction_pattern_id, s.discovery_energy, s.energy,
    s.confidence, s.emotion_vector, s.felt_quality, s.body_sensation, s.goal, s.resolution_state, s.tags,
    s.buckets, s.aliases, s.importance, s.intensity, s.result, s.rule, s.severity, s.abstraction, s.step,
    s.source, s.author, s.shared_from, s.episode_id, s.speaker, s.extra, s.unset;

// passages_scan_now
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $generalised, $k, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
MATCH (s:ConsciousnessNode {id: q.memory_id})
WHERE s.passages = q.digest AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
    AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
    AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
RETURN 0 AS hop, score, places, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, s.id, s.node_type, s.name,
    CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END, s.valid_at, s.invalid_at, s.created_at, s.expired_at,
    s.version, s.invalidation_reason, s.closed_reason, s.correction_pattern_id, s.discovery_energy, s.energy,
    s.confidence, s.emotion_vector, s.felt_quality, s.body_sensation, s.goal, s.resolution_state, s.tags,
    s.buckets, s.aliases, s.importance, s.intensity, s.result, s.rule, s.severity, s.abstraction, s.step,
    s.source, s.author, s.shared_from, s.episode_id, s.speaker, s.extra, s.unset;

// passages_scan_then
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $generalised, $k, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
WHERE p.passages = q.digest AND p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from
    AND p.created_at < $known_to AND p.expired_at > $known_from AND p.energy >= $min_energy
    AND p.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
    AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR p.node_type IN $node_types)
    AND (size($speakers) = 0 OR p.speaker IN $speakers)
    AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
    AND p.valid_at >= $began_from AND p.valid_at < $began_to
    AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
    OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
    OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH q, score, words, i, collect(p) AS past
UNWIND (past + CASE WHEN i.passages = q.digest AND i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from AND i.energy >= $min_energy
    AND i.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN i.emotions]) >= $emotions_needed
    AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR i.node_type IN $node_types)
    AND (size($speakers) = 0 OR i.speaker IN $speakers)
    AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
    AND i.valid_at >= $began_from AND i.valid_at < $began_to
    AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1])) AND (i.unset IS NULL
    OR NOT i.unset STARTS WITH 'name,' OR coalesce(i.description, '') <> '') AND ($asked
    OR NOT coalesce(i.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [i] ELSE [] END) AS s
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
RETURN 0 AS hop, score, places, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, s.id, s.node_type, s.name,
    CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END, s.valid_at, s.invalid_at, s.created_at, s.expired_at,
    s.version, s.invalidation_reason, s.closed_reason, s.correction_pattern_id, s.discovery_energy, s.energy,
    s.confidence, s.emotion_vector, s.felt_quality, s.body_sensation, s.goal, s.resolution_state, s.tags,
    s.buckets, s.aliases, s.importance, s.intensity, s.result, s.rule, s.severity, s.abstraction, s.step,
    s.source, s.author, s.shared_from, s.episode_id, s.speaker, s.extra, s.unset;

// passages_then
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $near, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
MATCH (i:ConsciousnessNode {id: q.memory_id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.passages = q.digest AND p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from
    AND p.created_at < $known_to AND p.expired_at > $known_from AND p.energy >= $min_energy
    AND p.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
    AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR p.node_type IN $node_types)
    AND (size($speakers) = 0 OR p.speaker IN $speakers)
    AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
    AND p.valid_at >= $began_from AND p.valid_at < $began_to
    AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
    OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
    OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH q, score, words, i, collect(p) AS past
UNWIND (past + CASE WHEN i.passages = q.digest AND i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from AND i.energy >= $min_energy
    AND i.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN i.emotions]) >= $emotions_needed
    AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR i.node_type IN $node_types)
    AND (size($speakers) = 0 OR i.speaker IN $speakers)
    AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
    AND i.valid_at >= $began_from AND i.valid_at < $began_to
    AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1])) AND (i.unset IS NULL
    OR NOT i.unset STARTS WITH 'name,' OR coalesce(i.description, '') <> '') AND ($asked
    OR NOT coalesce(i.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [i] ELSE [] END) AS s
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
RETURN 0 AS hop, score, places, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, s.id, s.node_type, s.name,
    CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END, s.valid_at, s.invalid_at, s.created_at, s.expired_at,
    s.version, s.invalidation_reason, s.closed_reason, s.correction_pattern_id, s.discovery_energy, s.energy,
    s.confidence, s.emotion_vector, s.felt_quality, s.body_sensation, s.goal, s.resolution_state, s.tags,
    s.buckets, s.aliases, s.importance, s.intensity, s.result, s.rule, s.severity, s.abstraction, s.step,
    s.source, s.author, s.shared_from, s.episode_id, s.speaker, s.extra, s.unset;

// passages_worded_now
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
CALL {
  CALL db.idx.fulltext.queryNodes('Passage', $words)
  YIELD node AS q, score AS words
  RETURN q, 1.0 AS score, words
  ORDER BY words DESC, q.handle
  LIMIT 120
}
WITH q, min(score) AS score, max(words) AS words
MATCH (s:ConsciousnessNode {id: q.memory_id})
WHERE s.passages = q.digest AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
    AND s.created_at < $known_to AND s.expired_at > $known_from AND s.energy >= $min_energy
    AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
RETURN 0 AS hop, score, places, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, s.id, s.node_type, s.name,
    CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END, s.valid_at, s.invalid_at, s.created_at, s.expired_at,
    s.version, s.invalidation_reason, s.closed_reason, s.correction_pattern_id, s.discovery_energy, s.energy,
    s.confidence, s.emotion_vector, s.felt_quality, s.body_sensation, s.goal, s.resolution_state, s.tags,
    s.buckets, s.aliases, s.importance, s.intensity, s.result, s.rule, s.severity, s.abstraction, s.step,
    s.source, s.author, s.shared_from, s.episode_id, s.speaker, s.extra, s.unset;

// passages_worded_then
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
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
WHERE p.passages = q.digest AND p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from
    AND p.created_at < $known_to AND p.expired_at > $known_from AND p.energy >= $min_energy
    AND p.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
    AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR p.node_type IN $node_types)
    AND (size($speakers) = 0 OR p.speaker IN $speakers)
    AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
    AND p.valid_at >= $began_from AND p.valid_at < $began_to
    AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
    OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
    OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH q, score, words, i, collect(p) AS past
UNWIND (past + CASE WHEN i.passages = q.digest AND i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from AND i.energy >= $min_energy
    AND i.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN i.emotions]) >= $emotions_needed
    AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR i.node_type IN $node_types)
    AND (size($speakers) = 0 OR i.speaker IN $speakers)
    AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
    AND i.valid_at >= $began_from AND i.valid_at < $began_to
    AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1])) AND (i.unset IS NULL
    OR NOT i.unset STARTS WITH 'name,' OR coalesce(i.description, '') <> '') AND ($asked
    OR NOT coalesce(i.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [i] ELSE [] END) AS s
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
RETURN 0 AS hop, score, places, null AS target, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, s.id, s.node_type, s.name,
    CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END, s.valid_at, s.invalid_at, s.created_at, s.expired_at,
    s.version, s.invalidation_reason, s.closed_reason, s.correction_pattern_id, s.discovery_energy, s.energy,
    s.confidence, s.emotion_vector, s.felt_quality, s.body_sensation, s.goal, s.resolution_state, s.tags,
    s.buckets, s.aliases, s.importance, s.intensity, s.result, s.rule, s.severity, s.abstraction, s.step,
    s.source, s.author, s.shared_from, s.episode_id, s.speaker, s.extra, s.unset;

// past_link_page
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:PAST_LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, m.id, e.id, e.valid_at, e.invalid_at, e.created_at, e.expired_at;

// past_vectors
// :params $after, $rows
MATCH (t:PastTrace)
WHERE id(t) > $after AND t.embedding IS NOT NULL
WITH t
ORDER BY id(t)
LIMIT $rows
OPTIONAL MATCH (n:ConsciousnessNode)-[:HAS_TRACE]->(t)
OPTIONAL MATCH (p:PastVersion)-[:HAS_TRACE]->(t)
RETURN id(t), coalesce(head(collect(n.id)), head(collect(p.id))), t.digest, t.embedding
ORDER BY id(t);

// people_now
// :params $known_from, $known_to, $own_sources, $own_speakers, $possessives, $roles, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' AND n.valid_at + 0 < $valid_to
    AND n.invalid_at > $valid_from AND n.created_at < $known_to AND n.expired_at > $known_from
    AND NOT n.name_key IN $roles
WITH n, indegree(n, 'LINK') AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT 64
MATCH (m:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.relation_type <> 'SAID_BY' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from AND m.valid_at + 0 < $valid_to
    AND m.invalid_at > $valid_from AND m.created_at < $known_to AND m.expired_at > $known_from
    AND m.id <> n.id AND ((m.speaker IS NULL AND m.source IN $own_sources)
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
// :params $known_from, $known_to, $own_sources, $own_speakers, $possessives, $roles, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' AND NOT n.name_key IN $roles
WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links
WHERE links > 0
WITH n
ORDER BY links DESC, n.id
LIMIT 64
WITH n, CASE WHEN outdegree(n, 'HAD') > 0 THEN n ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH n, collect(p) AS past
UNWIND (past + CASE WHEN n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from
    AND n.created_at < $known_to AND n.expired_at > $known_from THEN [n] ELSE [] END) AS was
WITH n, was
WITH n, was.name AS name, was.aliases AS aliases
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type <> 'SAID_BY' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from AND j.id <> n.id
WITH DISTINCT n, name, aliases, j
WITH n, name, aliases, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH n, name, aliases, j, collect(p) AS past
UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
    AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
WITH n, name, aliases, j, m
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

// place_then
// :params $known_to, $valid_to
CALL db.meta.stats()
YIELD nodeCount
UNWIND range(0, 63) AS step
CALL {
  WITH step, nodeCount
  MATCH (n:ConsciousnessNode)
  WHERE id(n) >= step * nodeCount / 64
  WITH n
  LIMIT 1
  RETURN CASE WHEN n.valid_at < $valid_to AND n.created_at < $known_to THEN 1 ELSE null END AS held
}
RETURN nodeCount, count(step), count(held);

// places
// :params $first, $rows
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first
WITH i
LIMIT $rows
RETURN max(id(i)), count(i);

// places_now
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2
UNION ALL
CALL db.meta.stats()
YIELD nodeCount
UNWIND [1, 4, 16, 64, 256] AS wide
WITH nodeCount - 5000 * wide AS first
CALL {
  WITH first
  MATCH (n:ConsciousnessNode)
  WHERE id(n) >= first
  WITH n
  LIMIT 1000
  RETURN count(n) AS held
}
RETURN 0 AS c0, first AS c1, held AS c2;

// places_of_label
// :params $first, $label, $rows
MATCH (t:Tag {name: $label})
WITH t
MATCH (i:ConsciousnessNode)-[:TAGGED]->(t)
WHERE id(i) >= $first
WITH i
ORDER BY id(i)
LIMIT $rows
RETURN max(id(i)), count(i);

// policies
MATCH (p:RetentionPolicy)
RETURN p.id, p.data
ORDER BY p.id;

// pools_now
// :params $asked, $began_from, $began_to, $chance, $emotions_needed, $episodes, $generalised, $importance_floor, $known_from, $known_to, $labels, $lots, $matching, $min_confidence, $min_energy, $node_types, $recent, $recent_from, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN m
  ORDER BY m.valid_at DESC, m.id, m.version
  LIMIT $recent
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS m, score
  WITH m, score
  WHERE m.valid_at < $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
  WHERE m.valid_at < $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN m
  ORDER BY lot
  LIMIT $chance
}
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// pools_then
// :params $asked, $began_from, $began_to, $chance, $emotions_needed, $episodes, $generalised, $importance_floor, $known_from, $known_to, $labels, $lots, $matching, $min_confidence, $min_energy, $node_types, $recent, $recent_from, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to, $words
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN m
  ORDER BY m.valid_at DESC, m.id, m.version
  LIMIT $recent
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.valid_at >= $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN m
  ORDER BY m.valid_at DESC, m.id, m.version
  LIMIT $recent
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS m, score
  WITH m, score
  WHERE m.valid_at < $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN m
  ORDER BY CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END DESC, score DESC, m.id, m.version
  LIMIT $matching
  UNION ALL
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS m, score
  WITH m, score
  WHERE m.valid_at < $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
  WHERE m.valid_at < $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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
  WHERE m.valid_at < $recent_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.energy >= $min_energy
      AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
      OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
      OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN m
  ORDER BY lot
  LIMIT $chance
}
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// prediction
// :params $id
MATCH (p:Prediction)
WHERE p.id = $id
RETURN p.id, p.created_at, p.asked, p.told, p.answered_at, p.context_id, p.result, p.emotion;

// predictions
MATCH (p:Prediction)
RETURN p.id, p.created_at, p.asked, p.told, p.answered_at, p.context_id, p.result, p.emotion;

// present_vectors
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:HAS_TRACE]->(t:Trace)
WHERE t.digest IS NOT NULL
RETURN n.id, t.digest;

// put_changes_until
// :params $changes_until
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.changes_until = $changes_until
RETURN count(m);

// put_citizenstate
// :params $rows
UNWIND $rows AS r
CREATE (n:CitizenState)
SET n = r.properties
SET n += {emotion_vector: intern(r.properties.emotion_vector), goal: intern(r.properties.goal),
    drives: intern(r.properties.drives), window: intern(r.properties.window),
    focus: intern(r.properties.focus), senses: intern(r.properties.senses),
    writers: intern(r.properties.writers)}
RETURN count(n);

// put_contextnote
// :params $rows
UNWIND $rows AS r
CREATE (n:ContextNote)
SET n = r.properties
RETURN count(n);

// put_feedback
// :params $rows
UNWIND $rows AS r
CREATE (n:Feedback)
SET n = r.properties
RETURN count(n);

// put_learningmoment
// :params $rows
UNWIND $rows AS r
CREATE (n:LearningMoment)
SET n = r.properties
RETURN count(n);

// put_links
// :params $rows
UNWIND $rows AS r
MATCH (a:ConsciousnessNode {id: r.source_id})
MATCH (b:ConsciousnessNode {id: r.target_id})
CREATE (a)-[e:LINK]->(b)
SET e = r.properties
SET e += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
RETURN count(e);

// put_memories
// :params $rows
UNWIND $rows AS r
CREATE (n:ConsciousnessNode)
SET n = r.properties
SET n += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
FOREACH (v IN r.present |
  CREATE (n)-[:HAS_TRACE]->(t:Trace)
  SET t = v.properties
  SET t += {embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}
)
FOREACH (v IN r.past |
  CREATE (n)-[:HAS_TRACE]->(t:PastTrace)
  SET t = v.properties
  SET t += {embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}
)
FOREACH (g IN r.tags |
  MERGE (x:Tag {name: g.name})
  CREATE (n)-[e:TAGGED]->(x)
  SET e = g.properties
)
RETURN count(n);

// put_past_links
// :params $rows
UNWIND $rows AS r
MATCH (a:ConsciousnessNode {id: r.source_id})
MATCH (b:ConsciousnessNode {id: r.target_id})
CREATE (a)-[e:PAST_LINK]->(b)
SET e = r.properties
SET e += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
RETURN count(e);

// put_paststate
// :params $rows
UNWIND $rows AS r
CREATE (n:PastState)
SET n = r.properties
SET n += {emotion_vector: intern(r.properties.emotion_vector), goal: intern(r.properties.goal),
    drives: intern(r.properties.drives), window: intern(r.properties.window),
    focus: intern(r.properties.focus), senses: intern(r.properties.senses),
    writers: intern(r.properties.writers)}
RETURN count(n);

// put_prediction
// :params $rows
UNWIND $rows AS r
CREATE (n:Prediction)
SET n = r.properties
RETURN count(n);

// put_quarantine
// :params $rows
UNWIND $rows AS r
CREATE (n:Quarantine)
SET n = r.properties
RETURN count(n);

// put_receipt
// :params $rows
UNWIND $rows AS r
CREATE (n:Receipt)
SET n = r.properties
RETURN count(n);

// put_records
// :params $rows
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.of})
CREATE (p:PastVersion)<-[:HAD]-(n)
SET p = r.properties
SET p += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
FOREACH (v IN r.past |
  CREATE (p)-[:HAS_TRACE]->(t:PastTrace)
  SET t = v.properties
  SET t += {embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}
)
RETURN count(p);

// put_retentionpolicy
// :params $rows
UNWIND $rows AS r
CREATE (n:RetentionPolicy)
SET n = r.properties
RETURN count(n);

// put_stamp
// :params $properties
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m += $properties
SET m.shifts = timestamp(), m.changes_until = null
RETURN count(m);

// put_streamnote
// :params $rows
UNWIND $rows AS r
CREATE (n:StreamNote)
SET n = r.properties
RETURN count(n);

// put_tags
// :params $rows
UNWIND $rows AS r
CREATE (n:Tag)
SET n = r.properties
RETURN count(n);

// quality
// :params $rows
MATCH (q:QualitySummary)
WITH q
ORDER BY q.swept_at DESC
LIMIT $rows
RETURN q.swept_at, q.summary;

// quality_times
MATCH (q:QualitySummary)
RETURN q.swept_at;

// quarantine_bare_names
// :params $ids, $kinds, $own
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK]-(m)
WHERE NOT (m.unset IS NULL OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '')
    OR (m.node_type IN $kinds AND coalesce(m.description, '') = '' AND NOT m.source IN $own)
WITH m, count(e) AS ways
RETURN m.id, ways, indegree(m, 'LINK') + outdegree(m, 'LINK');

// quarantine_general
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (m)-[e:LINK]->(n)
WHERE e.relation_type = 'GENERALISES'
RETURN m.id;

// quarantine_link_suspects
// :params $episode, $first, $key, $last, $since, $source, $until
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) <= $last
WITH n
MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE ($source = '' OR e.source = $source OR e.closed_source = $source)
    AND ($key = '' OR e.key_id = $key OR e.closed_key = $key) AND ($episode = '' OR e.episode_id = $episode)
    AND (e.created_at >= $since OR e.expired_at >= $since) AND e.created_at < $until
RETURN DISTINCT e.id;

// quarantine_links_at
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK]-(m)
RETURN DISTINCT e.id;

// quarantine_mentioned
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.relation_type = 'MENTIONS' AND m.version > 1
RETURN DISTINCT m.id, e.created_at;

// quarantine_names_of
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
RETURN n.id, n.name;

// quarantine_resolved
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (m)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'RESOLVED_BY' AND e.unset IS NOT NULL
RETURN m.id, min(e.created_at);

// quarantine_suspects
// :params $after, $episode, $key, $rows, $since, $source, $until
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
RETURN id(n), n.id,
    any(x IN past + [n] WHERE ($source = '' OR x.source = $source OR x.closed_source = $source)
    AND ($key = '' OR x.key_id = $key OR x.closed_key = $key) AND ($episode = '' OR x.episode_id = $episode)
    AND (x.created_at >= $since OR x.expired_at >= $since) AND x.created_at < $until)
ORDER BY id(n);

// quarantines
MATCH (q:Quarantine)
RETURN q.id, q.created_at, q.used, q.data;

// re_embed
// :params $digest, $embedding, $emotion, $id, $open, $seen
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1
)
WITH 1 AS shifted
MATCH (n:ConsciousnessNode {id: $id})
WHERE n.version = $seen AND n.expired_at = $open
WITH n
LIMIT 1
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace)
WITH n, collect(t) AS traces
FOREACH (_ IN CASE WHEN size(traces) = 0 THEN [1] ELSE [] END |
  CREATE (n)-[:HAS_TRACE]->(:Trace {embedding: vecf32($embedding), emotion: vecf32($emotion),
      digest: $digest})
)
FOREACH (t IN traces |
  SET t.embedding = vecf32($embedding), t.digest = $digest
)
RETURN n.version;

// read_stamp
MATCH (m:SubstrateMeta)
RETURN m.schema_version, m.embedding_model, m.dimension, m.created_at, coalesce(m.generation, 0),
    m.other_model, m.other_dimension, m.other_state, coalesce(m.likeness, 'index'),
    coalesce(m.pending_until, 0), coalesce(m.feedback_at, 0), coalesce(m.clock, 0), coalesce(m.shifts, 0),
    m.changes_until
LIMIT 1;

// read_state
MATCH (s:CitizenState)
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
LIMIT 1;

// read_state_then
// :params $cells, $known_from, $known_to, $valid_from, $valid_to
MATCH (s:CitizenState)
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
UNION ALL
MATCH (s:PastState)
WHERE s.cell IN $cells AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
    AND s.created_at < $known_to AND s.expired_at > $known_from
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers;

// receipts
// :params $ids
UNWIND $ids AS id
MATCH (c:Receipt {command_id: id})
RETURN c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told;

// records_now
// :params $characters, $shown
UNWIND $shown AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
RETURN s.id, s.version, s.name, s.created_at, s.expired_at, coalesce(s.closed_reason, s.invalidation_reason),
    s.known_as_happened, i.version, i.name, left(coalesce(i.description, ''), $characters), i.expired_at,
    i.invalid_at;

// records_of
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $min_confidence, $min_energy, $most_of_all, $most_of_one, $node_types, $required_emotions, $sources, $speakers, $touching, $unfiltered, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
    AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
    OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
    OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH i, m, (m.created_at IN $touching OR m.expired_at IN $touching) AS near
ORDER BY near DESC, m.created_at DESC, m.version DESC
WITH i, collect(m) AS records
WITH records[..$most_of_one] AS kept, size(records) AS held
UNWIND range(0, size(kept) - 1) AS place
WITH place, kept[place] AS m, held
ORDER BY place, m.id
LIMIT $most_of_all
RETURN held, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// relate
// :params $at, $changes_until, $command, $last, $open, $rows, $whole
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
WITH m, at, coalesce(m.clock, 0) AS was
FOREACH (w IN $whole |
  MERGE (c:Receipt {command_id: w.command_id})
  ON CREATE SET c += w, c.created_at = at
)
WITH m, at, was
FOREACH (_ IN CASE WHEN m.changes_until < $changes_until THEN [1] ELSE [] END |
  SET m.changes_until = $changes_until
)
WITH m, at, was
UNWIND $rows AS r
OPTIONAL MATCH (c:Receipt {command_id: r.receipt})
OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id})
OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id})
WITH m, at, was, r, c, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target
OPTIONAL MATCH (a)-[o:LINK {id: r.id}]->(b)
WITH m, at, was, r, c, a, b, has_source, has_target, o, size([(a)-[q:PAST_LINK {id: r.id}]->(b) | 1]) AS gone
WITH m, at, was, r, c, a, b, has_source, has_target, gone, CASE WHEN has_source AND has_target AND o IS NULL
    AND c IS NULL AND gone = 0 THEN [1] ELSE [] END AS new, o.fingerprint AS fingerprint,
    coalesce(o.version, 1) AS version, o.valid_at AS valid_at, o.invalid_at AS invalid_at,
    o.created_at AS created_at, o.expired_at AS expired_at
FOREACH (_ IN new |
  CREATE (a)-[:LINK {handle: r.handle, id: r.id, relation_type: intern(r.relation_type), goal: intern(r.goal),
      mindstate: intern(r.mindstate), energy: r.energy, confidence: r.confidence,
      formation_trigger: intern(r.formation_trigger), emotion_vector: r.emotion_vector,
      energy_transfer_coefficient: r.energy_transfer_coefficient,
      resolution_state: intern(r.resolution_state), felt_quality: r.felt_quality,
      emotion_description: r.emotion_description, body_sensation: r.body_sensation,
      spatial_context: r.spatial_context, sensory_details: r.sensory_details, valid_at: r.valid_at,
      invalid_at: r.invalid_at, expired_at: r.expired_at, version: r.version,
      invalidation_reason: r.invalidation_reason, closed_reason: r.closed_reason, source: intern(r.source),
      author: intern(r.author), episode_id: intern(r.episode_id), extra: r.extra, unset: intern(r.unset),
      command_id: intern(r.command_id), key_id: intern(r.key_id), known_as_happened: r.known_as_happened,
      fingerprint: r.fingerprint, created_at: at + r.nth}]->(b)
  SET m.clock = at + $last
)
FOREACH (_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1
    OR (r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END |
  CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id,
      version: version, valid_at: coalesce(valid_at, r.valid_at),
      invalid_at: coalesce(invalid_at, r.invalid_at), created_at: coalesce(created_at, at + r.nth),
      warnings: intern(r.warnings)})
)
RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at,
    c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told, has_source, has_target, gone, was, coalesce(m.clock, 0),
    coalesce(m.shifts, 0), coalesce(m.created_at, 0), coalesce(m.generation, 0);

// relate_named
// :params $at, $changes_until, $command, $last, $open, $rows, $whole
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
WITH m, at, coalesce(m.clock, 0) AS was
FOREACH (w IN $whole |
  MERGE (c:Receipt {command_id: w.command_id})
  ON CREATE SET c += w, c.created_at = at
)
WITH m, at, was
FOREACH (_ IN CASE WHEN m.changes_until < $changes_until THEN [1] ELSE [] END |
  SET m.changes_until = $changes_until
)
WITH m, at, was
UNWIND $rows AS r
OPTIONAL MATCH (c:Receipt {command_id: r.receipt})
OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id})
OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id})
WITH m, at, was, r, c, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target
OPTIONAL MATCH ()-[o:LINK {handle: r.handle}]->()
WHERE o.id = r.id
WITH m, at, was, r, c, a, b, has_source, has_target, o
CALL {
  WITH r
  OPTIONAL MATCH ()-[q:PAST_LINK {handle: r.handle}]->()
  WHERE q.id = r.id
  RETURN count(q) AS gone
}
WITH m, at, was, r, c, a, b, has_source, has_target, gone, CASE WHEN has_source AND has_target AND o IS NULL
    AND c IS NULL AND gone = 0 THEN [1] ELSE [] END AS new, o.fingerprint AS fingerprint,
    coalesce(o.version, 1) AS version, o.valid_at AS valid_at, o.invalid_at AS invalid_at,
    o.created_at AS created_at, o.expired_at AS expired_at
FOREACH (_ IN new |
  CREATE (a)-[:LINK {handle: r.handle, id: r.id, relation_type: intern(r.relation_type), goal: intern(r.goal),
      mindstate: intern(r.mindstate), energy: r.energy, confidence: r.confidence,
      formation_trigger: intern(r.formation_trigger), emotion_vector: r.emotion_vector,
      energy_transfer_coefficient: r.energy_transfer_coefficient,
      resolution_state: intern(r.resolution_state), felt_quality: r.felt_quality,
      emotion_description: r.emotion_description, body_sensation: r.body_sensation,
      spatial_context: r.spatial_context, sensory_details: r.sensory_details, valid_at: r.valid_at,
      invalid_at: r.invalid_at, expired_at: r.expired_at, version: r.version,
      invalidation_reason: r.invalidation_reason, closed_reason: r.closed_reason, source: intern(r.source),
      author: intern(r.author), episode_id: intern(r.episode_id), extra: r.extra, unset: intern(r.unset),
      command_id: intern(r.command_id), key_id: intern(r.key_id), known_as_happened: r.known_as_happened,
      fingerprint: r.fingerprint, created_at: at + r.nth}]->(b)
  SET m.clock = at + $last
)
FOREACH (_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1
    OR (r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END |
  CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id,
      version: version, valid_at: coalesce(valid_at, r.valid_at),
      invalid_at: coalesce(invalid_at, r.invalid_at), created_at: coalesce(created_at, at + r.nth),
      warnings: intern(r.warnings)})
)
RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at,
    c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told, has_source, has_target, gone, was, coalesce(m.clock, 0),
    coalesce(m.shifts, 0), coalesce(m.created_at, 0), coalesce(m.generation, 0);

// relation_types
MATCH (:ConsciousnessNode)-[e:LINK]->()
WITH e
LIMIT 5000
RETURN e.relation_type, count(e) AS held
ORDER BY held DESC, e.relation_type
LIMIT 40;

// release_feedback
// :params $at, $quarantine
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
MATCH (f:Feedback)
WHERE f.held = $quarantine
WITH m, at, collect(f) AS those
WHERE size(those) > 0
FOREACH (f IN those |
  SET f.held = null
)
SET m.clock = at, m.feedback_at = at
RETURN size(those);

// remember
// :params $at, $changes_until, $command, $last, $open, $rows, $whole
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
WITH m, at, coalesce(m.clock, 0) AS was
FOREACH (w IN $whole |
  MERGE (c:Receipt {command_id: w.command_id})
  ON CREATE SET c += w, c.created_at = at
)
WITH m, at, was
FOREACH (_ IN CASE WHEN m.changes_until < $changes_until THEN [1] ELSE [] END |
  SET m.changes_until = $changes_until
)
WITH m, at, was
UNWIND $rows AS r
OPTIONAL MATCH (c:Receipt {command_id: r.receipt})
OPTIONAL MATCH (o:ConsciousnessNode {id: r.id})
WITH m, at, was, r, c, CASE WHEN o IS NULL AND c IS NULL THEN [1] ELSE [] END AS new,
    o.fingerprint AS fingerprint, coalesce(o.version, 1) AS version, o.valid_at AS valid_at,
    o.invalid_at AS invalid_at, o.created_at AS created_at, o.expired_at AS expired_at
FOREACH (_ IN new |
  CREATE (n:ConsciousnessNode {id: r.id, node_type: intern(r.node_type), name: r.name,
      description: r.description, valid_at: r.valid_at, invalid_at: r.invalid_at, expired_at: r.expired_at,
      version: r.version, invalidation_reason: r.invalidation_reason, closed_reason: r.closed_reason,
      correction_pattern_id: r.correction_pattern_id, discovery_energy: r.discovery_energy, energy: r.energy,
      confidence: r.confidence, emotion_vector: r.emotion_vector, felt_quality: r.felt_quality,
      body_sensation: r.body_sensation, goal: intern(r.goal), resolution_state: intern(r.resolution_state),
      tags: r.tags, buckets: r.buckets, aliases: r.aliases, importance: r.importance, intensity: r.intensity,
      result: r.result, rule: r.rule, severity: intern(r.severity), abstraction: r.abstraction,
      step: intern(r.step), source: intern(r.source), author: intern(r.author), shared_from: r.shared_from,
      episode_id: intern(r.episode_id), speaker: intern(r.speaker), extra: r.extra, unset: intern(r.unset),
      search_text: r.search_text, name_key: r.name_key, entity_names: r.entity_names, emotions: r.emotions,
      terms: r.terms, text_key: r.text_key, passages: r.passages, command_id: intern(r.command_id),
      key_id: intern(r.key_id), known_as_happened: r.known_as_happened, fingerprint: r.fingerprint,
      created_at: at + r.nth})-[:HAS_TRACE]->(:Trace {embedding: vecf32(r.embedding),
      emotion: vecf32(r.emotion), digest: r.digest})
  SET m.clock = at + $last
  FOREACH (tag IN r.tag_names |
    MERGE (t:Tag {name: tag})
    CREATE (n)-[:TAGGED]->(t)
  )
)
FOREACH (_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1
    OR (r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END |
  CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id,
      version: version, valid_at: coalesce(valid_at, r.valid_at),
      invalid_at: coalesce(invalid_at, r.invalid_at), created_at: coalesce(created_at, at + r.nth),
      warnings: intern(r.warnings)})
)
RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at,
    c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told, was, coalesce(m.clock, 0), coalesce(m.shifts, 0),
    coalesce(m.created_at, 0), coalesce(m.generation, 0);

// remove_policy
// :params $id
MATCH (p:RetentionPolicy {id: $id})
WITH collect(p) AS gone
FOREACH (p IN gone |
  DELETE p
)
RETURN size(gone);

// replace_windows
// :params $windows
UNWIND $windows AS w
OPTIONAL MATCH (p:PastState)
WHERE p.version = w[0]
WITH w, p
OPTIONAL MATCH (c:CitizenState)
WHERE c.version = w[0]
WITH w, coalesce(p, c) AS s
WHERE s IS NOT NULL
SET s.window = w[1];

// resolve_names
// :params $keys, $names
MATCH (n:ConsciousnessNode)
WHERE n.id IN $names
RETURN 'id' AS kind, n.id AS key, n.id AS id
UNION ALL
MATCH (n:ConsciousnessNode)
WHERE n.name_key IN $keys
WITH n
ORDER BY n.id
LIMIT 256
RETURN 'name' AS kind, n.name_key AS key, n.id AS id
UNION ALL
MATCH (p:PastVersion)
WHERE p.name_key IN $keys
WITH p
ORDER BY p.id
LIMIT 256
RETURN DISTINCT 'name' AS kind, p.name_key AS key, p.id AS id;

// resolved_alike_fitting_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $node_types, $patterns, $recent_from, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_alike_fitting_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $node_types, $patterns, $recent_from, $required_emotions, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_alike_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $node_types, $patterns, $recent_from, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_alike_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $node_types, $patterns, $recent_from, $required_emotions, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_goal_fitting_now
// :params $began_from, $began_to, $emotion, $episodes, $far, $felt_far, $first_hop, $generalised, $goal, $goal_embedding, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $nearest, $node_types, $patterns, $plain_goal, $recent_from, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_goal_fitting_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $far, $felt_far, $first_hop, $generalised, $goal, $goal_embedding, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $nearest, $node_types, $patterns, $plain_goal, $recent_from, $required_emotions, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $nearest
  WITH s, i, score
  WHERE score <= $far
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $nearest
  WITH s, i, score
  WHERE score <= $far
  RETURN s, i, score
}
WITH s, i, min(score) AS score
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_goal_now
// :params $began_from, $began_to, $emotion, $episodes, $far, $felt_far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $near, $node_types, $patterns, $plain_goal, $recent_from, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s, s AS i
  WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
  WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
  WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
      OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
  UNWIND range(0, size(records) - 1) AS place
  WITH records[place] AS s, places[place] AS i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  UNWIND $near AS one
  MATCH (s:ConsciousnessNode {id: one[0]})
  WITH s, one
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  MATCH (s)-[:HAS_TRACE]->(t:Trace)
  WHERE coalesce(t.digest, '') = one[1]
  WITH s, one[2] AS score
  WITH s, s AS i, score
  WHERE score <= $far
  RETURN s, i, score
}
WITH s, i, min(score) AS score
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_goal_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $far, $felt_far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $near, $node_types, $patterns, $plain_goal, $recent_from, $required_emotions, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  UNION ALL
  UNWIND $near AS one
  WITH one[0] AS id, collect(one) AS found
  MATCH (i:ConsciousnessNode {id: id})
  WITH i, found
  WITH found, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WITH i, found, collect(p) AS past
  UNWIND (past + [i]) AS s
  WITH s, i, found
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score
  WHERE score IS NOT NULL
  WITH s, i, score
  WHERE score <= $far
  RETURN s, i, score
}
WITH s, i, min(score) AS score
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_impact_fitting_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $node_types, $patterns, $recent_from, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_impact_fitting_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $node_types, $patterns, $recent_from, $required_emotions, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_impact_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $node_types, $patterns, $recent_from, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_impact_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $felt_far, $first_hop, $generalised, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $node_types, $patterns, $recent_from, $required_emotions, $second_hop, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s, s AS i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers) AND (size($episodes) = 0
      OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (s.unset IS NULL
      OR NOT (s.unset CONTAINS 'resolution_state' AND s.unset CONTAINS 'emotion_vector'
      AND (s.goal IS NULL OR s.unset CONTAINS 'goal')))
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
  WITH s, i, 2.0 AS score
  RETURN s, i, score
}
WITH s, i, score
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_words_fitting_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $node_types, $patterns, $plain_goal, $recent_from, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_words_fitting_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $felt_far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $node_types, $patterns, $plain_goal, $recent_from, $required_emotions, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_words_now
// :params $began_from, $began_to, $emotion, $episodes, $felt_far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $most_energy, $node_types, $patterns, $plain_goal, $recent_from, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
MATCH (i)-[e:LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, 'LINK') + outdegree(r, 'LINK') AS held
  WHERE held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resolved_by_words_then
// :params $began_from, $began_to, $emotion, $emotions_needed, $episodes, $felt_far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $min_confidence, $min_energy, $most_energy, $node_types, $patterns, $plain_goal, $recent_from, $required_emotions, $second_hop, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
MATCH (i)-[e:LINK|PAST_LINK]->(r:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
    AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
WITH s, i, score, count(e) AS ways
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.resolution_state = 'blocked' AND p.created_at < $known_to AND p.valid_at < $valid_to
    AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from)
WITH s, i, score, collect(p) AS once
UNWIND (once + [s]) AS f
MATCH (f)-[:HAS_TRACE]->(t)
WITH s, i, score, min(vec.cosineDistance(t.emotion, vecf32($emotion))) AS apart
WHERE apart <= $felt_far
WITH s, i, score, apart
ORDER BY coalesce(s.discovery_energy,
    0.5) * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
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
      AND NOT (p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from)
  RETURN -1 AS hop, null AS score, null AS e, p AS m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
  WHERE e.relation_type = 'RESOLVED_BY' AND e.resolution_state = 'resolved' AND e.valid_at + 0 < $valid_to
      AND e.invalid_at > $valid_from AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning']) AND NOT (e.relation_type = 'RESOLVED_BY'
      AND startNode(e).id = j.id)
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH r, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH r, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH r, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS e, others[place] AS j
  WITH 2 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
  UNION ALL
  WITH identities
  UNWIND identities AS i
  WITH DISTINCT i
  MATCH (i)-[x:LINK|PAST_LINK]->(r:ConsciousnessNode)
  WHERE x.relation_type = 'RESOLVED_BY' AND x.resolution_state = 'resolved' AND x.valid_at + 0 < $valid_to
      AND x.invalid_at > $valid_from AND x.created_at < $known_to AND x.expired_at > $known_from
  WITH DISTINCT r
  WITH r, collect([null]) AS ways
  WITH r, ways, indegree(r, ['LINK', 'PAST_LINK']) + outdegree(r, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (r)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 1000 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH r, ways, ever, count(link) AS held
  WHERE ever < 1000 OR held < 1000
  UNWIND ways AS way
  WITH r
  MATCH (r)-[y:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE y.valid_at + 0 < $valid_to AND y.invalid_at > $valid_from AND y.created_at < $known_to
      AND y.expired_at > $known_from AND b.id IS NOT NULL
      AND NOT (y.relation_type = 'RESOLVED_BY' AND startNode(y).id = b.id)
  WITH b, collect([r, y]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS r, way[1] AS y
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  WITH r, y, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH r, y, b, count(p) AS records
  WHERE records > 0 OR b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from AND b.created_at < $known_to
      AND b.expired_at > $known_from
  WITH r, y, b
  ORDER BY y.energy * y.confidence DESC, y.valid_at DESC, y.id
  WITH r, collect(y)[..$first_hop] AS links, collect(b)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH r, links[place] AS y, others[place] AS b
  MATCH (b)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL AND j.id <> r.id
      AND (j.node_type IN ['Decision', 'Action', 'Learning'] OR j.node_type = 'Turn'
      AND j.step IN ['Decision', 'Action', 'Learning'])
  WITH y, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH y, b, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH y, b, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH y, b, collect(e)[..$second_hop] AS links, collect(j)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  UNWIND [[2, y, b], [3, links[place], others[place]]] AS row
  WITH row[0] AS hop, row[1] AS e, row[2] AS j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// resonate_fitting_now
// :params $all_weights, $began_from, $began_to, $embedding, $embeddings, $emotion, $episodes, $feeling, $felt_names, $generalised, $groups, $half_life, $ids, $importance_floor, $in_words, $kindred, $known_from, $known_to, $labels, $limit, $max_level, $moment, $names, $newest, $node_types, $of_memory, $plural, $pool, $result, $shown, $sources, $speakers, $suppress_recent, $triples, $types, $unfiltered, $valid_from, $valid_to, $w_emotion, $w_importance, $w_likeness, $w_nodes, $w_recency, $w_relations, $w_result, $words
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $ids
  WITH s
  ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
  MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH collect([s, e, i]) AS near
CALL {
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND e.episode_id IS NOT NULL
  WITH DISTINCT e
  WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said
  MATCH (w:ConsciousnessNode {id: episode})
  WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought
  ORDER BY sought DESC, size(said) DESC, episode
  LIMIT $pool
  RETURN collect([episode, said[..64]]) AS asserted
}
CALL {
  WITH asserted
  UNWIND asserted AS one
  WITH one[0] AS episode
  MATCH (i:ConsciousnessNode {id: episode})
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $plural
  RETURN i
  UNION ALL
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND coalesce(i.abstraction, 'L0') <= $max_level
      AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR i.node_type IN $node_types)
      AND (size($speakers) = 0 OR i.speaker IN $speakers)
      AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
      AND i.valid_at >= $began_from AND i.valid_at < $began_to
      AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1])) AND NOT coalesce(i.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(i.node_type) IN $names
      OR (coalesce(i.description, '') <> '' AND i.node_type <> 'Session') OR i.id IN $ids)
  WITH i, count(DISTINCT s) AS hits
  ORDER BY hits DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $embeddings AS v
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH v, s
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WHERE id(m) >= $newest
  WITH m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m,
      $w_emotion * (CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END) + $w_result * (CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END) + $w_importance * (CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END) + $w_recency * (1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0))) AS quick
  ORDER BY quick DESC, m.valid_at DESC, m.id
  LIMIT $pool
  RETURN m AS i
}
WITH DISTINCT i, asserted
WITH i, i AS m, asserted
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
    AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
    '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
    OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
WITH i, m, coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), []) AS said
WITH collect([i, m, said]) AS candidates
CALL {
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  RETURN i, m, said, null AS e, null AS o
  UNION ALL
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
  MATCH (i)-[e:LINK]-(o)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  RETURN i, m, said, e, o
}
WITH i, m, said, collect(DISTINCT o.id) AS others,
    collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around,
    collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE [e.relation_type, startNode(e).id,
    endNode(e).id] END) AS own
OPTIONAL MATCH (m)-[:HAS_TRACE]->(t)
WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, own + said AS held,
    1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
WITH m, around, held,
    CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END WHEN size($groups) = 0 THEN 0.0 ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END AS nodes,
    CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) / size($triples) END AS relations,
    CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END AS emotion,
    CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END AS result,
    CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END AS likeness,
    CASE WHEN coalesce(m.importance,
    0.0) > $importance_floor THEN m.importance ELSE $importance_floor END AS importance,
    1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0)) AS recency,
    coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0) AS shown_lately,
    CASE WHEN $suppress_recent
    AND m.valid_at > $moment - 86400000000 THEN 0.2 + 0.8 * ($moment - m.valid_at) / 86400000000.0 ELSE 1.0 END AS lived_lately,
    CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END AS boost
WITH m, around, held,
    CASE WHEN lived_lately < shown_lately THEN lived_lately ELSE shown_lately END AS suppression, boost,
    nodes, relations, emotion, result, likeness, importance, recency,
    $w_nodes * (nodes) + $w_relations * (relations) + $w_emotion * (emotion * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_result * (result * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_likeness * (likeness) + $w_importance * (importance) + $w_recency * (recency) AS total
WITH *, total / $all_weights * suppression * boost AS resonance
ORDER BY resonance DESC, m.id, m.version
LIMIT $limit
RETURN resonance, total, suppression, boost, nodes, relations, emotion, result, likeness, importance, recency,
    string.join(around, '|'), string.join([h IN held[..64] | string.join(h, '|')], '|'), m.id, m.node_type,
    m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY resonance DESC, m.id, m.version;

// resonate_fitting_then
// :params $all_weights, $began_from, $began_to, $embedding, $embeddings, $emotion, $episodes, $feeling, $felt_names, $generalised, $groups, $half_life, $ids, $importance_floor, $in_words, $kindred, $known_from, $known_to, $labels, $limit, $max_level, $moment, $names, $newest, $node_types, $of_memory, $plural, $pool, $result, $shown, $sources, $speakers, $suppress_recent, $triples, $types, $unfiltered, $until, $valid_from, $valid_to, $w_emotion, $w_importance, $w_likeness, $w_nodes, $w_recency, $w_relations, $w_result, $words
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $ids
  WITH s
  ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
  MATCH (s)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH collect([s, e, i]) AS near
CALL {
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND e.episode_id IS NOT NULL
  WITH DISTINCT e
  WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said
  MATCH (w:ConsciousnessNode {id: episode})
  WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought
  ORDER BY sought DESC, size(said) DESC, episode
  LIMIT $pool
  RETURN collect([episode, said[..64]]) AS asserted
}
CALL {
  WITH asserted
  UNWIND asserted AS one
  WITH one[0] AS episode
  MATCH (i:ConsciousnessNode {id: episode})
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $plural
  RETURN i
  UNION ALL
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  WITH i, count(DISTINCT s) AS hits
  ORDER BY hits DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $embeddings AS v
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH v, s
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $embeddings AS v
  MATCH (s:PastVersion)
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH v, s
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.embedding, vecf32(v)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:PastVersion)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WHERE id(m) >= $newest AND id(m) < $until
  WITH m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m
  ORDER BY m.valid_at DESC, m.id
  LIMIT $pool
  WITH m AS i
  RETURN i
  UNION ALL
  MATCH (m:PastVersion)
  WHERE id(m) >= $newest AND id(m) < $until
  WITH m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m
  ORDER BY m.valid_at DESC, m.id
  LIMIT $pool
  WITH m AS s
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
}
WITH DISTINCT i, asserted
WITH asserted, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH asserted, i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH asserted, i, m
WITH i, m, asserted
WHERE coalesce(m.abstraction, 'L0') <= $max_level AND (m.node_type <> 'Generalisation' OR $generalised)
    AND ($unfiltered OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
    '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
    OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
WITH i, m, coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), []) AS said
WITH collect([i, m, said]) AS candidates
CALL {
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  RETURN i, m, said, null AS e, null AS o
  UNION ALL
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
  MATCH (i)-[e:LINK|PAST_LINK]-(o)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  RETURN i, m, said, e, o
}
WITH i, m, said, collect(DISTINCT o.id) AS others,
    collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around,
    collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE [e.relation_type, startNode(e).id,
    endNode(e).id] END) AS own
OPTIONAL MATCH (m)-[:HAS_TRACE]->(t)
WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, own + said AS held,
    1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
WITH m, around, held,
    CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END WHEN size($groups) = 0 THEN 0.0 ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END AS nodes,
    CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) / size($triples) END AS relations,
    CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END AS emotion,
    CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END AS result,
    CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END AS likeness,
    CASE WHEN coalesce(m.importance,
    0.0) > $importance_floor THEN m.importance ELSE $importance_floor END AS importance,
    1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0)) AS recency,
    coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0) AS shown_lately,
    CASE WHEN $suppress_recent
    AND m.valid_at > $moment - 86400000000 THEN 0.2 + 0.8 * ($moment - m.valid_at) / 86400000000.0 ELSE 1.0 END AS lived_lately,
    CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END AS boost
WITH m, around, held,
    CASE WHEN lived_lately < shown_lately THEN lived_lately ELSE shown_lately END AS suppression, boost,
    nodes, relations, emotion, result, likeness, importance, recency,
    $w_nodes * (nodes) + $w_relations * (relations) + $w_emotion * (emotion * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_result * (result * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_likeness * (likeness) + $w_importance * (importance) + $w_recency * (recency) AS total
WITH *, total / $all_weights * suppression * boost AS resonance
ORDER BY resonance DESC, m.id, m.version
LIMIT $limit
RETURN resonance, total, suppression, boost, nodes, relations, emotion, result, likeness, importance, recency,
    string.join(around, '|'), string.join([h IN held[..64] | string.join(h, '|')], '|'), m.id, m.node_type,
    m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY resonance DESC, m.id, m.version;

// resonate_now
// :params $all_weights, $began_from, $began_to, $embedding, $emotion, $episodes, $feeling, $felt_names, $generalised, $groups, $half_life, $ids, $importance_floor, $in_words, $kindred, $known_from, $known_to, $labels, $limit, $max_level, $moment, $names, $near, $newest, $node_types, $of_memory, $plural, $pool, $result, $shown, $sources, $speakers, $suppress_recent, $triples, $types, $unfiltered, $valid_from, $valid_to, $w_emotion, $w_importance, $w_likeness, $w_nodes, $w_recency, $w_relations, $w_result, $words
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $ids
  WITH s
  ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
  MATCH (s)-[e:LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH collect([s, e, i]) AS near
CALL {
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND e.episode_id IS NOT NULL
  WITH DISTINCT e
  WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said
  MATCH (w:ConsciousnessNode {id: episode})
  WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought
  ORDER BY sought DESC, size(said) DESC, episode
  LIMIT $pool
  RETURN collect([episode, said[..64]]) AS asserted
}
CALL {
  WITH asserted
  UNWIND asserted AS one
  WITH one[0] AS episode
  MATCH (i:ConsciousnessNode {id: episode})
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $plural
  RETURN i
  UNION ALL
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND coalesce(i.abstraction, 'L0') <= $max_level
      AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR i.node_type IN $node_types)
      AND (size($speakers) = 0 OR i.speaker IN $speakers)
      AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
      AND i.valid_at >= $began_from AND i.valid_at < $began_to
      AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1])) AND NOT coalesce(i.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(i.node_type) IN $names
      OR (coalesce(i.description, '') <> '' AND i.node_type <> 'Session') OR i.id IN $ids)
  WITH i, count(DISTINCT s) AS hits
  ORDER BY hits DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $near AS one
  MATCH (s:ConsciousnessNode {id: one[0]})
  WITH s, one
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  MATCH (s)-[:HAS_TRACE]->(t:Trace)
  WHERE coalesce(t.digest, '') = one[1]
  WITH s, one[2] AS score
  WITH s AS i, score
  ORDER BY score, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WHERE id(m) >= $newest
  WITH m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m,
      $w_emotion * (CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END) + $w_result * (CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END) + $w_importance * (CASE WHEN coalesce(m.importance,
      0.0) > $importance_floor THEN m.importance ELSE $importance_floor END) + $w_recency * (1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0))) AS quick
  ORDER BY quick DESC, m.valid_at DESC, m.id
  LIMIT $pool
  RETURN m AS i
}
WITH DISTINCT i, asserted
WITH i, i AS m, asserted
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
    AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
    '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
    OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
WITH i, m, coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), []) AS said
WITH collect([i, m, said]) AS candidates
CALL {
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  RETURN i, m, said, null AS e, null AS o
  UNION ALL
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
  MATCH (i)-[e:LINK]-(o)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  RETURN i, m, said, e, o
}
WITH i, m, said, collect(DISTINCT o.id) AS others,
    collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around,
    collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE [e.relation_type, startNode(e).id,
    endNode(e).id] END) AS own
OPTIONAL MATCH (m)-[:HAS_TRACE]->(t)
WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, own + said AS held,
    1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
WITH m, around, held,
    CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END WHEN size($groups) = 0 THEN 0.0 ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END AS nodes,
    CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) / size($triples) END AS relations,
    CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END AS emotion,
    CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END AS result,
    CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END AS likeness,
    CASE WHEN coalesce(m.importance,
    0.0) > $importance_floor THEN m.importance ELSE $importance_floor END AS importance,
    1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0)) AS recency,
    coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0) AS shown_lately,
    CASE WHEN $suppress_recent
    AND m.valid_at > $moment - 86400000000 THEN 0.2 + 0.8 * ($moment - m.valid_at) / 86400000000.0 ELSE 1.0 END AS lived_lately,
    CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END AS boost
WITH m, around, held,
    CASE WHEN lived_lately < shown_lately THEN lived_lately ELSE shown_lately END AS suppression, boost,
    nodes, relations, emotion, result, likeness, importance, recency,
    $w_nodes * (nodes) + $w_relations * (relations) + $w_emotion * (emotion * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_result * (result * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_likeness * (likeness) + $w_importance * (importance) + $w_recency * (recency) AS total
WITH *, total / $all_weights * suppression * boost AS resonance
ORDER BY resonance DESC, m.id, m.version
LIMIT $limit
RETURN resonance, total, suppression, boost, nodes, relations, emotion, result, likeness, importance, recency,
    string.join(around, '|'), string.join([h IN held[..64] | string.join(h, '|')], '|'), m.id, m.node_type,
    m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY resonance DESC, m.id, m.version;

// resonate_then
// :params $all_weights, $began_from, $began_to, $embedding, $emotion, $episodes, $feeling, $felt_names, $generalised, $groups, $half_life, $ids, $importance_floor, $in_words, $kindred, $known_from, $known_to, $labels, $limit, $max_level, $moment, $names, $near, $newest, $node_types, $of_memory, $plural, $pool, $result, $shown, $sources, $speakers, $suppress_recent, $triples, $types, $unfiltered, $until, $valid_from, $valid_to, $w_emotion, $w_importance, $w_likeness, $w_nodes, $w_recency, $w_relations, $w_result, $words
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.id IN $ids
  WITH s
  ORDER BY indegree(s, 'LINK') + outdegree(s, 'LINK'), s.id
  MATCH (s)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH collect([s, e, i]) AS near
CALL {
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND e.episode_id IS NOT NULL
  WITH DISTINCT e
  WITH e.episode_id AS episode, collect([e.relation_type, startNode(e).id, endNode(e).id]) AS said
  MATCH (w:ConsciousnessNode {id: episode})
  WITH episode, said, any(t IN said WHERE t[0] IN $types) AS sought
  ORDER BY sought DESC, size(said) DESC, episode
  LIMIT $pool
  RETURN collect([episode, said[..64]]) AS asserted
}
CALL {
  WITH asserted
  UNWIND asserted AS one
  WITH one[0] AS episode
  MATCH (i:ConsciousnessNode {id: episode})
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE i.id IN $plural
  RETURN i
  UNION ALL
  WITH near
  UNWIND near AS one
  WITH one[0] AS s, one[1] AS e, one[2] AS i
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  WITH i, count(DISTINCT s) AS hits
  ORDER BY hits DESC, i.valid_at DESC, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $near AS one
  MATCH (i:ConsciousnessNode {id: one[0]})
  WITH i, min(one[2]) AS score
  ORDER BY score, i.id
  LIMIT $pool
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:ConsciousnessNode)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s AS i
  RETURN i
  UNION ALL
  UNWIND $felt_names AS name
  MATCH (s:PastVersion)
  WHERE name IN s.emotions
  WITH DISTINCT s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 2000
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, vec.cosineDistance(t.emotion, vecf32($feeling)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $pool
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
  UNION ALL
  CALL db.idx.fulltext.queryNodes('PastVersion', $words)
  YIELD node AS s, score
  WITH s, score
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND coalesce(s.abstraction, 'L0') <= $max_level
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(s.node_type) IN $names
      OR (coalesce(s.description, '') <> '' AND s.node_type <> 'Session') OR s.id IN $ids)
  WITH s, score
  ORDER BY score DESC, s.id
  LIMIT $pool
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
  UNION ALL
  MATCH (m:ConsciousnessNode)
  WHERE id(m) >= $newest AND id(m) < $until
  WITH m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m
  ORDER BY m.valid_at DESC, m.id
  LIMIT $pool
  WITH m AS i
  RETURN i
  UNION ALL
  MATCH (m:PastVersion)
  WHERE id(m) >= $newest AND id(m) < $until
  WITH m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND coalesce(m.abstraction, 'L0') <= $max_level
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
      OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
  WITH m
  ORDER BY m.valid_at DESC, m.id
  LIMIT $pool
  WITH m AS s
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH i
  RETURN i
}
WITH DISTINCT i, asserted
WITH asserted, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH asserted, i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH asserted, i, m
WITH i, m, asserted
WHERE coalesce(m.abstraction, 'L0') <= $max_level AND (m.node_type <> 'Generalisation' OR $generalised)
    AND ($unfiltered OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND NOT coalesce(m.step,
    '') IN ['Question', 'Courtesy', 'Echo'] AND (NOT toLower(m.node_type) IN $names
    OR (coalesce(m.description, '') <> '' AND m.node_type <> 'Session') OR m.id IN $ids)
WITH i, m, coalesce(head([one IN asserted WHERE one[0] = m.id | one[1]]), []) AS said
WITH collect([i, m, said]) AS candidates
CALL {
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  RETURN i, m, said, null AS e, null AS o
  UNION ALL
  WITH candidates
  UNWIND candidates AS one
  WITH one[0] AS i, one[1] AS m, one[2] AS said
  WHERE indegree(i, 'LINK') + outdegree(i, 'LINK') <= 500
  MATCH (i)-[e:LINK|PAST_LINK]-(o)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  RETURN i, m, said, e, o
}
WITH i, m, said, collect(DISTINCT o.id) AS others,
    collect(DISTINCT CASE WHEN o.name_key IS NULL THEN null ELSE o.id END) AS around,
    collect(DISTINCT CASE WHEN e IS NULL THEN null ELSE [e.relation_type, startNode(e).id,
    endNode(e).id] END) AS own
OPTIONAL MATCH (m)-[:HAS_TRACE]->(t)
WITH m, around, others + [a IN said | a[1]] + [a IN said | a[2]] AS linked, own + said AS held,
    1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
WITH m, around, held,
    CASE WHEN $of_memory THEN CASE WHEN size(around) = 0 THEN 0.0 ELSE 1.0 * size([x IN around WHERE x IN $ids]) / size(around) END WHEN size($groups) = 0 THEN 0.0 ELSE 1.0 * size([g IN $groups WHERE any(x IN g WHERE x IN linked)]) / size($groups) END AS nodes,
    CASE WHEN size($triples) = 0 THEN 0.0 ELSE 1.0 * size([r IN $triples WHERE any(t IN held WHERE t[0] = r[0] AND (size(r[1]) = 0 OR t[1] IN r[1]) AND (size(r[2]) = 0 OR t[2] IN r[2]))]) / size($triples) END AS relations,
    CASE WHEN any(x IN m.emotions WHERE x = $emotion) THEN 1.0 WHEN any(x IN m.emotions WHERE x IN $kindred) THEN 0.5 ELSE 0.0 END AS emotion,
    CASE WHEN toLower(m.result) = $result THEN 1.0 ELSE 0.0 END AS result,
    CASE WHEN alike > 1.0 THEN 1.0 WHEN alike > 0.0 THEN alike ELSE 0.0 END AS likeness,
    CASE WHEN coalesce(m.importance,
    0.0) > $importance_floor THEN m.importance ELSE $importance_floor END AS importance,
    1.0 / (1.0 + CASE WHEN m.valid_at < $moment THEN $moment - m.valid_at ELSE 0 END / ($half_life * 86400000000.0)) AS recency,
    coalesce(head([shown IN $shown WHERE shown[0] = m.id | shown[1]]), 1.0) AS shown_lately,
    CASE WHEN $suppress_recent
    AND m.valid_at > $moment - 86400000000 THEN 0.2 + 0.8 * ($moment - m.valid_at) / 86400000000.0 ELSE 1.0 END AS lived_lately,
    CASE m.abstraction WHEN 'L1' THEN 1.05 WHEN 'L2' THEN 1.1 WHEN 'L3' THEN 1.15 ELSE 1.0 END AS boost
WITH m, around, held,
    CASE WHEN lived_lately < shown_lately THEN lived_lately ELSE shown_lately END AS suppression, boost,
    nodes, relations, emotion, result, likeness, importance, recency,
    $w_nodes * (nodes) + $w_relations * (relations) + $w_emotion * (emotion * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_result * (result * (CASE WHEN NOT $in_words THEN 1.0 WHEN nodes >= relations
    AND nodes >= likeness THEN nodes WHEN relations >= likeness THEN relations ELSE likeness END)) + $w_likeness * (likeness) + $w_importance * (importance) + $w_recency * (recency) AS total
WITH *, total / $all_weights * suppression * boost AS resonance
ORDER BY resonance DESC, m.id, m.version
LIMIT $limit
RETURN resonance, total, suppression, boost, nodes, relations, emotion, result, likeness, importance, recency,
    string.join(around, '|'), string.join([h IN held[..64] | string.join(h, '|')], '|'), m.id, m.node_type,
    m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY resonance DESC, m.id, m.version;

// rest_index
CREATE INDEX FOR (n:Rest) ON (n.id);

// revaluations
// :params $after, $rows
MATCH (a:Revaluation)
WHERE id(a) > $after
WITH a
LIMIT $rows
RETURN id(a), a.memory_id, a.asked_at, a.waiting, a.proposed, a.because;

// revise_link
// :params $at, $changes_until, $closed_source, $id, $key_id, $open, $opened, $receipt, $seen, $source_id, $target_id
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
MATCH (a:ConsciousnessNode {id: $source_id})
WITH m, at, a
LIMIT 1
MATCH (a)-[e:LINK]->(b)
WHERE b.id = $target_id AND e.id = $id AND e.created_at = $seen AND e.expired_at = $open
WITH m, at, a, b, e
LIMIT 1
OPTIONAL MATCH (a)-[q:PAST_LINK]->(b)
WHERE q.id = $id
WITH m, at, a, b, e, max(coalesce(q.version, 1)) AS before
WITH m, at, a, b, e,
    CASE WHEN before > coalesce(e.version, 1) THEN before ELSE coalesce(e.version, 1) END AS highest
CREATE (a)-[p:PAST_LINK]->(b)
SET p = properties(e)
SET p.expired_at = at, p.closed_by = $receipt.command_id, p.closed_reason = 'discovered_false',
    p.closed_source = $closed_source, p.closed_key = $key_id
FOREACH (change IN $opened |
  CREATE (a)-[k:LINK]->(b)
  SET k = properties(e)
  SET k += change, k.created_at = at, k.version = highest + 1, k.command_id = $receipt.command_id,
      k.key_id = $key_id
)
FOREACH (_ IN CASE WHEN m.changes_until < $changes_until THEN [1] ELSE [] END |
  SET m.changes_until = $changes_until
)
CREATE (c:Receipt {command_id: $receipt.command_id})
SET c += $receipt, c.created_at = at, m.clock = at
DELETE e
RETURN at;

// rows_of_table
// :params $ids
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN id(n), n.id, n.node_type, n.name, n.description, n.tags, n.buckets, n.aliases, n.valid_at,
    n.invalid_at, n.expired_at, coalesce(n.version, 1), n.source, coalesce(n.episode_id, ''), n.extra,
    n.unset, n.resolution_state;

// rule_checks
MATCH (k:RuleCheck)
RETURN k.rule_id, k.graph, k.action_key, k.checked, k.blocked, k.overridden, k.streak, k.blocked_at;

// rules_at_nodes
// :params $keys, $known_from, $known_to, $valid_from, $valid_to
MATCH (o:ConsciousnessNode)
WHERE o.name_key IN $keys
WITH o
MATCH (o)-[e:LINK|PAST_LINK]-(s:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND s.rule > ''
RETURN s.id, count(DISTINCT o)
LIMIT 1000;

// rules_now
// :params $embedding, $known_from, $known_to, $limit, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.rule > ''
WITH s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
WITH s
ORDER BY s.valid_at DESC, s.id
LIMIT $limit
OPTIONAL MATCH (s)-[:HAS_TRACE]->(t)
WITH s, 1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
RETURN s.id, s.version, s.name, s.speaker, left(s.description, 100), s.rule, s.severity, s.source, s.author,
    s.result, s.valid_at, s.created_at, s.emotions, alike;

// rules_then
// :params $embedding, $known_from, $known_to, $limit, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from
  RETURN s
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.rule > ''
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from
  RETURN s
}
WITH s
ORDER BY s.valid_at DESC, s.id
LIMIT $limit
OPTIONAL MATCH (s)-[:HAS_TRACE]->(t)
WITH s, 1.0 - vec.cosineDistance(t.embedding, vecf32($embedding)) AS alike
RETURN s.id, s.version, s.name, s.speaker, left(s.description, 100), s.rule, s.severity, s.source, s.author,
    s.result, s.valid_at, s.created_at, s.emotions, alike;

// saying
// :params $keys, $now, $open
UNWIND $keys AS key
MATCH (n:ConsciousnessNode {text_key: key})
WITH n
WHERE n.expired_at = $open AND n.valid_at <= $now AND n.invalid_at > $now
RETURN n.id, n.node_type, n.name, n.description, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    n.version, n.invalidation_reason, n.closed_reason, n.correction_pattern_id, n.discovery_energy, n.energy,
    n.confidence, n.emotion_vector, n.felt_quality, n.body_sensation, n.goal, n.resolution_state, n.tags,
    n.buckets, n.aliases, n.importance, n.intensity, n.result, n.rule, n.severity, n.abstraction, n.step,
    n.source, n.author, n.shared_from, n.episode_id, n.speaker, n.extra, n.unset, n.command_id, n.key_id,
    n.closed_by, n.closed_source, n.closed_key, n.known_as_happened
ORDER BY n.created_at, n.id
LIMIT 1000;

// scan_all
// :params $embedding, $k
CALL {
  MATCH (t:Trace)
  WHERE t.embedding IS NOT NULL
  WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
  ORDER BY score
  LIMIT $k
  RETURN t, score
  UNION ALL
  MATCH (t:PastTrace)
  WHERE t.embedding IS NOT NULL
  WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
  ORDER BY score
  LIMIT $k
  RETURN t, score
}
WITH t, score
ORDER BY score
LIMIT $k
MATCH (s)-[:HAS_TRACE]->(t)
WITH DISTINCT s.id AS id, coalesce(t.digest, '') AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// scan_now
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $favoured, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
WITH s
MATCH (s)-[:HAS_TRACE]->(t:Trace)
WITH s, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
WHERE score IS NOT NULL
WITH s, score
ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// scan_open
// :params $embedding, $k
MATCH (t:Trace)
WHERE t.embedding IS NOT NULL
WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
ORDER BY score
LIMIT $k
MATCH (s:ConsciousnessNode)-[:HAS_TRACE]->(t)
WITH s.id AS id, coalesce(t.digest, '') AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// scan_passages
// :params $embedding, $k
MATCH (t:PassageTrace)
WHERE t.embedding IS NOT NULL
WITH t, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
ORDER BY score
LIMIT $k
MATCH (q:Passage)-[:HAS_TRACE]->(t)
WITH q.memory_id AS id, q.handle AS digest, score
RETURN id, digest, score
ORDER BY score
LIMIT $k;

// scan_then
// :params $asked, $began_from, $began_to, $embedding, $emotions_needed, $episodes, $expanded, $far, $favoured, $first_hop, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $node_types, $required_emotions, $second_hop, $second_starts, $sources, $speakers, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  RETURN s, s AS i
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
      OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
      OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  RETURN s, i
}
WITH s, i
MATCH (s)-[:HAS_TRACE]->(t)
WITH s, i, vec.cosineDistance(t.embedding, vecf32($embedding)) AS score
WHERE score IS NOT NULL
WITH s, i, score
ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id,
    s.version
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
  MATCH (i)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
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
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  WITH i, e, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from AND b.energy >= $min_energy
      AND b.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN b.emotions]) >= $emotions_needed
      AND (b.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR b.node_type IN $node_types)
      AND (size($speakers) = 0 OR b.speaker IN $speakers)
      AND (size($episodes) = 0 OR b.episode_id IN $episodes) AND (size($sources) = 0 OR b.source IN $sources)
      AND b.valid_at >= $began_from AND b.valid_at < $began_to
      AND all(label IN $labels WHERE b[label[0]] CONTAINS label[1])) AND (b.unset IS NULL
      OR NOT b.unset STARTS WITH 'name,' OR coalesce(b.description, '') <> '') AND ($asked
      OR NOT coalesce(b.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  WITH i, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// selves_now
// :params $keys, $known_from, $known_to, $self, $valid_from, $valid_to
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
WHERE was.valid_at + 0 < $valid_to AND was.invalid_at > $valid_from AND was.created_at < $known_to
    AND was.expired_at > $known_from
MATCH (j:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND j.id <> n.id AND j.node_type <> 'Generalisation'
WITH DISTINCT n, was, j
WITH n, was, j, j AS m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN n.id, was.name, was.node_type, was.unset, count(DISTINCT m.id) AS appearances
ORDER BY appearances DESC, n.id
LIMIT 8;

// selves_then
// :params $keys, $known_from, $known_to, $self, $valid_from, $valid_to
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
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH n, collect(p) AS past
UNWIND (past + CASE WHEN n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from
    AND n.created_at < $known_to AND n.expired_at > $known_from THEN [n] ELSE [] END) AS was
WITH n, was
WHERE was.valid_at + 0 < $valid_to AND was.invalid_at > $valid_from AND was.created_at < $known_to
    AND was.expired_at > $known_from
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND j.id <> n.id AND j.node_type <> 'Generalisation'
WITH DISTINCT n, was, j
WITH n, was, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH n, was, j, collect(p) AS past
UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
    AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
WITH n, was, j, m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN n.id, was.name, was.node_type, was.unset, count(DISTINCT m.id) AS appearances
ORDER BY appearances DESC, n.id
LIMIT 8;

// set_digests_pasttrace
// :params $rows
UNWIND $rows AS r
MATCH (t:PastTrace)
WHERE id(t) = r[0]
SET t.digest = r[1]
RETURN count(t);

// set_digests_trace
// :params $rows
UNWIND $rows AS r
MATCH (t:Trace)
WHERE id(t) = r[0]
SET t.digest = r[1]
RETURN count(t);

// set_policy
// :params $at, $data, $id
MERGE (p:RetentionPolicy {id: $id})
SET p.data = $data, p.created_at = $at
RETURN p.id;

// set_sets
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.likeness = 'sets'
RETURN m.likeness;

// set_version
// :params $number
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.schema_version = $number - 1
SET m.schema_version = $number
RETURN m.schema_version;

// shape_alike_now
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN m.id, m.node_type, m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY m.id, m.version;

// shape_alike_then
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN m.id, m.node_type, m.name, CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset
ORDER BY m.id, m.version;

// shape_candidates_now
// :params $began_from, $began_to, $emotions, $episodes, $generalised, $known_from, $known_to, $labels, $near_emotions, $near_states, $newest, $node_types, $result, $sources, $speakers, $states, $types, $unfiltered, $until, $valid_from, $valid_to
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.resolution_state IN $states
  WITH i
  LIMIT 20000
  WITH i
  WHERE i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from AND i.created_at < $known_to
      AND i.expired_at > $known_from AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR i.node_type IN $node_types)
      AND (size($speakers) = 0 OR i.speaker IN $speakers)
      AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
      AND i.valid_at >= $began_from AND i.valid_at < $began_to
      AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1]))
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  UNWIND $emotions AS name
  MATCH (i:ConsciousnessNode)
  WHERE name IN i.emotions
  WITH DISTINCT i
  ORDER BY i.valid_at DESC, i.id
  LIMIT 2000
  WITH i
  WHERE i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from AND i.created_at < $known_to
      AND i.expired_at > $known_from AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR i.node_type IN $node_types)
      AND (size($speakers) = 0 OR i.speaker IN $speakers)
      AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
      AND i.valid_at >= $began_from AND i.valid_at < $began_to
      AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1]))
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  MATCH (x:ConsciousnessNode)
  WHERE x.resolution_state IN $near_states
  WITH x
  LIMIT 2000
  MATCH (x)-[e:LINK]-(i:ConsciousnessNode)
  WHERE e.relation_type IN $types AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, count(e) AS shared
  ORDER BY shared DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  UNWIND $near_emotions AS name
  MATCH (x:ConsciousnessNode)
  WHERE name IN x.emotions
  WITH DISTINCT x
  ORDER BY x.valid_at DESC, x.id
  LIMIT 100
  WITH DISTINCT x
  MATCH (x)-[e:LINK]-(i:ConsciousnessNode)
  WHERE e.relation_type IN $types AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, count(e) AS shared
  ORDER BY shared DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE id(i) >= $newest AND id(i) < $until
  WITH i
  WHERE i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from AND i.created_at < $known_to
      AND i.expired_at > $known_from AND (i.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR i.node_type IN $node_types)
      AND (size($speakers) = 0 OR i.speaker IN $speakers)
      AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
      AND i.valid_at >= $began_from AND i.valid_at < $began_to
      AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1]))
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 600
  RETURN i
}
WITH DISTINCT i
WITH i, i AS m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.node_type <> 'Session'
RETURN DISTINCT i.id
ORDER BY i.id;

// shape_candidates_then
// :params $began_from, $began_to, $emotions, $episodes, $generalised, $known_from, $known_to, $labels, $near_emotions, $near_states, $newest, $node_types, $result, $sources, $speakers, $states, $types, $unfiltered, $until, $valid_from, $valid_to
CALL {
  MATCH (i:ConsciousnessNode)
  WHERE i.resolution_state IN $states
  WITH i
  LIMIT 20000
  WITH i
  WHERE i.id IS NOT NULL
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  UNWIND $emotions AS name
  MATCH (i:ConsciousnessNode)
  WHERE name IN i.emotions
  WITH DISTINCT i
  ORDER BY i.valid_at DESC, i.id
  LIMIT 2000
  WITH i
  WHERE i.id IS NOT NULL
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  MATCH (x:ConsciousnessNode)
  WHERE x.resolution_state IN $near_states
  WITH x
  LIMIT 2000
  MATCH (x)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
  WHERE e.relation_type IN $types AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, count(e) AS shared
  ORDER BY shared DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  UNWIND $near_emotions AS name
  MATCH (x:ConsciousnessNode)
  WHERE name IN x.emotions
  WITH DISTINCT x
  ORDER BY x.valid_at DESC, x.id
  LIMIT 100
  WITH DISTINCT x
  MATCH (x)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
  WHERE e.relation_type IN $types AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
      AND e.created_at < $known_to AND e.expired_at > $known_from
  WITH i, count(e) AS shared
  ORDER BY shared DESC, i.id
  LIMIT 200
  RETURN i
  UNION ALL
  MATCH (i:ConsciousnessNode)
  WHERE id(i) >= $newest AND id(i) < $until
  WITH i
  WHERE i.id IS NOT NULL
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 600
  RETURN i
  UNION ALL
  MATCH (p:PastVersion)
  WHERE p.resolution_state IN $states
  WITH p
  LIMIT 20000
  MATCH (i:ConsciousnessNode)-[:HAD]->(p)
  WITH DISTINCT i
  WITH i
  WHERE i.id IS NOT NULL
  WITH i,
      CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END + CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END + size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike
  ORDER BY alike DESC, i.valid_at DESC, i.id
  LIMIT 200
  RETURN i
}
WITH DISTINCT i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.node_type <> 'Session'
RETURN DISTINCT i.id
ORDER BY i.id;

// shape_marks_now
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN m.id, m.resolution_state, m.result, string.join(coalesce(m.emotions, []), '|'), m.valid_at
ORDER BY m.id, m.version;

// shape_marks_then
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN m.id, m.resolution_state, m.result, string.join(coalesce(m.emotions, []), '|'), m.valid_at
ORDER BY m.id, m.version;

// shape_steps_now
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s, indegree(s, 'LINK') + outdegree(s, 'LINK') AS held
WHERE held < 64
MATCH (s)-[e:LINK]-(o:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
RETURN DISTINCT s.id, CASE WHEN startNode(e).id = s.id THEN 1 ELSE 0 END, e.relation_type, o.id;

// shape_steps_then
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s, indegree(s, ['LINK', 'PAST_LINK']) + outdegree(s, ['LINK', 'PAST_LINK']) AS held
WHERE held < 64
MATCH (s)-[e:LINK|PAST_LINK]-(o:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
RETURN DISTINCT s.id, CASE WHEN startNode(e).id = s.id THEN 1 ELSE 0 END, e.relation_type, o.id;

// share_traces
// :params $rows
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.of})
WITH r, n
MATCH (n)-[:HAD]->(o:PastVersion)-[:HAS_TRACE]->(t:PastTrace)
WHERE o.version = r.shares_trace_of
WITH r, n, t
CREATE (p:PastVersion)<-[:HAD]-(n)
CREATE (p)-[:HAS_TRACE]->(t)
SET p = r.properties
SET p += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
RETURN count(p);

// shared_links_at
// :params $id, $known_from, $known_to, $links, $valid_from, $valid_to
MATCH (n:ConsciousnessNode {id: $id})-[e:LINK]-(m:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
    AND m.created_at < $known_to AND m.expired_at > $known_from
WITH DISTINCT e
ORDER BY e.energy * e.confidence DESC, e.id
LIMIT $links
RETURN startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy, e.confidence,
    e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state, e.felt_quality,
    e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at, e.invalid_at,
    e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source, e.author,
    e.episode_id, e.extra, e.unset, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened;

// sharing_ids_of
// :params $after, $episode, $rows
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND ($episode = '' OR n.episode_id = $episode)
WITH n
LIMIT $rows
RETURN id(n), n.id;

// situation
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.pending_until, 0), coalesce(m.feedback_at, 0), coalesce(m.clock, 0), coalesce(m.shifts, 0),
    coalesce(m.created_at, 0), coalesce(m.generation, 0), m.changes_until
LIMIT 1;

// solved_by
// :params $ids, $open, $turns_alone
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids AND (s.node_type = 'Turn' OR NOT $turns_alone)
WITH s
MATCH (n:ConsciousnessNode)-[e:LINK|PAST_LINK]->(s)
WHERE e.relation_type = 'RESOLVED_BY' AND n.resolution_state = 'resolved'
    AND n.unset CONTAINS 'resolution_state' AND n.expired_at = $open AND NOT n.id IN $ids
RETURN DISTINCT n.id, s.id, s.source
ORDER BY n.id;

// stamp_erased
// :params $at
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.erased_at = CASE WHEN $at > coalesce(m.erased_at, 0) THEN $at ELSE m.erased_at END
RETURN m.erased_at;

// stamp_revaluations
// :params $at, $rows, $run, $waiting
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.id})
MERGE (a:Revaluation {memory_id: r.id})
SET a.before = coalesce(a.asked_at, 0), a.asked_at = $at, a.waiting = $waiting, a.run = coalesce($run, a.run),
    a.proposed = r.proposed, a.because = r.because
RETURN a.memory_id;

// state_page
// :params $beyond, $first
MATCH (s:PastState)
WHERE s.version >= $first AND s.version < $beyond
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
UNION ALL
MATCH (s:CitizenState)
WHERE s.version >= $first AND s.version < $beyond
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers;

// stated_now
// :params $known_from, $known_to, $self, $valid_from, $valid_to
MATCH (n:ConsciousnessNode {id: $self})
WITH n
MATCH (m:ConsciousnessNode)-[e:LINK]->(n)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
    AND m.created_at < $known_to AND m.expired_at > $known_from
WITH DISTINCT m
RETURN m.id, coalesce(m.description, ''), m.name, m.source, m.speaker, m.valid_at, m.created_at
ORDER BY m.valid_at DESC, m.created_at DESC, m.id
LIMIT 200;

// stated_then
// :params $known_from, $known_to, $self, $valid_from, $valid_to
MATCH (n:ConsciousnessNode {id: $self})
WITH n
MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
WITH DISTINCT j
WITH j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH j, collect(p) AS past
UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
    AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
WITH j, m
WITH DISTINCT m
RETURN m.id, coalesce(m.description, ''), m.name, m.source, m.speaker, m.valid_at, m.created_at
ORDER BY m.valid_at DESC, m.created_at DESC, m.id
LIMIT 200;

// states_between
// :params $after, $before, $open, $rows
MATCH (s:PastState)
WHERE s.valid_at > $after AND s.valid_at < $before AND s.expired_at = $open
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
LIMIT $rows;

// states_showing
// :params $beyond, $first, $ids
MATCH (s:PastState)
WHERE s.version >= $first AND s.version < $beyond AND s.window IS NOT NULL
    AND any(one IN $ids WHERE s.window CONTAINS one)
RETURN s.version, s.window
UNION ALL
MATCH (s:CitizenState)
WHERE s.version >= $first AND s.version < $beyond AND s.window IS NOT NULL
    AND any(one IN $ids WHERE s.window CONTAINS one)
RETURN s.version, s.window;

// steps_between
// :params $before, $embedding, $far, $limit, $open, $opened, $since, $speaker
MATCH (o:ConsciousnessNode {id: $opened})-[:HAS_TRACE]->(a)
WITH a
MATCH (n:ConsciousnessNode)
WHERE n.valid_at > $since AND n.valid_at < $before AND n.expired_at = $open
    AND n.step IN ['Decision', 'Action', 'Learning'] AND coalesce(n.speaker, '') = $speaker
WITH a, n
MATCH (n)-[:HAS_TRACE]->(t)
WITH n, vec.cosineDistance(t.embedding, a.embedding) AS from_open,
    vec.cosineDistance(t.embedding, vecf32($embedding)) AS from_solution
WITH n, CASE WHEN from_open < from_solution THEN from_open ELSE from_solution END AS distance
WHERE distance <= $far
RETURN n.id
ORDER BY distance, n.id
LIMIT $limit;

// stored_passages
// :params $digest, $memory_id
MATCH (q:Passage {memory_id: $memory_id})
WHERE q.digest = $digest AND outdegree(q, 'HAS_TRACE') > 0
RETURN q.start;

// stray_passages
// :params $after, $rows
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

// stream_note
// :params $id
MATCH (s:StreamNote)
WHERE s.id = $id
RETURN s.id, s.at, s.data
LIMIT 1;

// stream_notes
// :params $before, $rows, $until
MATCH (s:StreamNote)
WHERE s.at <= $until AND (s.at + 0 < $until OR s.id + '' < $before)
WITH s
ORDER BY s.at DESC, s.id DESC
LIMIT $rows
RETURN s.id, s.at, s.data;

// strongest_all_links_around
// :params $from, $ids, $known_from, $known_to, $until
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
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
WHERE e.valid_at + 0 < $until AND e.invalid_at > $from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $until AND m.invalid_at > $from
    AND m.created_at < $known_to AND m.expired_at > $known_from
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

// strongest_links_around
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $from, $generalised, $ids, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $until
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
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
WHERE e.valid_at + 0 < $until AND e.invalid_at > $from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND m.valid_at + 0 < $until AND m.invalid_at > $from
    AND m.created_at < $known_to AND m.expired_at > $known_from AND (e.unset IS NULL
    OR NOT e.unset STARTS WITH 'goal,') AND m.energy >= $min_energy AND m.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
    AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND (m.unset IS NULL
    OR NOT m.unset STARTS WITH 'name,' OR coalesce(m.description, '') <> '') AND ($asked
    OR NOT coalesce(m.step, '') IN ['Question', 'Courtesy', 'Echo'])
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

// surroundings_now
// :params $known_from, $known_to, $near, $shown, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.id IN $shown
WITH s
MATCH (s)-[e:LINK]->(o:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND o.name_key IS NOT NULL
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
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
WITH e.relation_type AS name, count(e) AS links
ORDER BY links DESC, name
LIMIT 64
RETURN 'type' AS kind, null AS id, name;

// surroundings_then
// :params $known_from, $known_to, $near, $shown, $valid_from, $valid_to
MATCH (s:ConsciousnessNode)
WHERE s.id IN $shown
WITH s
MATCH (s)-[e:LINK|PAST_LINK]->(o:ConsciousnessNode)
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from AND o.name_key IS NOT NULL
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
  MATCH (s)-[e:LINK|PAST_LINK]-(i:ConsciousnessNode)
  RETURN s, e, i
  LIMIT 1000
}
WITH e
WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
    AND e.expired_at > $known_from
WITH e.relation_type AS name, count(e) AS links
ORDER BY links DESC, name
LIMIT 64
RETURN 'type' AS kind, null AS id, name;

// switch_generation
// :params $dimension, $model, $tolerated
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension
CALL db.meta.stats()
YIELD labels, relTypes
WITH m, m.embedding_model AS model, m.dimension AS dimension, coalesce(m.generation, 0) AS generation,
    coalesce(labels.ConsciousnessNode, 0) + coalesce(labels.PastVersion, 0) + coalesce(labels.Passage,
    0) - coalesce(relTypes.HAS_TRACE_B, 0) AS lacking
WHERE lacking <= $tolerated
SET m.embedding_model = m.other_model, m.dimension = m.other_dimension, m.generation = 1 - generation,
    m.other_model = model, m.other_dimension = dimension, m.other_state = 'leaving'
RETURN lacking;

// tag_carriers
// :params $names
MATCH (t:Tag)
WHERE t.name IN $names
RETURN t.name, indegree(t, 'TAGGED') + indegree(t, 'MADE_TAG');

// tag_page
// :params $after, $known_from, $known_to, $rows, $valid_from, $valid_to
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:MADE_TAG]->(g:Tag)
WITH n, collect(g.name) AS made
RETURN id(n), n.id, n.valid_at + 0 < $valid_to AND n.invalid_at > $valid_from AND n.created_at < $known_to
    AND n.expired_at > $known_from
    AND (n.unset IS NULL OR NOT n.unset STARTS WITH 'name,' OR coalesce(n.description, '') <> ''),
    n.node_type, CASE WHEN n.speaker IS NULL THEN n.name ELSE null END, left(n.description, 4000), n.tags,
    n.unset, made
ORDER BY id(n);

// tag_sizes
// :params $names
MATCH (t:Tag)
WHERE t.name IN $names
RETURN t.name, indegree(t, 'TAGGED')
ORDER BY t.name;

// take_back_feedback
// :params $at, $ids
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
MATCH (f:Feedback)
WITH m, at, collect(f) AS told
WITH m, at, [f IN told WHERE f.id IN $ids] AS gone, size(told) AS stood
WITH m, at, gone, size(gone) AS taken, stood
FOREACH (f IN gone |
  DELETE f
)
SET m.clock = at, m.feedback_at = CASE WHEN stood > taken THEN at ELSE null END
RETURN taken;

// tell
// :params $command_id, $ids, $told
MATCH (c:Receipt {command_id: $command_id})
SET c.told = $told, c.told_of = $ids;

// tell_feedback
// :params $at, $dropped, $record, $seen
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
WHERE coalesce(m.feedback_at, 0) = $seen
OPTIONAL MATCH (o:Feedback)
WHERE o.id IN $dropped
WITH m, at, collect(o) AS gone
FOREACH (o IN gone |
  DELETE o
)
CREATE (f:Feedback)
SET f = $record
SET f.created_at = at, m.clock = at, m.feedback_at = at
RETURN at;

// temperament_now
// :params $known_from, $known_to, $last, $own_sources, $own_speakers, $valid_from, $valid_to
UNWIND range(0, 11) AS place
CALL {
  WITH place
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $last - (place + 1) * 2592000000000 AND m.valid_at < $last - place * 2592000000000
      AND m.emotions IS NOT NULL AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
      AND ((m.speaker IS NULL AND m.source IN $own_sources)
      OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
  RETURN m
  LIMIT 2000
}
UNWIND ([e IN m.emotions | e] + ['']) AS emotion
WITH place, emotion, count(m) AS memories
RETURN place, emotion, memories
ORDER BY place DESC, memories DESC, emotion;

// temperament_then
// :params $known_from, $known_to, $last, $own_sources, $own_speakers, $valid_from, $valid_to
UNWIND range(0, 11) AS place
CALL {
  WITH place
  MATCH (m:ConsciousnessNode)
  WHERE m.valid_at >= $last - (place + 1) * 2592000000000 AND m.valid_at < $last - place * 2592000000000
      AND m.emotions IS NOT NULL AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
      AND ((m.speaker IS NULL AND m.source IN $own_sources)
      OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
  RETURN m
  LIMIT 2000
  UNION ALL
  WITH place
  MATCH (m:PastVersion)
  WHERE m.valid_at >= $last - (place + 1) * 2592000000000 AND m.valid_at < $last - place * 2592000000000
      AND m.emotions IS NOT NULL AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
      AND ((m.speaker IS NULL AND m.source IN $own_sources)
      OR toLower(coalesce(m.speaker, '')) IN $own_speakers)
  RETURN m
  LIMIT 2000
}
UNWIND ([e IN m.emotions | e] + ['']) AS emotion
WITH place, emotion, count(m) AS memories
RETURN place, emotion, memories
ORDER BY place DESC, memories DESC, emotion;

// texts_of
// :params $characters, $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
RETURN left(coalesce(n.description, ''), $characters);

// texts_with
// :params $but, $kinds, $open, $roles, $sources, $words
UNWIND $words AS w
CALL {
  WITH w
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', w[0])
  YIELD node AS n
  WITH w, n
  LIMIT 8
  WITH w, n, coalesce(n.description, '') + ' ' + n.name AS text
  WHERE text CONTAINS w[1] AND n.expired_at = $open AND NOT n.node_type IN $kinds AND n.source IN $sources
      AND NOT n.id IN $but AND NOT toLower(coalesce(n.speaker, '')) IN $roles
  RETURN n.id AS id, text, n.valid_at AS valid_at
}
RETURN w[1], id, text, valid_at;

// told_after_now
// :params $began_from, $began_to, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $node_types, $others, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
UNWIND range(id(i) + 1, id(i) + 100) AS place
MATCH (j:ConsciousnessNode)
WHERE id(j) = place
WITH i, j
WHERE j.episode_id = i.episode_id
WITH i, j, j AS s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
WITH i, j, s
WHERE s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
    '') IN ['Question', 'Courtesy', 'Echo']
WITH i, j, s
ORDER BY id(j), s.version
WITH i, collect(s)[..8] AS said
UNWIND said AS m
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// told_after_then
// :params $began_from, $began_to, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $node_types, $others, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
UNWIND range(id(i) + 1, id(i) + 100) AS place
MATCH (j:ConsciousnessNode)
WHERE id(j) = place
WITH i, j
WHERE j.episode_id = i.episode_id
WITH i, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, j, collect(p) AS past
UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
    AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS s
WITH i, j, s
WHERE s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
    '') IN ['Question', 'Courtesy', 'Echo']
WITH i, j, s
ORDER BY id(j), s.version
WITH i, collect(s)[..8] AS said
UNWIND said AS m
WITH DISTINCT m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// told_after_thin
// :params $began_from, $began_to, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $node_types, $others, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6
UNION ALL
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
UNWIND range(id(i) + 1, id(i) + 100) AS place
MATCH (j:ConsciousnessNode)
WHERE id(j) = place
WITH i, j
WHERE j.episode_id = i.episode_id
WITH i, j, j AS s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
WITH i, j, s
WHERE s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
    '') IN ['Question', 'Courtesy', 'Echo']
WITH i, j, s
ORDER BY id(j), s.version
WITH i, collect(s)[..8] AS said
UNWIND said AS m
RETURN 0 AS c0, i.id AS c1, m.id AS c2, m.version AS c3, m.created_at AS c4, m.expired_at AS c5,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c6;

// told_by
// :params $ids
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND past + [n] AS r
RETURN r.name, left(r.description, 4000), r.tags;

// told_earlier
// :params $ids, $known_from, $known_to, $open, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3
UNION ALL
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to AND p.valid_at < $valid_to AND NOT (p.valid_at + 0 < $valid_to
    AND p.invalid_at > $valid_from AND p.created_at < $known_to AND p.expired_at > $known_from)
WITH i, min(p.valid_at) AS begun, max(CASE WHEN p.resolution_state IN $open THEN 1 ELSE 0 END) AS was_open
RETURN 0 AS c0, i.id AS c1, begun AS c2, was_open AS c3;

// told_lately_now
// :params $began_from, $began_to, $episodes, $generalised, $known_from, $known_to, $labels, $newest, $node_types, $open, $others, $sources, $speakers, $unfiltered, $until, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND s.unset CONTAINS 'resolution_state'
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= $newest AND id(s) < $until
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
}
WITH DISTINCT s AS m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// told_lately_then
// :params $began_from, $began_to, $episodes, $generalised, $known_from, $known_to, $labels, $newest, $node_types, $open, $others, $sources, $speakers, $unfiltered, $until, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND s.unset CONTAINS 'resolution_state'
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= $newest AND id(s) < $until
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
  UNION ALL
  MATCH (s:PastVersion)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND s.unset CONTAINS 'resolution_state'
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
  UNION ALL
  MATCH (s:PastVersion)
  WHERE id(s) >= $newest AND id(s) < $until
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
}
WITH DISTINCT s AS m, null AS e
RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// told_lately_thin
// :params $began_from, $began_to, $episodes, $generalised, $known_from, $known_to, $labels, $newest, $node_types, $open, $others, $sources, $speakers, $unfiltered, $until, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5
UNION ALL
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $open
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo'] AND s.unset CONTAINS 'resolution_state'
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE id(s) >= $newest AND id(s) < $until
  WITH s
  WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
      AND s.expired_at > $known_from AND s.description <> ''
      AND NOT toLower(coalesce(s.speaker, '')) IN $others AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s
  ORDER BY s.valid_at DESC, s.id, s.version
  LIMIT 60
  RETURN s
}
WITH DISTINCT s AS m
RETURN 0 AS c0, m.id AS c1, m.version AS c2, m.created_at AS c3, m.expired_at AS c4,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c5;

// told_solved_now
// :params $began_from, $began_to, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $node_types, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from
WITH e, j, j AS s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
WITH e, j, s
WHERE (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1]))
WITH e, s AS m
ORDER BY e.valid_at DESC, e.id, m.version
LIMIT 40
RETURN 1 AS hop, 0.0 AS score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// told_solved_then
// :params $began_from, $began_to, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $node_types, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[e:LINK|PAST_LINK]->(j:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from
WITH e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH e, j, collect(p) AS past
UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
    AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS s
WITH e, j, s
WHERE (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1]))
WITH e, s AS m
ORDER BY e.valid_at DESC, e.id, m.version
LIMIT 40
RETURN 1 AS hop, 0.0 AS score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate,
    e.energy, e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient,
    e.resolution_state, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason,
    e.closed_reason, e.source, e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// told_solved_thin
// :params $began_from, $began_to, $episodes, $generalised, $ids, $known_from, $known_to, $labels, $node_types, $sources, $speakers, $unfiltered, $valid_from, $valid_to
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13
UNION ALL
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
MATCH (i)-[e:LINK]->(j:ConsciousnessNode)
WHERE e.relation_type = 'RESOLVED_BY' AND e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from
    AND e.created_at < $known_to AND e.expired_at > $known_from
WITH i, e, j, j AS s
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from
WITH i, e, j, s
WHERE (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1]))
WITH i, e, s AS m
RETURN 0 AS c0, i.id AS c1, startNode(e).id AS c2, endNode(e).id AS c3, e.id AS c4, e.version AS c5,
    e.created_at AS c6, e.expired_at AS c7, m.id AS c8, m.version AS c9, m.created_at AS c10,
    m.expired_at AS c11, CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END AS c12, e.valid_at AS c13;

// trace
// :params $dimension, $model, $open, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE (m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension)
    OR (m.embedding_model = $model AND m.dimension = $dimension)
WITH m
UNWIND $rows AS r
WITH r
MATCH (n:ConsciousnessNode {id: r.id})
WHERE n.version = r.version AND n.created_at = r.created_at AND outdegree(n, 'HAS_TRACE_B') = 0
WITH r, n
FOREACH (_ IN CASE WHEN n.expired_at = $open THEN [1] ELSE [] END |
  CREATE (n)-[:HAS_TRACE_B]->(:TraceB {embedding: vecf32(r.embedding), emotion: vecf32(r.emotion),
      digest: r.digest})
)
FOREACH (_ IN CASE WHEN n.expired_at = $open THEN [] ELSE [1] END |
  CREATE (n)-[:HAS_TRACE_B]->(:PastTraceB {embedding: vecf32(r.embedding), emotion: vecf32(r.emotion),
      digest: r.digest})
)
RETURN count(n);

// trace_passages
// :params $dimension, $model, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE (m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension)
    OR (m.embedding_model = $model AND m.dimension = $dimension)
WITH m
UNWIND $rows AS r
WITH r
MATCH (n:Passage {handle: r.handle})
WHERE outdegree(n, 'HAS_TRACE_B') = 0
WITH r, n
CREATE (n)-[:HAS_TRACE_B]->(:PassageTraceB {embedding: vecf32(r.embedding)})
RETURN count(n);

// trace_past
// :params $dimension, $model, $rows
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE (m.other_state = 'filling' AND m.other_model = $model AND m.other_dimension = $dimension)
    OR (m.embedding_model = $model AND m.dimension = $dimension)
WITH m
UNWIND $rows AS r
WITH r
UNWIND r.owners AS owner
MATCH (n:PastVersion {id: owner.id})
WHERE n.version = owner.version AND n.created_at = owner.created_at AND outdegree(n, 'HAS_TRACE_B') = 0
WITH r.number AS number, r, collect(n) AS owners
CREATE (t:PastTraceB {embedding: vecf32(r.embedding), emotion: vecf32(r.emotion), digest: r.digest})
FOREACH (n IN owners |
  CREATE (n)-[:HAS_TRACE_B]->(t)
)
RETURN count(t);

// transaction
// :params $at, $carried, $changes_until, $closing, $commands, $handles, $held, $ids, $links, $moved, $new, $open, $past, $pending_until, $receipts, $restored, $seen, $tagged, $touched, $withdrawn
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at
WITH m, at, at - $at AS later
OPTIONAL MATCH (c:Receipt)
WHERE c.command_id IN $commands
WITH m, at, later, count(c) AS applied
OPTIONAL MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH m, at, later, applied, collect(n) AS found
WITH m, at, later, applied, [n IN found | [n.id, n.version,
    coalesce(n.touched, CASE WHEN n.expired_at = $open THEN n.created_at ELSE n.expired_at END)]] AS found
WITH m, at, later
WHERE applied = 0 AND size(found) = size($seen) AND all(one IN $seen WHERE one IN found)
CALL {
  UNWIND $held AS l
  MATCH (a:ConsciousnessNode {id: l.source_id})
  MATCH (b:ConsciousnessNode {id: l.target_id})
  WITH l, a, b
  OPTIONAL MATCH (a)-[e:LINK]->(b)
  WHERE e.id = l.id
  WITH l, a, b, collect(e) AS carried
  OPTIONAL MATCH (a)-[h:PAST_LINK]->(b)
  WHERE h.id = l.id
  WITH l, carried, collect(h) AS past
  WITH l, size(past) AS held, size([h IN past WHERE h.expired_at = $open]) AS still,
      [e IN carried | coalesce(e.version, 1)] AS versions
  WHERE versions = l.carried AND held = l.past AND still = l.still
  RETURN count(l) AS same
}
WITH m, at, later
WHERE same = size($held)
CALL {
  UNWIND $handles AS handle
  MATCH ()-[e:LINK|PAST_LINK {handle: handle}]->()
  RETURN count(e) AS taken
}
WITH m, at, later
WHERE taken = 0
FOREACH (r IN $new |
  CREATE (n:ConsciousnessNode)-[:HAS_TRACE]->(t:Trace)
  SET n = r.content
  SET n += {node_type: intern(r.content.node_type), goal: intern(r.content.goal),
      resolution_state: intern(r.content.resolution_state), severity: intern(r.content.severity),
      step: intern(r.content.step), source: intern(r.content.source), author: intern(r.content.author),
      episode_id: intern(r.content.episode_id), speaker: intern(r.content.speaker),
      unset: intern(r.content.unset)}
  SET n += r.marks, n.created_at = CASE WHEN r.marks.created_at < $at
      OR r.marks.created_at = $open THEN r.marks.created_at ELSE r.marks.created_at + later END,
      n.expired_at = CASE WHEN r.marks.expired_at < $at
      OR r.marks.expired_at = $open THEN r.marks.expired_at ELSE r.marks.expired_at + later END
  SET t += CASE WHEN r.embedding IS NULL THEN {} ELSE {embedding: vecf32(r.embedding), digest: r.digest} END
  SET t.emotion = vecf32(r.emotion)
)
WITH m, at, later
CALL {
  WITH later
  UNWIND $past AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH later, r, n
  OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
  WITH later, r, n, CASE WHEN r.of = n.version THEN [n] ELSE [] END AS now, collect(t) AS nows
  OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion)
  WHERE s.version = r.of
  OPTIONAL MATCH (s)-[:HAS_TRACE]->(st)
  WITH later, r, n, now, nows, collect(s) AS before, collect(st) AS befores
  WITH later, r, n, now + before AS bases, CASE WHEN size(now) = 1 THEN nows ELSE befores END AS traces
  CREATE (p:PastTrace)
  SET p = CASE WHEN r.of = 0 OR size(traces) = 0 THEN {} ELSE properties(traces[0]) END
  SET p += CASE WHEN r.embedding IS NULL THEN {} ELSE {embedding: vecf32(r.embedding), digest: r.digest} END
  SET p += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END
  FOREACH (one IN r.records |
    CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(p)
    SET q = CASE WHEN r.of = 0 THEN {} ELSE properties(bases[0]) END
    SET q += r.content
    SET q += one.marks, q.created_at = CASE WHEN one.marks.created_at < $at
        OR one.marks.created_at = $open THEN one.marks.created_at ELSE one.marks.created_at + later END,
        q.expired_at = CASE WHEN one.marks.expired_at < $at
        OR one.marks.expired_at = $open THEN one.marks.expired_at ELSE one.marks.expired_at + later END
  )
  RETURN count(r) AS opened
}
WITH m, at, later
CALL {
  WITH later
  UNWIND $closing AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH later, r, n
  MATCH (n)-[:HAD]->(p:PastVersion)
  WHERE p.version = r.version
  SET p += r.marks, p.created_at = CASE WHEN r.marks.created_at < $at
      OR r.marks.created_at = $open THEN r.marks.created_at ELSE r.marks.created_at + later END,
      p.expired_at = CASE WHEN r.marks.expired_at < $at
      OR r.marks.expired_at = $open THEN r.marks.expired_at ELSE r.marks.expired_at + later END
  RETURN count(r) AS closed
}
WITH m, at, later
CALL {
  WITH later
  UNWIND $carried AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH later, r, n
  OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion)
  WHERE s.version = r.of
  WITH later, r, n, s
  LIMIT 1000
  OPTIONAL MATCH (s)-[:HAS_TRACE]->(st)
  WITH later, r, n, s, st
  LIMIT 1000
  OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
  WITH later, r, n, s, st, t
  LIMIT 1000
  SET n = CASE WHEN r.of = 0 THEN {id: r.id} WHEN s IS NULL THEN properties(n) ELSE properties(s) END
  SET n += r.content
  SET n += r.marks, n.created_at = CASE WHEN r.marks.created_at < $at
      OR r.marks.created_at = $open THEN r.marks.created_at ELSE r.marks.created_at + later END,
      n.expired_at = CASE WHEN r.marks.expired_at < $at
      OR r.marks.expired_at = $open THEN r.marks.expired_at ELSE r.marks.expired_at + later END
  SET t = CASE WHEN r.of = 0 THEN {} WHEN st IS NULL THEN properties(t) ELSE properties(st) END
  SET t += CASE WHEN r.embedding IS NULL THEN {} ELSE {embedding: vecf32(r.embedding), digest: r.digest} END
  SET t += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END
  RETURN count(r) AS changed
}
WITH m, at, later
CALL {
  UNWIND $carried AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH n
  MATCH (n)-[:HAS_TRACE_B]->(o)
  DELETE o
  RETURN count(n) AS stale
}
WITH m, at, later
CALL {
  UNWIND $moved AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH r, n
  MATCH (n)-[:HAD]->(p:PastVersion)
  WHERE p.version = r.version
  WITH p
  LIMIT 1000
  OPTIONAL MATCH (p)-[:HAS_TRACE]->(t)
  WHERE indegree(t, 'HAS_TRACE') = 1
  OPTIONAL MATCH (p)-[:HAS_TRACE_B]->(o)
  WHERE indegree(o, 'HAS_TRACE_B') = 1
  DELETE t, o, p
  RETURN count(p) AS moved
}
WITH m, at, later
CALL {
  WITH at
  UNWIND $touched AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  SET n.touched = at, n.versions = r.versions
  RETURN count(n) AS touched
}
WITH m, at, later
CALL {
  UNWIND $withdrawn AS id
  MATCH (n:ConsciousnessNode {id: id})
  WITH n
  MATCH (n)-[:HAS_TRACE]->(t:Trace)
  REMOVE t:Trace
  SET t:PastTrace
  RETURN count(n) AS withdrawn
}
WITH m, at, later
CALL {
  UNWIND $restored AS id
  MATCH (n:ConsciousnessNode {id: id})
  WITH n
  MATCH (n)-[:HAS_TRACE]->(t:PastTrace)
  REMOVE t:PastTrace
  SET t:Trace
  RETURN count(n) AS restored
}
WITH m, at, later
CALL {
  UNWIND $tagged AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH n
  MATCH (n)-[g:TAGGED]->(:Tag)
  DELETE g
  RETURN count(g) AS untagged
}
WITH m, at, later
CALL {
  UNWIND $tagged AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  FOREACH (tag IN r.tags |
    MERGE (x:Tag {name: tag})
    CREATE (n)-[:TAGGED]->(x)
  )
  RETURN count(r) AS tagged
}
WITH m, at, later
CALL {
  WITH later
  UNWIND $links AS r
  MATCH (a:ConsciousnessNode {id: r.source_id})
  MATCH (b:ConsciousnessNode {id: r.target_id})
  WITH later, r, a, b
  OPTIONAL MATCH (a)-[e:LINK]->(b)
  WHERE e.id = r.id
  WITH later, r, a, b, collect(e) AS carried
  OPTIONAL MATCH (a)-[h:PAST_LINK]->(b)
  WHERE h.id = r.id
  WITH later, r, a, b, carried, collect(h) AS past
  FOREACH (k IN r.opened |
    FOREACH (_ IN CASE WHEN k.type = 'PAST_LINK' THEN [1] ELSE [] END |
      CREATE (a)-[l:PAST_LINK]->(b)
      SET l = CASE WHEN k.of = 0 THEN {} ELSE properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) END
      SET l += k.content
      SET l += {relation_type: intern(l.relation_type), goal: intern(l.goal), mindstate: intern(l.mindstate),
          formation_trigger: intern(l.formation_trigger), resolution_state: intern(l.resolution_state),
          source: intern(l.source), author: intern(l.author), episode_id: intern(l.episode_id),
          unset: intern(l.unset)}
      SET l += k.marks, l.created_at = CASE WHEN k.marks.created_at < $at
          OR k.marks.created_at = $open THEN k.marks.created_at ELSE k.marks.created_at + later END,
          l.expired_at = CASE WHEN k.marks.expired_at < $at
          OR k.marks.expired_at = $open THEN k.marks.expired_at ELSE k.marks.expired_at + later END
    )
  )
  FOREACH (k IN r.opened |
    FOREACH (_ IN CASE WHEN k.type = 'LINK' THEN [1] ELSE [] END |
      CREATE (a)-[l:LINK]->(b)
      SET l = CASE WHEN k.of = 0 THEN {} ELSE properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) END
      SET l += k.content
      SET l += {relation_type: intern(l.relation_type), goal: intern(l.goal), mindstate: intern(l.mindstate),
          formation_trigger: intern(l.formation_trigger), resolution_state: intern(l.resolution_state),
          source: intern(l.source), author: intern(l.author), episode_id: intern(l.episode_id),
          unset: intern(l.unset)}
      SET l += k.marks, l.created_at = CASE WHEN k.marks.created_at < $at
          OR k.marks.created_at = $open THEN k.marks.created_at ELSE k.marks.created_at + later END,
          l.expired_at = CASE WHEN k.marks.expired_at < $at
          OR k.marks.expired_at = $open THEN k.marks.expired_at ELSE k.marks.expired_at + later END
    )
  )
  FOREACH (k IN r.closing |
    FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) = k.version] |
      SET h += k.marks, h.created_at = CASE WHEN k.marks.created_at < $at
          OR k.marks.created_at = $open THEN k.marks.created_at ELSE k.marks.created_at + later END,
          h.expired_at = CASE WHEN k.marks.expired_at < $at
          OR k.marks.expired_at = $open THEN k.marks.expired_at ELSE k.marks.expired_at + later END
    )
  )
  FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) IN r.carried_again] |
    DELETE h
  )
  FOREACH (e IN CASE WHEN r.moved THEN carried ELSE [] END |
    DELETE e
  )
  RETURN count(r) AS related
}
WITH m, at, later
FOREACH (r IN $receipts |
  CREATE (c:Receipt {command_id: r.command_id})
  SET c += r, c.created_at = CASE WHEN r.created_at < $at
      OR r.created_at = $open THEN r.created_at ELSE r.created_at + later END
)
WITH m, at, later, CASE WHEN $changes_until < $at
    OR $changes_until = $open THEN $changes_until ELSE $changes_until + later END AS changes_until
SET m.clock = at, m.pending_until = CASE WHEN coalesce(m.pending_until,
    0) < $pending_until THEN $pending_until ELSE m.pending_until END,
    m.changes_until = CASE WHEN m.changes_until < changes_until THEN changes_until ELSE m.changes_until END
RETURN later;

// turn_states
// :params $ids
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, coalesce(n.version, 1), n.expired_at;

// types_around_names
// :params $ids, $open
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK]->(t)
WHERE t.name_key IS NOT NULL AND coalesce(e.formation_trigger, '') <> 'named in the text'
    AND e.expired_at = $open
RETURN DISTINCT e.relation_type
ORDER BY e.relation_type
LIMIT 64;

// undo_offer
// :params $run
MATCH (a:Revaluation)
WHERE a.run = $run AND a.waiting = true
WITH collect(a) AS offered
FOREACH (a IN [x IN offered WHERE x.before = 0] |
  DELETE a
)
FOREACH (a IN [x IN offered WHERE x.before > 0] |
  SET a.asked_at = a.before, a.waiting = false, a.run = null, a.proposed = null, a.because = null
)
RETURN size(offered);

// unready
CALL db.indexes()
YIELD label, status
WITH label, status
WHERE status <> 'OPERATIONAL'
RETURN label, status
UNION ALL
CALL db.constraints()
YIELD label, status
WITH label, status
WHERE status <> 'OPERATIONAL'
RETURN label, status;

// unresolved_by_words_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $episodes, $expanded, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $plain_goal, $recent_from, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// unresolved_by_words_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $plain_goal, $recent_from, $required_emotions, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// unresolved_by_words_now
// :params $began_from, $began_to, $episodes, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $node_types, $plain_goal, $recent_from, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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

// unresolved_by_words_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $node_types, $plain_goal, $recent_from, $required_emotions, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// unresolved_fitting_now
// :params $began_from, $began_to, $beside_since, $beside_states, $episodes, $expanded, $far, $first_hop, $generalised, $goal, $goal_embedding, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $nearest, $node_types, $plain_goal, $recent_from, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j AS m
  WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
      AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// unresolved_fitting_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $far, $first_hop, $generalised, $goal, $goal_embedding, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $nearest, $node_types, $plain_goal, $recent_from, $required_emotions, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  UNION ALL
  MATCH (s:ConsciousnessNode)
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s, s AS i
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, vec.cosineDistance(t.embedding, vecf32($goal_embedding)) AS score
  ORDER BY score, s.id, s.version
  LIMIT $nearest
  WITH s, i, score
  WHERE score <= $far
  RETURN s, i, score
  UNION ALL
  MATCH (s:PastVersion)
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s
  MATCH (i:ConsciousnessNode)-[:HAD]->(s)
  WITH s, i
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
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// unresolved_now
// :params $began_from, $began_to, $episodes, $far, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $most_energy, $near, $node_types, $plain_goal, $recent_from, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  WITH s, s AS i
  WITH s.goal AS stored, collect(s) AS records, collect(i) AS places
  WITH stored, records, places, ' ' + replace(replace(toLower(stored), '_', ' '), '-', ' ') + ' ' AS goal
  WHERE stored = $goal OR goal CONTAINS $plain_goal OR $plain_goal CONTAINS goal
      OR size([word IN $goal_words WHERE goal CONTAINS word]) >= $shared_words
  UNWIND range(0, size(records) - 1) AS place
  WITH records[place] AS s, places[place] AS i, 2.0 AS score
  RETURN s, i, score
  UNION ALL
  UNWIND $near AS one
  MATCH (s:ConsciousnessNode {id: one[0]})
  WITH s, one
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  MATCH (s)-[:HAS_TRACE]->(t:Trace)
  WHERE coalesce(t.digest, '') = one[1]
  WITH s, one[2] AS score
  WITH s, s AS i, score
  WHERE score <= $far
  RETURN s, i, score
}
WITH s, i, min(score) AS score
ORDER BY s.energy * (1.0 / (1.0 + CASE WHEN s.valid_at < $recent_from THEN 1.0 * ($recent_from - s.valid_at) ELSE 0.0 END / $half_life)) DESC,
    score, s.id, s.version
LIMIT $limit
RETURN 0 AS hop, score, s.id, s.version, s.created_at, s.expired_at,
    CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// unresolved_then
// :params $began_from, $began_to, $beside_since, $beside_states, $emotions_needed, $episodes, $expanded, $far, $first_hop, $generalised, $goal, $goal_words, $half_life, $known_from, $known_to, $labels, $least_energy, $limit, $min_confidence, $min_energy, $most_energy, $near, $node_types, $plain_goal, $recent_from, $required_emotions, $shared_words, $since, $sources, $speakers, $states, $unfiltered, $valid_from, $valid_to
CALL {
  MATCH (s:ConsciousnessNode)
  WHERE s.resolution_state IN $states AND s.valid_at >= $since AND s.energy >= $least_energy
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
      AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from
      AND s.created_at < $known_to AND s.expired_at > $known_from AND (s.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  UNION ALL
  UNWIND $near AS one
  WITH one[0] AS id, collect(one) AS found
  MATCH (i:ConsciousnessNode {id: id})
  WITH i, found
  WITH found, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WITH i, found, collect(p) AS past
  UNWIND (past + [i]) AS s
  WITH s, i, found
  WHERE (size($states) = 0 OR s.resolution_state IN $states) AND s.valid_at >= $since
      AND s.energy >= $least_energy AND s.energy <= $most_energy AND s.valid_at + 0 < $valid_to
      AND s.invalid_at > $valid_from AND s.created_at < $known_to AND s.expired_at > $known_from
      AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR s.node_type IN $node_types)
      AND (size($speakers) = 0 OR s.speaker IN $speakers)
      AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
      AND s.valid_at >= $began_from AND s.valid_at < $began_to
      AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND NOT coalesce(s.step,
      '') IN ['Question', 'Courtesy', 'Echo']
  MATCH (s)-[:HAS_TRACE]->(t)
  WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score
  WHERE score IS NOT NULL
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
  MATCH (i)-[e:LINK|PAST_LINK]-(j:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND j.id IS NOT NULL
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH i, e, j, count(p) AS records
  WHERE records > 0 OR j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from AND j.created_at < $known_to
      AND j.expired_at > $known_from
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id
  WITH i, collect(e)[..$first_hop] AS links, collect(j)[..$first_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH 1 AS hop, e, j
  WITH hop, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from
  WITH hop, e, j, collect(p) AS past
  UNWIND (past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from THEN [j] ELSE [] END) AS m
  WITH hop, e, m
  WHERE m.energy >= $min_energy AND m.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN m.emotions]) >= $emotions_needed
      AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR m.node_type IN $node_types)
      AND (size($speakers) = 0 OR m.speaker IN $speakers)
      AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
      AND m.valid_at >= $began_from AND m.valid_at < $began_to
      AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1])) AND m.valid_at >= $beside_since
      AND (size($beside_states) = 0 OR m.resolution_state IN $beside_states)
  RETURN hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// upkeep_changes
// :params $page
MATCH (c:UpkeepChange)
WHERE c.page = $page
RETURN c.nth, c.command_id, c.command, c.target, c.source
ORDER BY c.nth DESC;

// upkeep_drop_runs
// :params $job, $keep
MATCH (r:UpkeepRun)
WHERE r.job = $job AND r.status <> 'running' AND r.status <> 'failed' AND r.changed = 0 AND r.kept = 0
WITH r
ORDER BY r.begun_at DESC
SKIP $keep
WITH collect(r) AS old
FOREACH (r IN old |
  DELETE r
)
RETURN size(old);

// upkeep_exists
RETURN 1;

// upkeep_journal
// :params $fence, $rows, $run, $values
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE coalesce(m.upkeep_fence, 0) <= $fence
SET m.upkeep_fence = $fence
WITH m
MATCH (r:UpkeepRun {id: $run})
SET r += $values
WITH r
UNWIND $rows AS row
CREATE (c:UpkeepChange)
SET c = row
RETURN count(c);

// upkeep_own
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m.upkeep_mode, m.upkeep_jobs
LIMIT 1;

// upkeep_run
// :params $run
MATCH (r:UpkeepRun {id: $run})
RETURN r.id, r.job, r.status, r.begun_at, r.ended_at, r.next_at, r.seen, r.changed, r.refused, r.attempt,
    r.errors, r.fence, r.undone, r.beyond_undo, r.kept, r.cursor, r.pages;

// upkeep_run_of
// :params $commands
MATCH (c:UpkeepChange)
WHERE c.command_id IN $commands
RETURN c.command_id, c.run;

// upkeep_runs
// :params $rows
MATCH (r:UpkeepRun)
RETURN r.id, r.job, r.status, r.begun_at, r.ended_at, r.next_at, r.seen, r.changed, r.refused, r.attempt,
    r.errors, r.fence, r.undone, r.beyond_undo, r.kept, r.cursor, r.pages
ORDER BY r.begun_at DESC, r.id DESC
LIMIT $rows;

// upkeep_save_run
// :params $fence, $run, $values
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE coalesce(m.upkeep_fence, 0) <= $fence
SET m.upkeep_fence = $fence
WITH m
MERGE (r:UpkeepRun {id: $run})
SET r += $values
RETURN r.id;

// upkeep_set_own
// :params $jobs, $mode
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.upkeep_mode = $mode, m.upkeep_jobs = $jobs
RETURN m.key;

// upkeep_settle
// :params $fence, $gone, $page, $run, $values
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE coalesce(m.upkeep_fence, 0) <= $fence
SET m.upkeep_fence = $fence
WITH m
MATCH (r:UpkeepRun {id: $run})
SET r += $values
WITH r
OPTIONAL MATCH (c:UpkeepChange)
WHERE c.page = $page AND c.command_id IN $gone
WITH r, collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
RETURN r.id;

// values_now
// :params $known_from, $known_to, $limit, $valid_from, $valid_to
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.rule > '' AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
  RETURN m
  LIMIT 20000
}
WITH m
ORDER BY m.valid_at, m.id
WITH m.rule AS rule, count(DISTINCT m.id) AS memories, min(m.valid_at) AS since, collect(m.id) AS ids
ORDER BY memories DESC, since, rule
LIMIT $limit
RETURN rule, memories, since, ids[size(ids) - 1];

// values_of_episodes
MATCH (m:ConsciousnessNode)
WHERE m.episode_id IS NOT NULL
WITH m.episode_id AS value, count(m) AS held
RETURN value
ORDER BY held DESC, value
LIMIT 2000;

// values_of_node_types
MATCH (m:ConsciousnessNode)
WHERE m.node_type IS NOT NULL
WITH m.node_type AS value, count(m) AS held
RETURN value
ORDER BY held DESC, value
LIMIT 2000;

// values_of_sources
MATCH (m:ConsciousnessNode)
WHERE m.source IS NOT NULL
WITH m.source AS value, count(m) AS held
RETURN value
ORDER BY held DESC, value
LIMIT 2000;

// values_of_speakers
MATCH (m:ConsciousnessNode)
WHERE m.speaker IS NOT NULL
WITH m.speaker AS value, count(m) AS held
RETURN value
ORDER BY held DESC, value
LIMIT 2000;

// values_then
// :params $known_from, $known_to, $limit, $valid_from, $valid_to
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.rule > '' AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
  RETURN m
  LIMIT 20000
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.rule > '' AND m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from
      AND m.created_at < $known_to AND m.expired_at > $known_from AND m.node_type <> 'Generalisation'
  RETURN m
  LIMIT 20000
}
WITH m
ORDER BY m.valid_at, m.id
WITH m.rule AS rule, count(DISTINCT m.id) AS memories, min(m.valid_at) AS since, collect(m.id) AS ids
ORDER BY memories DESC, since, rule
LIMIT $limit
RETURN rule, memories, since, ids[size(ids) - 1];

// vector_names_now
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $from, $generalised, $ids, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $until
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE s.valid_at + 0 < $until AND s.invalid_at > $from AND s.created_at < $known_to
    AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
MATCH (s)-[:HAS_TRACE]->(t)
WHERE t:Trace
RETURN 'near', t.digest, toLower(coalesce(s.speaker, '')), s.valid_at, s.invalid_at, s.id, s.version,
    s.created_at, s.expired_at, CASE WHEN s.passages IS NULL THEN 0 ELSE 1 END;

// vector_now
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $from, $generalised, $ids, $known_from, $known_to, $labels, $min_confidence, $min_energy, $node_types, $required_emotions, $sources, $speakers, $unfiltered, $until
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15,
    null AS c16, null AS c17, null AS c18, null AS c19, null AS c20, null AS c21, null AS c22, null AS c23,
    null AS c24, null AS c25, null AS c26, null AS c27, null AS c28, null AS c29, null AS c30, null AS c31,
    null AS c32, null AS c33, null AS c34, null AS c35, null AS c36, null AS c37, null AS c38, null AS c39
UNION ALL
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids
WITH s
WHERE s.valid_at + 0 < $until AND s.invalid_at > $from AND s.created_at < $known_to
    AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
MATCH (s)-[:HAS_TRACE]->(t)
WHERE t:Trace
RETURN 'near' AS c0, t.digest AS c1, toLower(coalesce(s.speaker, '')) AS c2, s.id AS c3, s.node_type AS c4,
    s.name AS c5, CASE WHEN s.passages IS NULL THEN s.description ELSE left(s.description,
    1000) + '' + toString(size(s.description)) END AS c6, s.valid_at AS c7, s.invalid_at AS c8,
    s.created_at AS c9, s.expired_at AS c10, s.version AS c11, s.invalidation_reason AS c12,
    s.closed_reason AS c13, s.correction_pattern_id AS c14, s.discovery_energy AS c15, s.energy AS c16,
    s.confidence AS c17, s.emotion_vector AS c18, s.felt_quality AS c19, s.body_sensation AS c20,
    s.goal AS c21, s.resolution_state AS c22, s.tags AS c23, s.buckets AS c24, s.aliases AS c25,
    s.importance AS c26, s.intensity AS c27, s.result AS c28, s.rule AS c29, s.severity AS c30,
    s.abstraction AS c31, s.step AS c32, s.source AS c33, s.author AS c34, s.shared_from AS c35,
    s.episode_id AS c36, s.speaker AS c37, s.extra AS c38, s.unset AS c39;

// vector_otherpassagetrace_embedding
CREATE VECTOR INDEX FOR (n:PassageTraceB) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_otherpasttrace_embedding
CREATE VECTOR INDEX FOR (n:PastTraceB) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_othertrace_embedding
CREATE VECTOR INDEX FOR (n:TraceB) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_passagetrace_embedding
CREATE VECTOR INDEX FOR (n:PassageTrace) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_pasttrace_embedding
CREATE VECTOR INDEX FOR (n:PastTrace) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_then
// :params $asked, $began_from, $began_to, $emotions_needed, $episodes, $expanded, $far, $favoured, $first_hop, $generalised, $known_from, $known_to, $labels, $limit, $min_confidence, $min_energy, $near, $node_types, $required_emotions, $second_hop, $second_starts, $sources, $speakers, $unfiltered, $valid_from, $valid_to
UNWIND $near AS one
WITH one[0] AS id, collect(one) AS found
MATCH (i:ConsciousnessNode {id: id})
WITH i, found
WITH found, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WITH i, found, collect(p) AS past
UNWIND (past + [i]) AS s
WITH s, i, found
WHERE s.valid_at + 0 < $valid_to AND s.invalid_at > $valid_from AND s.created_at < $known_to
    AND s.expired_at > $known_from AND s.energy >= $min_energy AND s.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN s.emotions]) >= $emotions_needed
    AND (s.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR s.node_type IN $node_types)
    AND (size($speakers) = 0 OR s.speaker IN $speakers)
    AND (size($episodes) = 0 OR s.episode_id IN $episodes) AND (size($sources) = 0 OR s.source IN $sources)
    AND s.valid_at >= $began_from AND s.valid_at < $began_to
    AND all(label IN $labels WHERE s[label[0]] CONTAINS label[1])) AND (s.unset IS NULL
    OR NOT s.unset STARTS WITH 'name,' OR coalesce(s.description, '') <> '') AND ($asked
    OR NOT coalesce(s.step, '') IN ['Question', 'Courtesy', 'Echo'])
MATCH (s)-[:HAS_TRACE]->(t)
WITH s, i, head([one IN found WHERE coalesce(t.digest, '') = one[1] | one[2]]) AS score
WHERE score IS NOT NULL
WITH s, i, score
ORDER BY score - CASE WHEN toLower(coalesce(s.speaker, '')) IN $favoured THEN 0.1 ELSE 0.0 END, s.id,
    s.version
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
  MATCH (i)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, j
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(j)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS j
  WITH i, e, j
  WITH i, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, j, collect(p) AS past
  WITH i, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
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
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH i, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH i
  MATCH (i)-[e:LINK|PAST_LINK]-(b)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,')
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..1000] AS links, collect(b)[..1000] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH b, collect([i, e]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS i, way[1] AS e
  WITH i, e, b, CASE WHEN outdegree(b, 'HAD') > 0 THEN b ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, e, b, collect(p) AS past
  WITH i, e, b, past + CASE WHEN b.valid_at + 0 < $valid_to AND b.invalid_at > $valid_from
      AND b.created_at < $known_to AND b.expired_at > $known_from AND b.energy >= $min_energy
      AND b.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN b.emotions]) >= $emotions_needed
      AND (b.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR b.node_type IN $node_types)
      AND (size($speakers) = 0 OR b.speaker IN $speakers)
      AND (size($episodes) = 0 OR b.episode_id IN $episodes) AND (size($sources) = 0 OR b.source IN $sources)
      AND b.valid_at >= $began_from AND b.valid_at < $began_to
      AND all(label IN $labels WHERE b[label[0]] CONTAINS label[1])) AND (b.unset IS NULL
      OR NOT b.unset STARTS WITH 'name,' OR coalesce(b.description, '') <> '') AND ($asked
      OR NOT coalesce(b.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [b] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, e, b
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, collect(e)[..$second_starts] AS links, collect(b)[..$second_starts] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, links[place] AS e, others[place] AS b
  WITH DISTINCT i, b
  MATCH (b)-[e:LINK|PAST_LINK]-(j)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND (e.unset IS NULL OR NOT e.unset STARTS WITH 'goal,') AND j.id <> i.id
  WITH i, b, e, j
  WITH i, b, e, j, CASE WHEN outdegree(j, 'HAD') > 0 THEN j ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND p.energy >= $min_energy AND p.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN p.emotions]) >= $emotions_needed
      AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND (p.unset IS NULL
      OR NOT p.unset STARTS WITH 'name,' OR coalesce(p.description, '') <> '') AND ($asked
      OR NOT coalesce(p.step, '') IN ['Question', 'Courtesy', 'Echo'])
  WITH i, b, e, j, collect(p) AS past
  WITH i, b, e, j, past + CASE WHEN j.valid_at + 0 < $valid_to AND j.invalid_at > $valid_from
      AND j.created_at < $known_to AND j.expired_at > $known_from AND j.energy >= $min_energy
      AND j.confidence >= $min_confidence
      AND size([emotion IN $required_emotions WHERE emotion IN j.emotions]) >= $emotions_needed
      AND (j.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR j.node_type IN $node_types)
      AND (size($speakers) = 0 OR j.speaker IN $speakers)
      AND (size($episodes) = 0 OR j.episode_id IN $episodes) AND (size($sources) = 0 OR j.source IN $sources)
      AND j.valid_at >= $began_from AND j.valid_at < $began_to
      AND all(label IN $labels WHERE j[label[0]] CONTAINS label[1])) AND (j.unset IS NULL
      OR NOT j.unset STARTS WITH 'name,' OR coalesce(j.description, '') <> '') AND ($asked
      OR NOT coalesce(j.step, '') IN ['Question', 'Courtesy', 'Echo']) THEN [j] ELSE [] END AS records
  WHERE size(records) > 0
  WITH i, b, e, records
  ORDER BY e.energy * e.confidence DESC, e.valid_at DESC, e.id, e.created_at DESC
  WITH i, b, collect(e)[..$second_hop] AS links, collect(records)[..$second_hop] AS others
  UNWIND range(0, size(links) - 1) AS place
  WITH i, b, links[place] AS e, others[place] AS records
  UNWIND records AS m
  RETURN 2 AS hop, null AS score, e, m
}
RETURN hop, score, startNode(e).id, endNode(e).id, e.id, e.relation_type, e.goal, e.mindstate, e.energy,
    e.confidence, e.formation_trigger, e.emotion_vector, e.energy_transfer_coefficient, e.resolution_state,
    e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context, e.sensory_details, e.valid_at,
    e.invalid_at, e.created_at, e.expired_at, e.version, e.invalidation_reason, e.closed_reason, e.source,
    e.author, e.episode_id, e.extra, e.unset, m.id, m.node_type, m.name,
    CASE WHEN m.passages IS NULL THEN m.description ELSE left(m.description,
    1000) + '' + toString(size(m.description)) END, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// vector_trace_embedding
CREATE VECTOR INDEX FOR (n:Trace) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vectors_of
// :params $wanted
UNWIND $wanted AS w
MATCH (n:ConsciousnessNode {id: w.id})
WITH n, w
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.version = w.of
WITH collect(n) + collect(p) AS records
UNWIND records AS r
MATCH (r)-[:HAS_TRACE]->(t)
WHERE t.digest IS NOT NULL
RETURN DISTINCT r.id, t.digest;

// version_page
// :params $beyond, $first, $rows, $skip
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, p
SKIP $skip
LIMIT $rows
RETURN n.id, n.version, n.valid_at, n.invalid_at, n.created_at, n.expired_at, p.version, p.valid_at,
    p.invalid_at, p.created_at, p.expired_at;

// walk_now
// :params $began_from, $began_to, $episodes, $from, $generalised, $held, $known_from, $known_to, $labels, $node_types, $pool, $sources, $speakers, $tags, $unfiltered, $valid_from, $valid_to
CALL {
  UNWIND $tags AS tag
  MATCH (t:Tag {name: tag[0]})
  WITH t, tag[1] AS weight, tag[2] AS place
  MATCH (t)<-[g:TAGGED|MADE_TAG]-(i:ConsciousnessNode)
  WITH i, sum(weight) AS weight,
      collect(CASE type(g) WHEN 'MADE_TAG' THEN 'm' + toString(place) ELSE null END) AS made
  WHERE NOT i.id IN $held AND i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
      AND i.created_at < $known_to AND i.expired_at > $known_from AND (i.node_type <> 'Generalisation'
      OR $generalised) AND ($unfiltered OR (size($node_types) = 0 OR i.node_type IN $node_types)
      AND (size($speakers) = 0 OR i.speaker IN $speakers)
      AND (size($episodes) = 0 OR i.episode_id IN $episodes) AND (size($sources) = 0 OR i.source IN $sources)
      AND i.valid_at >= $began_from AND i.valid_at < $began_to
      AND all(label IN $labels WHERE i[label[0]] CONTAINS label[1])) AND NOT coalesce(i.step,
      '') IN ['Question', 'Courtesy', 'Echo']
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  WITH DISTINCT a, b
  WITH b, collect([a]) AS ways
  WITH b, ways, indegree(b, 'LINK') + outdegree(b, 'LINK') AS held
  WHERE held < 64
  UNWIND ways AS way
  WITH b, way[0] AS a
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
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  WITH DISTINCT a, b
  WITH b, collect([a]) AS ways
  WITH b, ways, indegree(b, 'LINK') + outdegree(b, 'LINK') AS held
  WHERE held < 64
  UNWIND ways AS way
  WITH b, way[0] AS a
  MATCH (b)-[e:LINK]-(c:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND c.id <> a.id
  WITH DISTINCT a, c
  WITH c, collect([a]) AS ways
  WITH c, ways, indegree(c, 'LINK') + outdegree(c, 'LINK') AS held
  WHERE held < 64
  UNWIND ways AS way
  WITH c, way[0] AS a
  RETURN c AS i, '2' + a.id AS way
}
WITH i, string.join(collect(DISTINCT way), '|') AS ways
WITH i AS m, ways
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from AND (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
RETURN ways, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END
ORDER BY m.id, m.version;

// walk_then
// :params $began_from, $began_to, $episodes, $from, $generalised, $held, $known_from, $known_to, $labels, $node_types, $pool, $quoted_buckets, $quoted_tags, $sources, $speakers, $tags, $unfiltered, $valid_from, $valid_to
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
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH a, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH a
  MATCH (a)-[e:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  WITH DISTINCT a, b
  WITH b, collect([a]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS a
  RETURN b AS i, '1' + a.id AS way
  UNION ALL
  MATCH (a:ConsciousnessNode)
  WHERE a.id IN $from
  WITH a, collect([null]) AS ways
  WITH a, ways, indegree(a, ['LINK', 'PAST_LINK']) + outdegree(a, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (a)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH a, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH a
  MATCH (a)-[e:LINK|PAST_LINK]-(b:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from
  WITH DISTINCT a, b
  WITH b, collect([a]) AS ways
  WITH b, ways, indegree(b, ['LINK', 'PAST_LINK']) + outdegree(b, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (b)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH b, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH b, way[0] AS a
  MATCH (b)-[e:LINK|PAST_LINK]-(c:ConsciousnessNode)
  WHERE e.valid_at + 0 < $valid_to AND e.invalid_at > $valid_from AND e.created_at < $known_to
      AND e.expired_at > $known_from AND c.id <> a.id
  WITH DISTINCT a, c
  WITH c, collect([a]) AS ways
  WITH c, ways, indegree(c, ['LINK', 'PAST_LINK']) + outdegree(c, ['LINK', 'PAST_LINK']) AS ever
  OPTIONAL MATCH (c)-[link:LINK|PAST_LINK]-()
  WHERE ever >= 64 AND link.valid_at + 0 < $valid_to AND link.invalid_at > $valid_from
      AND link.created_at < $known_to AND link.expired_at > $known_from
  WITH c, ways, ever, count(link) AS held
  WHERE ever < 64 OR held < 64
  UNWIND ways AS way
  WITH c, way[0] AS a
  RETURN c AS i, '2' + a.id AS way
  UNION ALL
  MATCH (p:PastVersion)
  WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
      AND p.expired_at > $known_from AND (p.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
      OR (size($node_types) = 0 OR p.node_type IN $node_types)
      AND (size($speakers) = 0 OR p.speaker IN $speakers)
      AND (size($episodes) = 0 OR p.episode_id IN $episodes) AND (size($sources) = 0 OR p.source IN $sources)
      AND p.valid_at >= $began_from AND p.valid_at < $began_to
      AND all(label IN $labels WHERE p[label[0]] CONTAINS label[1])) AND NOT coalesce(p.step,
      '') IN ['Question', 'Courtesy', 'Echo']
      AND (any(t IN $quoted_tags WHERE coalesce(p.tags, '') CONTAINS t)
      OR any(t IN $quoted_buckets WHERE coalesce(p.buckets, '') CONTAINS t))
  WITH p
  ORDER BY p.valid_at DESC, p.id, p.version
  LIMIT $pool
  MATCH (i:ConsciousnessNode)-[:HAD]->(p)
  RETURN i, null AS way
}
WITH i, string.join(collect(DISTINCT way), '|') AS ways
WITH ways, i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH ways, i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH ways, i, m
WHERE (m.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR m.node_type IN $node_types)
    AND (size($speakers) = 0 OR m.speaker IN $speakers)
    AND (size($episodes) = 0 OR m.episode_id IN $episodes) AND (size($sources) = 0 OR m.source IN $sources)
    AND m.valid_at >= $began_from AND m.valid_at < $began_to
    AND all(label IN $labels WHERE m[label[0]] CONTAINS label[1]))
RETURN ways, m.terms, m.id, m.version, m.created_at, m.expired_at,
    CASE WHEN m.passages IS NULL THEN 0 ELSE 1 END
ORDER BY m.id, m.version;

// whole_former
// :params $wanted
UNWIND $wanted AS one
MATCH (n:ConsciousnessNode {id: one[0]})
WITH one, n
MATCH (n)-[:HAD]->(m:PastVersion)
WHERE m.version = one[1]
RETURN m.id, m.node_type, m.name, m.description, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// whole_memories
// :params $ids
MATCH (m:ConsciousnessNode)
WHERE m.id IN $ids
RETURN m.id, m.node_type, m.name, m.description, m.valid_at, m.invalid_at, m.created_at, m.expired_at,
    m.version, m.invalidation_reason, m.closed_reason, m.correction_pattern_id, m.discovery_energy, m.energy,
    m.confidence, m.emotion_vector, m.felt_quality, m.body_sensation, m.goal, m.resolution_state, m.tags,
    m.buckets, m.aliases, m.importance, m.intensity, m.result, m.rule, m.severity, m.abstraction, m.step,
    m.source, m.author, m.shared_from, m.episode_id, m.speaker, m.extra, m.unset;

// word_counts
// :params $words
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found;

// words_of_memories_now
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, i AS m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 1000);

// words_of_memories_then
// :params $ids, $known_from, $known_to, $valid_from, $valid_to
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from AND p.created_at < $known_to
    AND p.expired_at > $known_from
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from
    AND i.created_at < $known_to AND i.expired_at > $known_from THEN [i] ELSE [] END) AS m
WITH i, m
WHERE m.valid_at + 0 < $valid_to AND m.invalid_at > $valid_from AND m.created_at < $known_to
    AND m.expired_at > $known_from
RETURN i.id, m.name, m.speaker, left(coalesce(m.description, ''), 1000);

// work_states
// :params $characters, $ids, $open, $valid_from, $valid_to
UNWIND $ids AS id
MATCH (i:ConsciousnessNode {id: id})
WITH i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.expired_at = $open AND p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from
WITH DISTINCT i, CASE WHEN p IS NULL THEN null ELSE coalesce(p.resolution_state, '') END AS other
RETURN i.id, i.name, i.speaker, left(i.description, $characters), CASE WHEN i.expired_at = $open
    AND i.valid_at + 0 < $valid_to
    AND i.invalid_at > $valid_from THEN coalesce(i.resolution_state, '') ELSE null END, other;

// write_quarantine
// :params $at, $data, $id, $used
MERGE (q:Quarantine {id: $id})
ON CREATE SET q.created_at = $at
SET q.used = $used, q.data = $data
RETURN q.id;

// write_stamp
// :params $dimension, $embedding_model, $likeness, $now, $schema_version
MERGE (m:SubstrateMeta {key: 'stamp'})
ON CREATE SET m.schema_version = $schema_version, m.embedding_model = $embedding_model,
    m.dimension = $dimension, m.created_at = $now, m.likeness = $likeness, m.changes_until = 0,
    m.shifts = timestamp();

// writer_of
// :params $id
MATCH (n:ConsciousnessNode {id: $id})
RETURN n.node_type, n.source, n.speaker;
