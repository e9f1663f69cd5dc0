// The queries of `substrate.store.vocabulary`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// count_episodes
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

// count_sources
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

// held_out
MATCH (s:ConsciousnessNode {id: $id})-[e:LINK]->(t)
WHERE e.relation_type = $kind AND e.expired_at = $open AND e.valid_at < $at AND e.invalid_at > $at
RETURN e.id, t.id, e.version
ORDER BY e.id;

// labels
MATCH (t:Tag)
WITH t.name AS name, indegree(t, 'TAGGED') AS held, indegree(t, 'MADE_TAG') AS made
WHERE held > 0 OR made = 0
RETURN name
ORDER BY held DESC, name
LIMIT 2000;

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
