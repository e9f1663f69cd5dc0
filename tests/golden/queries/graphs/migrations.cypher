// The queries of `substrate.graphs.migrations`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// clock_of_links
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH m, n
LIMIT $rows
OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->()
WITH m, max(id(n)) AS last,
    max(CASE WHEN e.expired_at = $open THEN e.created_at ELSE e.expired_at END) AS latest
SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END
RETURN last;

// clock_of_memories: clock_of_links, but
  LIMIT $rows
- OPTIONAL MATCH (n)-[e:LINK|PAST_LINK]->()
  WITH m, max(id(n)) AS last,
-     max(CASE WHEN e.expired_at = $open THEN e.created_at ELSE e.expired_at END) AS latest
+     max(CASE WHEN n.expired_at = $open THEN n.created_at ELSE n.expired_at END) AS latest

// clock_of_versions
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (n:PastVersion)
WHERE id(n) > $after
WITH m, n
LIMIT $rows
WITH m, max(id(n)) AS last,
    max(CASE WHEN n.expired_at = $open THEN n.created_at ELSE n.expired_at END) AS latest
SET m.clock = CASE WHEN coalesce(latest, 0) > coalesce(m.clock, 0) THEN latest ELSE m.clock END
RETURN last;

// drop_vector_otherpassagetrace_embedding
DROP VECTOR INDEX FOR (n:PassageTraceB) ON (n.embedding);

// drop_vector_otherpassagetrace_emotion
DROP VECTOR INDEX FOR (n:PassageTraceB) ON (n.emotion);

// drop_vector_otherpasttrace_embedding
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.embedding);

// drop_vector_otherpasttrace_emotion
DROP VECTOR INDEX FOR (n:PastTraceB) ON (n.emotion);

// drop_vector_othertrace_embedding
DROP VECTOR INDEX FOR (n:TraceB) ON (n.embedding);

// drop_vector_othertrace_emotion
DROP VECTOR INDEX FOR (n:TraceB) ON (n.emotion);

// drop_vector_passagetrace_embedding
DROP VECTOR INDEX FOR (n:PassageTrace) ON (n.embedding);

// drop_vector_passagetrace_emotion
DROP VECTOR INDEX FOR (n:PassageTrace) ON (n.emotion);

// drop_vector_pasttrace_embedding
DROP VECTOR INDEX FOR (n:PastTrace) ON (n.embedding);

// drop_vector_pasttrace_emotion
DROP VECTOR INDEX FOR (n:PastTrace) ON (n.emotion);

// drop_vector_trace_embedding
DROP VECTOR INDEX FOR (n:Trace) ON (n.embedding);

// drop_vector_trace_emotion
DROP VECTOR INDEX FOR (n:Trace) ON (n.emotion);

// first_state
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
MATCH (s:CitizenState)
WHERE id(s) > $after AND s.version IS NULL
WITH m, s, coalesce(s.updated_at, m.created_at) AS told
LIMIT $rows
SET s.version = 1, s.valid_at = told, s.invalid_at = $open, s.created_at = told, s.expired_at = $open,
    s.key = null, s.updated_at = null,
    m.clock = CASE WHEN told > coalesce(m.clock, 0) THEN told ELSE m.clock END
RETURN id(s);

// index_context_note_command
CREATE INDEX FOR (c:ContextNote) ON (c.command_id);

// index_context_note_memory
CREATE INDEX FOR (c:ContextNote) ON (c.memory_id);

// index_emotions
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.emotions);

// index_past_link
CREATE INDEX FOR ()-[e:PAST_LINK]-() ON (e.handle);

// index_receipt
CREATE INDEX FOR (n:Receipt) ON (n.command_id);

// index_rule
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.rule);

// index_state
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.resolution_state);

// index_stream_note_at
CREATE INDEX FOR (s:StreamNote) ON (s.at);

// index_stream_note_id
CREATE INDEX FOR (s:StreamNote) ON (s.id);

// index_text
CREATE INDEX FOR (n:ConsciousnessNode) ON (n.text_key);

// set_sets
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.likeness = 'sets'
RETURN m.likeness;

// set_version
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE m.schema_version = $number - 1
SET m.schema_version = $number
RETURN m.schema_version;
