// The queries of `orchestration.features.memory_tool.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// memory_file_text
MATCH (n:ConsciousnessNode {id: $id})
RETURN coalesce(n.description, '');

// memory_files
MATCH (t:Tag {name: '@memories'})
WITH t
MATCH (n:ConsciousnessNode)-[:TAGGED]->(t)
WHERE n.node_type = 'File' AND <visible n>
RETURN n.name, n.id, coalesce(size(n.description), 0)
ORDER BY n.name;
