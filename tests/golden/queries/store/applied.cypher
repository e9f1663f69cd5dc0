// The queries of `substrate.store.applied`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// applied
MATCH (c:Receipt)
WHERE c.created_at >= $since AND c.created_at <= $until AND c.moved_at IS NULL AND c.repeats IS NULL
    AND c.command <> 'place'
WITH c
LIMIT $rows
RETURN c.created_at AS at, coalesce(c.nth, 0) AS nth, c.command_id, c.command, c.id, c.version, c.valid_at,
    c.invalid_at, c.type, c.of, c.told_at, 1 AS part
UNION ALL
MATCH (c:Receipt)
WHERE c.moved_at >= $since AND c.moved_at <= $until
WITH c
LIMIT $rows
RETURN c.moved_at AS at, 0 AS nth, c.command_id, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.type,
    c.of, c.told_at, coalesce(c.parts, 1) AS part
UNION ALL
MATCH (c:Event)
WHERE c.created_at >= $since AND c.created_at <= $until
WITH c
LIMIT $rows
RETURN c.created_at AS at, 1048576 + c.nth AS nth, c.command_id, c.command, c.id, c.version, c.valid_at,
    c.invalid_at, c.type, c.of, c.told_at, 1 AS part;

// changed_records
UNWIND $wanted AS w
MATCH (i:ConsciousnessNode {id: w.id})
WITH w, i, CASE WHEN i.version = w.version THEN null ELSE i END AS former
OPTIONAL MATCH (former)-[:HAD]->(p:PastVersion)
WHERE p.version = w.version
WITH w, CASE WHEN p IS NULL THEN i ELSE p END AS n
RETURN n.id, w.version, n.node_type, n.name, n.source, n.author, n.closed_by, n.closed_source;

// feed_state
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.epoch, m.created_at, 0), coalesce(m.clock, 0), coalesce(m.erased_at, 0),
    coalesce(m.events, 0);
