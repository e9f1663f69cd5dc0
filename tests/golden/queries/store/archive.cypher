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
    upkeep_fence: null, shifts: null, likeness: null, changes_until: null}
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
