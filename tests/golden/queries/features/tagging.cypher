// The queries of `orchestration.features.tagging.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// add_made_tags
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.id})
WITH r, n
OPTIONAL MATCH (n)-[old:MADE_TAG]->(:Tag {name: r.name})
WITH r, n, old
WHERE old IS NULL
MERGE (g:Tag {name: r.name})
ON CREATE SET g.shown = r.shown
CREATE (n)-[:MADE_TAG {run: $run}]->(g)
RETURN count(n);

// drop_made_tags
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.id})
WITH r, n
MATCH (n)-[g:MADE_TAG]->(t:Tag)
WHERE t.name = r.name
WITH collect(g) AS gone
FOREACH (g IN gone |
  DELETE g
)
RETURN size(gone);

// made_tags_of_run
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND id(n) <= $last
WITH n
MATCH (n)-[g:MADE_TAG]->(t:Tag)
WHERE g.run = $run
RETURN n.id, t.name;

// memories_of_run
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
RETURN max(id(n)), count(n);

// near_for_tags
UNWIND range(0, size($ids) - 1) AS place
WITH $ids[place] AS id, $near[place] AS found
UNWIND found AS one
MATCH (m:ConsciousnessNode {id: one[0]})
WITH id, one, m
WHERE m.id <> id AND <visible m> AND <tells m>
MATCH (m)-[:HAS_TRACE]->(t:Trace)
WHERE coalesce(t.digest, '') = one[1]
RETURN id, m.id, 1.0 - one[2], m.node_type, CASE WHEN m.speaker IS NULL THEN m.name ELSE null END,
    left(m.description, 4000), m.tags, m.unset;

// tag_page
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after
WITH n
LIMIT $rows
OPTIONAL MATCH (n)-[:MADE_TAG]->(g:Tag)
WITH n, collect(g.name) AS made
RETURN id(n), n.id, <visible n> AND <tells n>, n.node_type,
    CASE WHEN n.speaker IS NULL THEN n.name ELSE null END, left(n.description, 4000), n.tags, n.unset, made
ORDER BY id(n);

// word_counts
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 251
  RETURN count(node) AS found
}
RETURN word, found;
