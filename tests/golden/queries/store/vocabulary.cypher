// The queries of `substrate.store.vocabulary`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// held_out
MATCH (s:ConsciousnessNode {id: $id})-[e:LINK]->(t)
WHERE e.relation_type = $kind AND e.expired_at = $open AND e.valid_at < $at AND e.invalid_at > $at
RETURN e.id, t.id, e.version
ORDER BY e.id;

// node_types
MATCH (m:ConsciousnessNode)
WITH m
LIMIT 5000
RETURN m.node_type, count(m) AS held
ORDER BY held DESC, m.node_type
LIMIT 40;

// relation_types
MATCH (:ConsciousnessNode)-[e:LINK]->()
WITH e
LIMIT 5000
RETURN e.relation_type, count(e) AS held
ORDER BY held DESC, e.relation_type
LIMIT 40;
