// The queries of `substrate.store.derived`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// consolidation_made_of
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (g:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'GENERALISES' AND g.node_type = 'Generalisation'
RETURN DISTINCT g.id;

// copies_among
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids AND n.shared_from IS NOT NULL
RETURN n.id, n.author, n.shared_from, n.expired_at;

// drop_unused_made_tags
MATCH (t:Tag)
WHERE t.name IN $names AND t.name STARTS
WITH '~' AND indegree(t, 'MADE_TAG') = 0
WITH collect(t) AS gone
FOREACH (t IN gone |
  DELETE t
)
RETURN size(gone);

// forget_made_tags
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

// made_tags_of
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:MADE_TAG]->(t:Tag)
RETURN n.id, t.name, coalesce(t.shown, t.name), indegree(t, 'TAGGED') + indegree(t, 'MADE_TAG')
ORDER BY n.id, t.name;

// sharing_ids_of
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND ($episode = '' OR n.episode_id = $episode)
WITH n
LIMIT $rows
RETURN id(n), n.id;

// tag_carriers
MATCH (t:Tag)
WHERE t.name IN $names
RETURN t.name, indegree(t, 'TAGGED') + indegree(t, 'MADE_TAG');

// told_by
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND past + [n] AS r
RETURN r.name, left(r.description, 4000), r.tags;
