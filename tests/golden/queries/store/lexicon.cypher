// The queries of `substrate.store.lexicon`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// lexicon_now
<SEEN>
RETURN 'seen' AS kind, seen[0] AS key, seen[1] AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, null AS via
UNION ALL
UNWIND $sized AS one
CALL {
  MATCH (g:ConsciousnessNode {text_key: 0})
  RETURN count(g) AS made
}
CALL db.meta.stats()
YIELD labels
UNWIND [['memories', labels.ConsciousnessNode - made], ['traces', labels.Trace - made],
    ['past_traces', labels.PastTrace], ['past_versions', labels.PastVersion],
    ['passages', labels.Passage]] AS size
RETURN 'size' AS kind, size[0] AS key, size[1] AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, null AS via
UNION ALL
UNWIND $words AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
MATCH (node:ConsciousnessNode)
WHERE node.name_key IN $phrases
WITH node
LIMIT 64
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, null AS via
UNION ALL
UNWIND $sounds AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;

// lexicon_now_alone
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $sounds[0..1] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[1..2] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[2..3] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[3..4] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[4..5] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[5..6] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[6..7] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[7..8] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;

// lexicon_then: lexicon_now, but
      node.node_type AS node_type, node.unset AS unset, sound AS via
+ UNION ALL
+ UNWIND $words AS word
+ CALL {
+   WITH word
+   CALL db.idx.fulltext.queryNodes('PastVersion', word)
+   YIELD node
+   WITH node
+   LIMIT 250
+   RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
+       count(node) AS looked_at
+ }
+ RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
+     null AS unset, looked_at AS via
+ UNION ALL
+ MATCH (node:PastVersion)
+ WHERE node.name_key IN $phrases
+ WITH node
+ LIMIT 64
+ RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
+     node.node_type AS node_type, node.unset AS unset, null AS via
+ UNION ALL
+ UNWIND $sounds AS sound
+ CALL {
+   WITH sound
+   CALL db.idx.fulltext.queryNodes('PastVersion', sound)
+   YIELD node
+   RETURN node
+   LIMIT 8
+ }
+ RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
+     node.node_type AS node_type, node.unset AS unset, sound AS via

// lexicon_then_alone
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $sounds[0..1] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[1..2] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[2..3] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[3..4] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[4..5] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[5..6] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[6..7] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[7..8] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('ConsciousnessNode', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $words[0..1] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[1..2] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[2..3] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[3..4] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[4..5] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[5..6] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[6..7] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $words[7..8] AS word
CALL {
  WITH word
  CALL db.idx.fulltext.queryNodes('PastVersion', word)
  YIELD node
  WITH node
  LIMIT 250
  RETURN count(CASE WHEN node.node_type <> 'Generalisation' AND <is_statement node> THEN 1 END) AS found,
      count(node) AS looked_at
}
RETURN 'past_word' AS kind, word AS key, found AS amount, null AS name, null AS aliases, null AS node_type,
    null AS unset, looked_at AS via
UNION ALL
UNWIND $sounds[0..1] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[1..2] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[2..3] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[3..4] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[4..5] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[5..6] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[6..7] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via
UNION ALL
UNWIND $sounds[7..8] AS sound
CALL {
  WITH sound
  CALL db.idx.fulltext.queryNodes('PastVersion', sound)
  YIELD node
  RETURN node
  LIMIT 8
}
RETURN 'name' AS kind, node.id AS key, null AS amount, node.name AS name, node.aliases AS aliases,
    node.node_type AS node_type, node.unset AS unset, sound AS via;
