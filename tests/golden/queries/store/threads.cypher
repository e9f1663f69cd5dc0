// The queries of `substrate.store.threads`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// count_open_links
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

// ends_told
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state = 'resolved' AND n.unset CONTAINS 'resolution_state' AND n.created_at > $since
    AND n.expired_at = $open
WITH n
ORDER BY n.created_at DESC, n.id
LIMIT $limit
RETURN n.id, n.name, n.description, n.node_type, n.speaker, n.source, n.episode_id, n.valid_at;

// open_links: count_open_links, but
  LIMIT $scanned
- RETURN count(DISTINCT e.id)
+ WITH i, e, CASE WHEN e.relation_type IN $work THEN 0 ELSE 1 END AS rank
+ ORDER BY rank, e.id
+ LIMIT $limit
+ RETURN i.id, e.id, e.relation_type, startNode(e).id, endNode(e).id

// open_threads
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state IN ['blocked', 'in_progress'] AND n.expired_at = $open AND n.valid_at < $before
    AND n.invalid_at > $before AND n.unset CONTAINS 'resolution_state' AND coalesce(n.speaker, '') = $speaker
WITH n
ORDER BY n.valid_at DESC, n.id
LIMIT $limit
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
RETURN n.id, n.name, n.description, n.valid_at, n.source, vec.cosineDistance(t.embedding, vecf32($embedding));

// open_threads_by_words
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state IN ['blocked', 'in_progress'] AND n.expired_at = $open AND n.valid_at < $before
    AND n.invalid_at > $before AND n.unset CONTAINS 'resolution_state' AND coalesce(n.speaker, '') = $speaker
WITH n
ORDER BY n.valid_at DESC, n.id
LIMIT $limit
RETURN n.id, n.name, n.description, n.valid_at, n.source, null;

// solved_by
MATCH (s:ConsciousnessNode)
WHERE s.id IN $ids AND (s.node_type = 'Turn' OR NOT $turns_alone)
WITH s
MATCH (n:ConsciousnessNode)-[e:LINK|PAST_LINK]->(s)
WHERE e.relation_type = 'RESOLVED_BY' AND n.resolution_state = 'resolved'
    AND n.unset CONTAINS 'resolution_state' AND n.expired_at = $open AND NOT n.id IN $ids
RETURN DISTINCT n.id, s.id, s.source
ORDER BY n.id;

// steps_between
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

// work_states
UNWIND $ids AS id
MATCH (i:ConsciousnessNode {id: id})
WITH i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.expired_at = $open AND p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from
WITH DISTINCT i, CASE WHEN p IS NULL THEN null ELSE coalesce(p.resolution_state, '') END AS other
RETURN i.id, i.name, i.speaker, left(i.description, $characters), CASE WHEN i.expired_at = $open
    AND i.valid_at + 0 < $valid_to
    AND i.invalid_at > $valid_from THEN coalesce(i.resolution_state, '') ELSE null END, other;
