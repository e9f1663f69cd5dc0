// The queries of `substrate.store.notes`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// episode_turns
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND n.episode_id IN $episodes
WITH n
LIMIT $rows
RETURN id(n), n.episode_id, n.id, n.node_type, n.name, n.speaker, n.description, n.valid_at, n.invalid_at,
    n.expired_at, coalesce(n.version, 1), n.fingerprint, n.extra;

// note_links
UNWIND $ids AS id
MATCH (a:ConsciousnessNode {id: id})
WITH a
MATCH (a)-[e:LINK]->(b)
WHERE e.relation_type IN ['PART_OF', 'NEXT', 'MENTIONS'] AND e.source = 'ingestion'
RETURN e.id, a.id, e.relation_type, b.id, e.valid_at, e.invalid_at;

// notes
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND n.node_type IN ['Document', 'Note'] AND n.episode_id IS NOT NULL
WITH n
LIMIT $rows
RETURN id(n), n.id, n.node_type, n.name, n.description, n.tags, n.buckets, n.aliases, n.valid_at,
    n.invalid_at, n.expired_at, coalesce(n.version, 1), n.source, coalesce(n.episode_id, ''), n.extra,
    n.unset, n.resolution_state;

// rows_of_table
UNWIND $ids AS id
MATCH (n:ConsciousnessNode {id: id})
RETURN id(n), n.id, n.node_type, n.name, n.description, n.tags, n.buckets, n.aliases, n.valid_at,
    n.invalid_at, n.expired_at, coalesce(n.version, 1), n.source, coalesce(n.episode_id, ''), n.extra,
    n.unset, n.resolution_state;
