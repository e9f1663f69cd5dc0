// The queries of `substrate.store.archive`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// carried_links
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[e:LINK]->(m)
WITH n, e, m
SKIP $skip
LIMIT $rows
RETURN n.id, m.id, properties(e);

// carried_page
MATCH (n)
WHERE id(n) > $after AND NOT ('Tag' IN labels(n) AND n.name STARTS WITH '~')
WITH n
LIMIT $rows
RETURN id(n), labels(n), CASE WHEN any(l IN labels(n) WHERE l IN $beside) THEN null ELSE properties(n) END,
    outdegree(n, 'HAD'), outdegree(n, 'LINK'), outdegree(n, 'PAST_LINK')
ORDER BY id(n);

// carried_past_links: carried_links, but
  WITH n
- MATCH (n)-[e:LINK]->(m)
+ MATCH (n)-[e:PAST_LINK]->(m)

// carried_records
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAD]->(p:PastVersion)
WITH n, p
SKIP $skip
LIMIT $rows
OPTIONAL MATCH (p)-[:HAS_TRACE]->(t)
RETURN id(n), id(p), properties(p), id(t), labels(t), t {.*, embedding: null, emotion: null, digest: null};

// carried_records_whole: carried_records, but
  OPTIONAL MATCH (p)-[:HAS_TRACE]->(t)
- RETURN id(n), id(p), properties(p), id(t), labels(t), t {.*, embedding: null, emotion: null, digest: null}
+ RETURN id(n), id(p), properties(p), id(t), labels(t), properties(t)

// carried_stamp
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m {.*, key: null, generation: null, other_model: null, other_dimension: null, other_state: null,
    upkeep_fence: null, shifts: null, epoch: null, likeness: null, changes_until: null, lately: null}
LIMIT 1;

// carried_tags
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[g:TAGGED]->(t:Tag)
RETURN id(n), t.name, properties(g);

// carried_traces
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), labels(t), t {.*, embedding: null, emotion: null, digest: null};

// carried_traces_whole
MATCH (n:ConsciousnessNode)
WHERE id(n) >= $first AND id(n) < $beyond
WITH n
MATCH (n)-[:HAS_TRACE]->(t)
RETURN id(n), id(t), labels(t), properties(t);

// held
CALL db.meta.stats()
YIELD labels, relTypes
RETURN labels, relTypes;

// put_changes_until
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.changes_until = $changes_until
RETURN count(m);

// put_citizenstate
UNWIND $rows AS r
CREATE (n:CitizenState)
SET n = r.properties
SET n += {emotion_vector: intern(r.properties.emotion_vector), goal: intern(r.properties.goal),
    drives: intern(r.properties.drives), window: intern(r.properties.window),
    focus: intern(r.properties.focus), senses: intern(r.properties.senses),
    writers: intern(r.properties.writers)}
RETURN count(n);

// put_contextnote
UNWIND $rows AS r
CREATE (n:ContextNote)
SET n = r.properties
RETURN count(n);

// put_feedback
UNWIND $rows AS r
CREATE (n:Feedback)
SET n = r.properties
RETURN count(n);

// put_learningmoment
UNWIND $rows AS r
CREATE (n:LearningMoment)
SET n = r.properties
RETURN count(n);

// put_links
UNWIND $rows AS r
MATCH (a:ConsciousnessNode {id: r.source_id})
MATCH (b:ConsciousnessNode {id: r.target_id})
CREATE (a)-[e:LINK]->(b)
SET e = r.properties
SET e += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
RETURN count(e);

// put_memories
UNWIND $rows AS r
CREATE (n:ConsciousnessNode)
SET n = r.properties
SET n += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
FOREACH (v IN r.present |
  CREATE (n)-[:HAS_TRACE]->(t:Trace)
  SET t = v.properties
  SET t += {embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}
)
FOREACH (v IN r.past |
  CREATE (n)-[:HAS_TRACE]->(t:PastTrace)
  SET t = v.properties
  SET t += {embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}
)
FOREACH (g IN r.tags |
  MERGE (x:Tag {name: g.name})
  CREATE (n)-[e:TAGGED]->(x)
  SET e = g.properties
)
RETURN count(n);

// put_past_links: put_links, but
  MATCH (b:ConsciousnessNode {id: r.target_id})
- CREATE (a)-[e:LINK]->(b)
+ CREATE (a)-[e:PAST_LINK]->(b)

// put_paststate: put_citizenstate, but
  UNWIND $rows AS r
- CREATE (n:CitizenState)
+ CREATE (n:PastState)

// put_prediction
UNWIND $rows AS r
CREATE (n:Prediction)
SET n = r.properties
RETURN count(n);

// put_quarantine
UNWIND $rows AS r
CREATE (n:Quarantine)
SET n = r.properties
RETURN count(n);

// put_receipt
UNWIND $rows AS r
CREATE (n:Receipt)
SET n = r.properties
RETURN count(n);

// put_records
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.of})
CREATE (p:PastVersion)<-[:HAD]-(n)
SET p = r.properties
SET p += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
FOREACH (v IN r.past |
  CREATE (p)-[:HAS_TRACE]->(t:PastTrace)
  SET t = v.properties
  SET t += {embedding: vecf32(v.embedding), emotion: vecf32(v.emotion), digest: v.digest}
)
RETURN count(p);

// put_retentionpolicy
UNWIND $rows AS r
CREATE (n:RetentionPolicy)
SET n = r.properties
RETURN count(n);

// put_stamp
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m += $properties
SET m.shifts = timestamp(), m.epoch = 1000 * timestamp(), m.changes_until = null
RETURN count(m);

// put_streamnote
UNWIND $rows AS r
CREATE (n:StreamNote)
SET n = r.properties
RETURN count(n);

// put_tags
UNWIND $rows AS r
CREATE (n:Tag)
SET n = r.properties
RETURN count(n);

// share_traces
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.of})
WITH r, n
MATCH (n)-[:HAD]->(o:PastVersion)-[:HAS_TRACE]->(t:PastTrace)
WHERE o.version = r.shares_trace_of
WITH r, n, t
CREATE (p:PastVersion)<-[:HAD]-(n)
CREATE (p)-[:HAS_TRACE]->(t)
SET p = r.properties
SET p += {author: intern(r.properties.author), closed_key: intern(r.properties.closed_key),
    command_id: intern(r.properties.command_id), episode_id: intern(r.properties.episode_id),
    formation_trigger: intern(r.properties.formation_trigger), goal: intern(r.properties.goal),
    key_id: intern(r.properties.key_id), mindstate: intern(r.properties.mindstate),
    node_type: intern(r.properties.node_type), relation_type: intern(r.properties.relation_type),
    resolution_state: intern(r.properties.resolution_state), severity: intern(r.properties.severity),
    source: intern(r.properties.source), speaker: intern(r.properties.speaker),
    step: intern(r.properties.step), unset: intern(r.properties.unset)}
RETURN count(p);
