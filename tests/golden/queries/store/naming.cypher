// The queries of `substrate.store.naming`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// made_links
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

// named_by_words
CALL db.idx.fulltext.queryNodes('ConsciousnessNode', $words)
YIELD node AS n
WITH n
WHERE n.expired_at = $open AND n.node_type IN $kinds
WITH n
ORDER BY n.id
LIMIT 500
OPTIONAL MATCH (n)-[e:LINK]->(t)
WHERE t.name_key IS NOT NULL AND coalesce(e.formation_trigger, '') <> 'named in the text'
    AND e.expired_at = $open
RETURN DISTINCT n.id, n.name, n.node_type, n.aliases, n.valid_at, n.unset, e.relation_type, n.emotion_vector,
    n.resolution_state, n.energy;

// texts_with
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
