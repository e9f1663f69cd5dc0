// The queries of `substrate.store.found_records`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// found_former
UNWIND $wanted AS one
MATCH (n:ConsciousnessNode {id: one[0]})
WITH one, n
MATCH (n)-[:HAD]->(m:PastVersion)
WHERE m.version = one[1]
RETURN <found_columns m>;

// found_links
UNWIND $wanted AS one
MATCH (a:ConsciousnessNode {id: one[0]})
MATCH (b:ConsciousnessNode {id: one[1]})
WITH one, a, b
MATCH (a)-[e:LINK]->(b)
WHERE e.id = one[2]
RETURN <link_columns e>;

// found_memories
MATCH (m:ConsciousnessNode)
WHERE m.id IN $ids
RETURN <found_columns m>;

// whole_former: found_former, but
  WHERE m.version = one[1]
- RETURN <found_columns m>
+ RETURN <node_columns m>

// whole_memories
MATCH (m:ConsciousnessNode)
WHERE m.id IN $ids
RETURN <node_columns m>;
