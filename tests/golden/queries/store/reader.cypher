// The queries of `substrate.store.reader`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// clock
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m.clock
LIMIT 1;

// count_nodes
CALL db.meta.stats()
YIELD nodeCount, labels
OPTIONAL MATCH (f:Feedback)
WHERE f.held IS NULL
RETURN nodeCount, coalesce(labels.LearningMoment, 0), sum(size(coalesce(f.not_changed, [])));

// embeddings
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:HAS_TRACE]->(t:Trace)
WHERE t.embedding IS NOT NULL
RETURN n.id, t.embedding
ORDER BY n.id;

// existing
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, n.fingerprint, coalesce(n.version, 1), n.valid_at, n.invalid_at, n.expired_at;

// felt_at_ends
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, n.emotion_vector, n.resolution_state, n.energy;

// history_page
MATCH (i:ConsciousnessNode {id: $id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to
    AND (p.created_at > $known_at OR (p.created_at = $known_at AND p.valid_at > $held_at))
WITH i, collect(p) AS past
UNWIND past + CASE WHEN i.created_at < $known_to AND (i.created_at > $known_at
    OR (i.created_at = $known_at AND i.valid_at > $held_at)) THEN [i] ELSE [] END AS n
WITH n
ORDER BY n.created_at, n.valid_at
LIMIT $limit
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened;

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

// link_history_page
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// link_seen
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
OPTIONAL MATCH (a)-[e:LINK]->(b)
WHERE e.id = $id
WITH a, b, collect(e) AS held
WITH a, b, [e IN held WHERE <visible e>] AS now, size(held) AS known
UNWIND [CASE WHEN size(now) > 0 THEN null ELSE a END] AS s
OPTIONAL MATCH (s)-[p:PAST_LINK]->(b)
WHERE p.id = $id
WITH now, known, count(p) AS gone, collect(CASE WHEN <visible p> THEN p ELSE null END) AS past
WITH known + gone AS known, now + past AS seen
WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e
RETURN known, startNode(e).id, endNode(e).id, <link_columns e>, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened;

// memory
MATCH (n:ConsciousnessNode {id: $id})
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened;

// memory_seen
MATCH (i:ConsciousnessNode {id: $id})
WITH i, <visible i> AS carried
UNWIND [CASE WHEN carried THEN null ELSE i END] AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE <visible p>
WITH i, carried, p
ORDER BY p.created_at DESC, p.valid_at DESC
LIMIT 1
WITH CASE WHEN carried THEN i ELSE p END AS n
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened;

// named_link_history_page
MATCH (a)-[e:LINK {handle: $handle}]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
UNION ALL
MATCH (a)-[e:PAST_LINK {handle: $handle}]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// named_link_seen
OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->()
WHERE e.id = $id
WITH collect(e) AS held
WITH [e IN held WHERE <visible e>] AS now, size(held) AS known
UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle
OPTIONAL MATCH ()-[p:PAST_LINK {handle: handle}]->()
WHERE p.id = $id
WITH now, known, count(p) AS gone, collect(CASE WHEN <visible p> THEN p ELSE null END) AS past
WITH known + gone AS known, now + past AS seen
WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e
RETURN known, startNode(e).id, endNode(e).id, <link_columns e>, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened;

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

// records_of
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
WITH i, m
WHERE <felt m> AND <is_evidence m>
WITH i, m, (m.created_at IN $touching OR m.expired_at IN $touching) AS near
ORDER BY near DESC, m.created_at DESC, m.version DESC
WITH i, collect(m) AS records
WITH records[..$most_of_one] AS kept, size(records) AS held
UNWIND range(0, size(kept) - 1) AS place
WITH place, kept[place] AS m, held
ORDER BY place, m.id
LIMIT $most_of_all
RETURN held, <found_columns m>;

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
