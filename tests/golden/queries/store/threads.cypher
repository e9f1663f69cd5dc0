// The queries of `substrate.store.threads`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// ends_told
MATCH (n:ConsciousnessNode)
WHERE n.resolution_state = 'resolved' AND n.unset CONTAINS 'resolution_state' AND n.created_at > $since
    AND n.expired_at = $open
WITH n
ORDER BY n.created_at DESC, n.id
LIMIT $limit
RETURN n.id, n.name, n.description, n.node_type, n.speaker, n.source, n.episode_id, n.valid_at;

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
