// The queries of `orchestration.features.mirror.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// mirror_keys
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
WITH i, <visible i> AS carried
UNWIND [CASE WHEN carried THEN null ELSE i END] AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE <visible p>
WITH CASE WHEN carried THEN i ELSE p END AS m
WITH m
WHERE m IS NOT NULL
RETURN m.id, m.version, m.created_at, m.valid_at, m.invalid_at, m.node_type, m.name, m.speaker, m.tags,
    m.buckets, m.source, m.episode_id, m.unset, left(toStringOrNull(m.description), 200), size(m.description),
    CASE WHEN m.extra CONTAINS '"path"' THEN m.extra ELSE null END;

// mirror_links
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[e:LINK|PAST_LINK]->(j)
WHERE <visible e>
WITH i, e, j
SKIP $skip
LIMIT $rows
RETURN i.id, j.id, e.relation_type;

// mirror_made_tags
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[:MADE_TAG]->(g:Tag)
RETURN i.id, coalesce(g.shown, g.name)
ORDER BY i.id, g.name;

// mirror_next_change
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
WITH i
WHERE i.expired_at = $open
UNWIND [i.valid_at, i.invalid_at] AS at
WITH at
WHERE at > $now AND at < $open
RETURN min(at);

// mirror_next_past_change
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.expired_at = $open
UNWIND [p.valid_at, p.invalid_at] AS at
WITH at
WHERE at > $now AND at < $open
RETURN min(at);

// mirror_records
UNWIND $ids AS id
MATCH (i:ConsciousnessNode {id: id})
WITH i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
WITH i, m
RETURN <node_columns m>;
