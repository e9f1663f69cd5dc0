// The queries of `orchestration.features.contexts.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// agent_logs
MATCH (c:ContextNote)
WHERE c.notes > 0 AND ($id IS NULL OR c.memory_id = $id)
    AND (c.created_at < $before OR (c.created_at = $before AND c.memory_id > $behind))
WITH c
ORDER BY c.created_at DESC, c.memory_id
LIMIT $limit
RETURN c.memory_id, c.created_at, c.digest, c.receipt, c.log, c.edges, c.ends;

// context_note_of_command
MATCH (c:ContextNote)
WHERE c.command_id = $command
RETURN c.memory_id, c.created_at, c.digest, c.receipt, c.log, c.edges, c.ends
LIMIT 1;

// context_notes_of
MATCH (c:ContextNote)
WHERE c.memory_id IN $ids
RETURN c.memory_id, c.created_at, c.digest, c.receipt, c.log, c.edges, c.ends;

// forget_context_notes
MATCH (c:ContextNote)
WHERE c.memory_id IN $ids
WITH collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
RETURN size(gone);

// note_context
MATCH (n:ConsciousnessNode {id: $record.memory_id})
WITH n
LIMIT 1
MERGE (c:ContextNote {memory_id: $record.memory_id})
ON CREATE SET c = $record
RETURN c.memory_id;
