// The queries of `substrate.store.records`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// clock
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m.clock
LIMIT 1;

// history_page
MATCH (i:ConsciousnessNode {id: $id})
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.created_at < $known_to
    AND (p.created_at > $known_at OR (p.created_at = $known_at AND p.valid_at > $held_at))
WITH i, collect(p) AS past
UNWIND past + CASE WHEN i.created_at < $known_to AND (i.created_at > $known_at
    OR (i.created_at = $known_at AND i.valid_at > $held_at)) THEN [i] ELSE [] END AS n
WITH n
ORDER BY n.created_at, n.valid_at
LIMIT $limit
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened;

// link_history_page
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
MATCH (a)-[e:LINK|PAST_LINK]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// link_seen
MATCH (a:ConsciousnessNode {id: $source_id})
MATCH (b:ConsciousnessNode {id: $target_id})
WITH a, b
LIMIT 1
OPTIONAL MATCH (a)-[e:LINK]->(b)
WHERE e.id = $id
WITH a, b, collect(e) AS held
WITH a, b, [e IN held WHERE <visible e>] AS now, size(held) AS known
UNWIND [CASE WHEN size(now) > 0 THEN null ELSE a END] AS s
OPTIONAL MATCH (s)-[p:PAST_LINK]->(b)
WHERE p.id = $id
WITH now, known, count(p) AS gone, collect(CASE WHEN <visible p> THEN p ELSE null END) AS past
WITH known + gone AS known, now + past AS seen
WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e
RETURN known, startNode(e).id, endNode(e).id, <link_columns e>, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened;

// memory_seen
MATCH (i:ConsciousnessNode {id: $id})
WITH i, <visible i> AS carried
UNWIND [CASE WHEN carried THEN null ELSE i END] AS j
OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion)
WHERE <visible p>
WITH i, carried, p
ORDER BY p.created_at DESC, p.valid_at DESC
LIMIT 1
WITH CASE WHEN carried THEN i ELSE p END AS n
RETURN <node_columns n>, n.command_id, n.key_id, n.closed_by, n.closed_source, n.closed_key,
    n.known_as_happened;

// named_link_history_page
MATCH (a)-[e:LINK {handle: $handle}]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held
UNION ALL
MATCH (a)-[e:PAST_LINK {handle: $handle}]->(b)
WHERE e.id = $id AND e.created_at < $known_to
    AND (e.created_at > $known_at OR (e.created_at = $known_at AND e.valid_at > $held_at))
WITH a, e, b
ORDER BY e.created_at, e.valid_at
LIMIT $limit
RETURN a.id, b.id, <link_columns e>, e.command_id, e.key_id, e.closed_by, e.closed_source, e.closed_key,
    e.known_as_happened, e.created_at AS known, e.valid_at AS held;

// named_link_seen
OPTIONAL MATCH ()-[e:LINK {handle: $handle}]->()
WHERE e.id = $id
WITH collect(e) AS held
WITH [e IN held WHERE <visible e>] AS now, size(held) AS known
UNWIND [CASE WHEN size(now) > 0 THEN null ELSE $handle END] AS handle
OPTIONAL MATCH ()-[p:PAST_LINK {handle: handle}]->()
WHERE p.id = $id
WITH now, known, count(p) AS gone, collect(CASE WHEN <visible p> THEN p ELSE null END) AS past
WITH known + gone AS known, now + past AS seen
WITH known, CASE WHEN size(seen) > 0 THEN seen[0] ELSE null END AS e
RETURN known, startNode(e).id, endNode(e).id, <link_columns e>, e.command_id, e.key_id, e.closed_by,
    e.closed_source, e.closed_key, e.known_as_happened;

// records_of
MATCH (i:ConsciousnessNode)
WHERE i.id IN $ids
WITH i
WITH i, CASE WHEN outdegree(i, 'HAD') > 0 THEN i ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)
WHERE <visible p>
WITH i, collect(p) AS past
UNWIND (past + CASE WHEN <visible i> THEN [i] ELSE [] END) AS m
WITH i, m
WHERE <felt m> AND <is_evidence m>
WITH i, m, (m.created_at IN $touching OR m.expired_at IN $touching) AS near
ORDER BY near DESC, m.created_at DESC, m.version DESC
WITH i, collect(m) AS records
WITH records[..$most_of_one] AS kept, size(records) AS held
UNWIND range(0, size(kept) - 1) AS place
WITH place, kept[place] AS m, held
ORDER BY place, m.id
LIMIT $most_of_all
RETURN held, <found_columns m>;
