// The queries of `substrate.store.upkeep`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// close_record
<CLOCK>
MATCH (n:ConsciousnessNode {id: $id})
WITH m, at, n
LIMIT 1
MATCH (n)-[:HAD]->(p:PastVersion)
WHERE p.version = $version AND p.created_at = $seen AND p.expired_at = $open
WITH m, at, n, p
LIMIT 1
SET n.touched = at, p.expired_at = $replaced_at, p.closed_by = $receipt.command_id,
    p.closed_source = $closed_source, p.closed_key = $key_id
CREATE (c:Receipt {command_id: $receipt.command_id})
SET c += $receipt, c.created_at = at, m.clock = at
RETURN at;

// contents
UNWIND $places AS place
MATCH (n:ConsciousnessNode)
WHERE id(n) = place
RETURN n.id, n.name, toStringOrNull(n.description), toStringOrNull(n.speaker), n.node_type, n.version,
    n.valid_at, n.invalid_at, n.created_at, n.expired_at;

// deep_maps
MATCH (r:ConsciousnessNode)
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 0 AS past, text
UNION ALL
MATCH ()-[r:LINK]->()
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 0 AS past, text
UNION ALL
MATCH (r:PastVersion)
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 1 AS past, text
UNION ALL
MATCH ()-[r:PAST_LINK]->()
UNWIND [CASE WHEN size(split(r.extra, '{')) + size(split(r.extra, '[')) > 34 THEN r.extra ELSE null END,
    CASE WHEN size(split(r.sensory_details, '{')) + size(split(r.sensory_details, '[')) > 34 THEN r.sensory_details ELSE null END] AS text
WITH text
WHERE text IS NOT NULL
RETURN 1 AS past, text;

// link_page
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, id(n), n.expired_at, n.invalid_at, n.invalidation_reason, m.id, id(m), m.expired_at,
    m.invalid_at, m.invalidation_reason, e.energy >= 0.0 AND e.confidence >= 0.0
    AND e.energy_transfer_coefficient >= 0.0, CASE WHEN size(split(e.extra, '{')) + size(split(e.extra,
    '[')) > 34 THEN e.extra ELSE null END, CASE WHEN size(split(e.sensory_details,
    '{')) + size(split(e.sensory_details, '[')) > 34 THEN e.sensory_details ELSE null END, e.id,
    e.relation_type, e.valid_at, e.invalid_at, e.created_at, e.expired_at, e.energy, e.confidence,
    e.emotion_vector, e.goal, e.mindstate, e.energy_transfer_coefficient, e.resolution_state,
    e.formation_trigger, e.felt_quality, e.emotion_description, e.body_sensation, e.spatial_context,
    e.sensory_details, e.source, e.unset;

// memory_page
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace)
RETURN id(n), n.energy >= 0.0 AND n.confidence >= 0.0, typeOf(t.embedding), indegree(n, 'LINK'),
    outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK'), outdegree(n, 'HAD'),
    CASE WHEN size(split(n.extra, '{')) + size(split(n.extra, '[')) > 34 THEN n.extra ELSE null END, n.id,
    n.node_type, n.name, n.speaker, n.version, n.energy, n.confidence, n.emotion_vector, n.goal,
    n.resolution_state, n.unset, n.valid_at, n.invalid_at, n.created_at, n.expired_at,
    left(toStringOrNull(n.description), 2000), left(toStringOrNull(n.felt_quality), 2000),
    left(toStringOrNull(n.body_sensation), 2000)
ORDER BY id(n);

// past_link_page
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:PAST_LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, m.id, e.id, e.valid_at, e.invalid_at, e.created_at, e.expired_at;

// re_embed
<SHIFT>
MATCH (n:ConsciousnessNode {id: $id})
WHERE n.version = $seen AND n.expired_at = $open
WITH n
LIMIT 1
OPTIONAL MATCH (n)-[:HAS_TRACE]->(t:Trace)
WITH n, collect(t) AS traces
FOREACH (_ IN CASE WHEN size(traces) = 0 THEN [1] ELSE [] END |
  CREATE (n)-[:HAS_TRACE]->(:Trace {embedding: vecf32($embedding), emotion: vecf32($emotion),
      digest: $digest})
)
FOREACH (t IN traces |
  SET t.embedding = vecf32($embedding), t.digest = $digest
)
RETURN n.version;

// revise_link
<CLOCK>
MATCH (a:ConsciousnessNode {id: $source_id})
WITH m, at, a
LIMIT 1
MATCH (a)-[e:LINK]->(b)
WHERE b.id = $target_id AND e.id = $id AND e.created_at = $seen AND e.expired_at = $open
WITH m, at, a, b, e
LIMIT 1
OPTIONAL MATCH (a)-[q:PAST_LINK]->(b)
WHERE q.id = $id
WITH m, at, a, b, e, max(coalesce(q.version, 1)) AS before
WITH m, at, a, b, e,
    CASE WHEN before > coalesce(e.version, 1) THEN before ELSE coalesce(e.version, 1) END AS highest
CREATE (a)-[p:PAST_LINK]->(b)
SET p = properties(e)
SET p.expired_at = at, p.closed_by = $receipt.command_id, p.closed_reason = 'discovered_false',
    p.closed_source = $closed_source, p.closed_key = $key_id
FOREACH (change IN $opened |
  CREATE (a)-[k:LINK]->(b)
  SET k = properties(e)
  SET k += change, k.created_at = at, k.version = highest + 1, k.command_id = $receipt.command_id,
      k.key_id = $key_id
)
<NOTE_CHANGES>
CREATE (c:Receipt {command_id: $receipt.command_id})
SET c += $receipt, c.created_at = at, m.clock = at
DELETE e
RETURN at;

// version_page
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, p
SKIP $skip
LIMIT $rows
RETURN n.id, n.version, n.valid_at, n.invalid_at, n.created_at, n.expired_at, p.version, p.valid_at,
    p.invalid_at, p.created_at, p.expired_at;
