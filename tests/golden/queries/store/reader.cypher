// The queries of `substrate.store.reader`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// carried_as_written
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
WHERE n.version = 1 AND n.expired_at = $open
RETURN n.id, n.fingerprint, n.valid_at, n.invalid_at;

// count_nodes
CALL db.meta.stats()
YIELD nodeCount, labels
OPTIONAL MATCH (f:Feedback)
WHERE f.held IS NULL
RETURN nodeCount, coalesce(labels.LearningMoment, 0), sum(size(coalesce(f.not_changed, [])));

// existing
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, n.fingerprint;

// felt_at_ends
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, n.emotion_vector, n.resolution_state, n.energy;

// history
MATCH (i:ConsciousnessNode {id: $id})
CALL {
  WITH i
  RETURN i AS n
  UNION ALL
  WITH i
  MATCH (i)-[:HAD]->(n:PastVersion)
  RETURN n
}
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened
ORDER BY n.created_at, n.valid_at;

// known_since
MATCH (n:ConsciousnessNode {id: $id})
WHERE n.expired_at = $open
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.expired_at = $open
RETURN n.version, n.valid_at, min(p.valid_at);

// learned_later
CALL {
  MATCH (m:ConsciousnessNode)
  WHERE m.created_at >= $known_to AND m.expired_at = $open AND m.valid_at < $valid_to
      AND m.invalid_at > $valid_from
  WITH m, CASE WHEN outdegree(m, 'HAD') > 0 THEN m ELSE null END AS former
  OPTIONAL MATCH (former)-[:HAD]->(p)
  WHERE <visible p>
  WITH m, p
  WHERE p IS NULL
  RETURN m.id AS id
  LIMIT 1000
  UNION ALL
  MATCH (m:PastVersion)
  WHERE m.created_at >= $known_to AND m.expired_at = $open AND m.valid_at < $valid_to
      AND m.invalid_at > $valid_from
  WITH m
  MATCH (i:ConsciousnessNode)-[:HAD]->(m)
  <past_of i, m>
  WHERE <visible p>
  WITH m, p
  WHERE p IS NULL
  RETURN m.id AS id
  LIMIT 1000
}
RETURN count(DISTINCT id);

// likeness
<SEEN>
RETURN null AS one, seen[0] AS other, seen[1] AS cosine
UNION ALL
UNWIND $pairs AS pair
MATCH (a:ConsciousnessNode {id: pair[0]})-[:HAS_TRACE]->(t:Trace)
WITH pair, t
MATCH (b:ConsciousnessNode {id: pair[1]})-[:HAS_TRACE]->(u:Trace)
RETURN pair[0] AS one, pair[1] AS other, 1.0 - vec.cosineDistance(t.embedding, u.embedding) AS cosine;

// link_history
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = $id
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
ORDER BY known, held;

// memory
MATCH (n:ConsciousnessNode {id: $id})
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened;

// named_link_history
MATCH (a)-[e:LINK {handle: $handle}]->(b)
WHERE e.id = $id
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
UNION ALL
MATCH (a)-[e:PAST_LINK {handle: $handle}]->(b)
WHERE e.id = $id
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// names_of
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
WITH DISTINCT n
OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, collect(p) AS past
UNWIND ([n] + past) AS r
RETURN n.id, r.name, r.aliases;

// receipts
UNWIND $ids AS id
MATCH (c:Receipt {command_id: id})
RETURN c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told;

// saying
UNWIND $keys AS key
MATCH (n:ConsciousnessNode {text_key: key})
WITH n
WHERE n.expired_at = $open AND n.valid_at <= $now AND n.invalid_at > $now
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened
ORDER BY n.created_at, n.id
LIMIT 1000;

// situation
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.pending_until, 0), coalesce(m.feedback_at, 0), coalesce(m.clock, 0), coalesce(m.shifts, 0),
    coalesce(m.created_at, 0), coalesce(m.generation, 0), m.changes_until
LIMIT 1;

// tag_sizes
MATCH (t:Tag)
WHERE t.name IN $names
RETURN t.name, indegree(t, 'TAGGED')
ORDER BY t.name;
