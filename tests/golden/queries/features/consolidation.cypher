// The queries of `orchestration.features.consolidation.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// consolidation_contents
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
WHERE n.expired_at = 9007199254740991 AND <tells n>
RETURN <found_columns n>;

// consolidation_holders
MATCH (o:ConsciousnessNode)
WHERE o.id IN $ids
WITH o
MATCH (n:ConsciousnessNode)-[e:LINK]-(o)
WHERE e.expired_at = 9007199254740991 AND n.expired_at = 9007199254740991
WITH DISTINCT n
LIMIT 2000
RETURN n.id;

// consolidation_made
MATCH (g:ConsciousnessNode)
WHERE g.id IN $ids
WITH g
MATCH (g)-[e:LINK|PAST_LINK]->(n)
WHERE e.relation_type = 'GENERALISES'
RETURN g.id, g.expired_at = 9007199254740991, g.version, g.invalid_at, g.created_at, g.extra, n.id,
    n.expired_at = 9007199254740991, type(e) = 'LINK' AND e.expired_at = 9007199254740991;

// consolidation_node_names
MATCH (o:ConsciousnessNode)
WHERE o.id IN $ids
RETURN o.id, o.name, o.name_key, indegree(o, 'LINK') + outdegree(o, 'LINK');

// consolidation_nodes
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
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN id(n), n.id, n.expired_at = 9007199254740991, toLower(n.node_type) IN $kinds,
    indegree(n, 'LINK') + outdegree(n, 'LINK')
ORDER BY id(n);

// consolidation_same_words
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
