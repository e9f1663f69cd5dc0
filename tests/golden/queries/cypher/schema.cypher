// The queries of `substrate.cypher.schema`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// counts
CALL db.meta.stats()
YIELD labels, relTypes
RETURN labels.ConsciousnessNode, labels.PastVersion, labels.Trace, labels.PastTrace, relTypes.LINK,
    relTypes.PAST_LINK;

// drop_otherpassagetrace_embedding
DROP VECTOR INDEX FOR (n:PassageTraceB) ON (n.embedding);

// drop_otherpasttrace_embedding
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.embedding);

// drop_otherpasttrace_emotion
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.emotion);

// drop_othertrace_embedding
DROP VECTOR INDEX FOR (n:TraceB) ON (n.embedding);

// drop_othertrace_emotion
DROP VECTOR INDEX FOR (n:TraceB) ON (n.emotion);

// fulltext_node
CREATE FULLTEXT INDEX FOR (n:ConsciousnessNode) ON (n.name, n.description, n.search_text, n.entity_names);

// fulltext_passage
CREATE FULLTEXT INDEX FOR (q:Passage) ON (q.text, q.search_text);

// fulltext_past
CREATE FULLTEXT INDEX FOR (n:PastVersion) ON (n.name, n.description, n.search_text, n.entity_names);

// index_change_command
CREATE INDEX FOR (c:UpkeepChange) ON (c.command_id);

// index_change_page
CREATE INDEX FOR (c:UpkeepChange) ON (c.page);

// index_change_target
CREATE INDEX FOR (c:UpkeepChange) ON (c.target);

// index_context_command
CREATE INDEX FOR (c:ContextNote) ON (c.command_id);

// index_context_memory
CREATE INDEX FOR (c:ContextNote) ON (c.memory_id);

// index_event_created
CREATE INDEX FOR (e:Event) ON (e.created_at);

// index_link_handle
CREATE INDEX FOR ()-[e:LINK]-() ON (e.handle);

// index_node_begun
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.valid_at);

// index_node_emotions
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.emotions);

// index_node_id
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.id);

// index_node_name
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.name_key);

// index_node_rule
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.rule);

// index_node_state
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state);

// index_node_text
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key);

// index_note_at
CREATE INDEX FOR (s:StreamNote) ON (s.at);

// index_note_id
CREATE INDEX FOR (s:StreamNote) ON (s.id);

// index_passage_handle
CREATE INDEX FOR (q:Passage) ON (q.handle);

// index_passage_memory
CREATE INDEX FOR (q:Passage) ON (q.memory_id);

// index_past_begun
CREATE INDEX FOR (n:PastVersion) ON (n.valid_at);

// index_past_emotions
CREATE INDEX FOR (n:PastVersion) ON (n.emotions);

// index_past_id
CREATE INDEX FOR (n:PastVersion) ON (n.id);

// index_past_link_handle
CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle);

// index_past_name
CREATE INDEX FOR (n:PastVersion) ON (n.name_key);

// index_past_rule
CREATE INDEX FOR (n:PastVersion) ON (n.rule);

// index_past_state
CREATE INDEX FOR (n:PastVersion) ON (n.resolution_state);

// index_receipt_command
CREATE INDEX FOR (n:Receipt) ON (n.command_id);

// index_receipt_created
CREATE INDEX FOR (n:Receipt) ON (n.created_at);

// index_receipt_moved
CREATE INDEX FOR (n:Receipt) ON (n.moved_at);

// index_state_begun
CREATE INDEX FOR (s:PastState) ON (s.valid_at);

// index_state_cell
CREATE INDEX FOR (s:PastState) ON (s.cell);

// index_state_version
CREATE INDEX FOR (s:PastState) ON (s.version);

// index_tag_name
CREATE INDEX FOR (n:Tag) ON (n.name);

// read_stamp
MATCH (m:SubstrateMeta)
RETURN m.schema_version, m.embedding_model, m.dimension, m.created_at, coalesce(m.generation, 0),
    m.other_model, m.other_dimension, m.other_state, coalesce(m.likeness, 'index'),
    coalesce(m.pending_until, 0), coalesce(m.feedback_at, 0), coalesce(m.clock, 0), coalesce(m.shifts, 0),
    m.changes_until
LIMIT 1;

// rest_index
CREATE INDEX FOR (n:Rest) ON (n.id);

// unready
CALL db.indexes()
YIELD label, status
WITH label, status
WHERE status <> 'OPERATIONAL'
RETURN label, status
UNION ALL
CALL db.constraints()
YIELD label, status
WITH label, status
WHERE status <> 'OPERATIONAL'
RETURN label, status;

// vector_otherpassagetrace_embedding
CREATE VECTOR INDEX FOR (n:PassageTraceB) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_otherpasttrace_embedding
CREATE VECTOR INDEX FOR (n:PastTraceB) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_othertrace_embedding
CREATE VECTOR INDEX FOR (n:TraceB) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_passagetrace_embedding
CREATE VECTOR INDEX FOR (n:PassageTrace) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_pasttrace_embedding
CREATE VECTOR INDEX FOR (n:PastTrace) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// vector_trace_embedding
CREATE VECTOR INDEX FOR (n:Trace) ON (n.embedding)
OPTIONS {dimension: 384, similarityFunction: 'cosine', M: 16, efConstruction: 200, efRuntime: 100};

// write_stamp
MERGE (m:SubstrateMeta {key: 'stamp'})
ON CREATE SET m.schema_version = $schema_version, m.embedding_model = $embedding_model,
    m.dimension = $dimension, m.created_at = $now, m.likeness = $likeness, m.changes_until = 0,
    m.shifts = timestamp();
