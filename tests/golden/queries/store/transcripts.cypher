// The queries of `substrate.store.transcripts`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// episode_turns
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND n.episode_id IN $episodes
WITH n
LIMIT $rows
RETURN id(n), n.episode_id, n.id, n.node_type, n.name, n.speaker, n.description, n.valid_at, n.invalid_at,
    n.expired_at, coalesce(n.version, 1), n.fingerprint, n.extra;

// turn_states
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN n.id, coalesce(n.version, 1), n.expired_at;
