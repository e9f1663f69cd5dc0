// The queries of `orchestration.features.withholding.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// drop_held_feedback
MATCH (f:Feedback)
WHERE f.held = $quarantine
WITH collect(f) AS those
FOREACH (f IN those |
  DELETE f
)
RETURN size(those);

// hold_feedback
<CLOCK>
MATCH (f:Feedback)
WHERE f.held IS NULL AND any(x IN f.used + f.wrong WHERE x IN $ids)
WITH m, at, collect(f) AS those
WHERE size(those) > 0
FOREACH (f IN those |
  SET f.held = $quarantine
)
SET m.clock = at, m.feedback_at = at
RETURN size(those);

// kept_page
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN id(n), n.expired_at = $open, n.id, n.name, n.source, n.node_type, n.tags, n.resolution_state,
    n.created_at, n.valid_at
ORDER BY id(n);

// policies
MATCH (p:RetentionPolicy)
RETURN p.id, p.data
ORDER BY p.id;

// quarantine_bare_names
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK]-(m)
WHERE NOT <tells m> OR (m.node_type IN $kinds AND coalesce(m.description, '') = '' AND NOT m.source IN $own)
WITH m, count(e) AS ways
RETURN m.id, ways, indegree(m, 'LINK') + outdegree(m, 'LINK');

// quarantine_general
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (m)-[e:LINK]->(n)
WHERE e.relation_type = 'GENERALISES'
RETURN m.id;

// quarantine_link_suspects
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) <= $last
WITH n
MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE ($source = '' OR e.source = $source OR e.closed_source = $source)
    AND ($key = '' OR e.key_id = $key OR e.closed_key = $key) AND ($episode = '' OR e.episode_id = $episode)
    AND (e.created_at >= $since OR e.expired_at >= $since) AND e.created_at < $until
RETURN DISTINCT e.id;

// quarantine_links_at
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK]-(m)
RETURN DISTINCT e.id;

// quarantine_mentioned
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]->(m)
WHERE e.relation_type = 'MENTIONS' AND m.version > 1
RETURN DISTINCT m.id, e.created_at;

// quarantine_resolved
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (m)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'RESOLVED_BY' AND e.unset IS NOT NULL
RETURN m.id, min(e.created_at);

// quarantine_suspects
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

// release_feedback
<CLOCK>
MATCH (f:Feedback)
WHERE f.held = $quarantine
WITH m, at, collect(f) AS those
WHERE size(those) > 0
FOREACH (f IN those |
  SET f.held = null
)
SET m.clock = at, m.feedback_at = at
RETURN size(those);

// remove_policy
MATCH (p:RetentionPolicy {id: $id})
WITH collect(p) AS gone
FOREACH (p IN gone |
  DELETE p
)
RETURN size(gone);

// set_policy
MERGE (p:RetentionPolicy {id: $id})
SET p.data = $data, p.created_at = $at
RETURN p.id;

// write_quarantine
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.events = coalesce(m.events, 0) + size($told)
FOREACH (x IN $told |
  CREATE (e:Event)
  SET e = x, e.created_at = coalesce(m.clock, 0), e.nth = m.events - x.left
)
WITH m
LIMIT 1
MERGE (q:Quarantine {id: $id})
ON CREATE SET q.created_at = $at
SET q.used = $used, q.data = $data
RETURN q.id;
