// The queries of `substrate.store.listing`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// list_links
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
MATCH (i)-[e:LINK|PAST_LINK]->(j)
WHERE <visible e> AND (id(i) > $first OR e.id > $behind) AND ($kind IS NULL OR e.relation_type = $kind)
    AND ($source IS NULL OR e.source = $source) AND ($key_id IS NULL OR e.key_id = $key_id)
RETURN id(i), i.id, j.id, <link_columns e>
ORDER BY id(i), e.id
LIMIT $limit;

// list_memories
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first AND id(i) <= $last
WITH i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
WITH i, m
WHERE ($kind IS NULL OR m.node_type = $kind) AND ($source IS NULL OR m.source = $source)
    AND ($key_id IS NULL OR m.key_id = $key_id) AND <fits m>
RETURN id(i), <found_columns m>
ORDER BY id(i), m.version
LIMIT $limit;

// list_of_label: list_memories, but
- MATCH (i:ConsciousnessNode)
+ MATCH (t:Tag {name: $label})
+ WITH t
+ MATCH (i:ConsciousnessNode)-[:TAGGED]->(t)

// places
MATCH (i:ConsciousnessNode)
WHERE id(i) >= $first
WITH i
LIMIT $rows
RETURN max(id(i)), count(i);

// places_of_label
MATCH (t:Tag {name: $label})
WITH t
MATCH (i:ConsciousnessNode)-[:TAGGED]->(t)
WHERE id(i) >= $first
WITH i
ORDER BY id(i)
LIMIT $rows
RETURN max(id(i)), count(i);
