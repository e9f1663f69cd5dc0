// The queries of `substrate.store.work_links`, as they are sent for a graph of the first generation of vectors.
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

// open_links: count_open_links, but
  LIMIT $scanned
- RETURN count(DISTINCT e.id)
+ WITH i, e, CASE WHEN e.relation_type IN $work THEN 0 ELSE 1 END AS rank
+ ORDER BY rank, e.id
+ LIMIT $limit
+ RETURN i.id, e.id, e.relation_type, startNode(e).id, endNode(e).id

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
