// The queries of `orchestration.features.sharing.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// contested
MATCH (t:ConsciousnessNode)
WHERE id(t) > $after
WITH t
LIMIT $rows
OPTIONAL MATCH (t)<-[e:LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND <visible e> AND <visible s> AND <visible t>
WITH id(t) AS place, t, count(e) AS held
ORDER BY place
WITH max(place) AS last, collect(CASE WHEN held > 0 THEN t END) AS found
UNWIND CASE WHEN size(found) = 0 THEN [null] ELSE found END AS t
RETURN last, id(t), t.id, t.name, t.speaker, left(t.description, $characters), t.author;

// contests_now
MATCH (t:ConsciousnessNode)
WHERE t.id IN $ids
WITH t
MATCH (t)<-[e:LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND <visible e> AND <visible s>
RETURN t.id, e.author, left(coalesce(e.formation_trigger, s.description, s.name), $characters), s.id, e.id,
    e.valid_at
ORDER BY e.valid_at, e.id
LIMIT $contests;

// contests_then
MATCH (t:ConsciousnessNode)
WHERE t.id IN $ids
WITH t
MATCH (t)<-[e:LINK|PAST_LINK]-(s:ConsciousnessNode)
WHERE e.relation_type = 'CONTESTS' AND <visible e>
OPTIONAL MATCH (s)-[:HAD]->(p:PastVersion)
WHERE <visible p>
WITH t, e, s, count(p) AS past
WHERE past > 0 OR <visible s>
RETURN t.id, e.author, left(coalesce(e.formation_trigger, s.description, s.name), $characters), s.id, e.id,
    e.valid_at
ORDER BY e.valid_at, e.id
LIMIT $contests;

// shared_links_at
MATCH (n:ConsciousnessNode {id: $id})-[e:LINK]-(m:ConsciousnessNode)
WHERE <visible e> AND <visible m>
WITH DISTINCT e
ORDER BY e.energy * e.confidence DESC, e.id
LIMIT $links
RETURN startNode(e).id, endNode(e).id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source,
    e.closed_key, e.known_as_happened;
