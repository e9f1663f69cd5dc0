// The queries of `substrate.store.kept`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// erase_deeds_of
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[:LINK|PAST_LINK]->(a:ConsciousnessNode)
WHERE a.name_key IS NOT NULL
WITH DISTINCT a
MATCH (a)-[e:LINK|PAST_LINK]-()
WHERE e.episode_id IN $ids AND e.formation_trigger = $trigger
WITH a, e
LIMIT $rows
RETURN DISTINCT e.id, a.id;

// erase_links
<SHIFT>
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH n
MATCH (n)-[e:LINK|PAST_LINK]-(m)
WHERE e.id IN $links
WITH DISTINCT e
WITH collect(e) AS gone
WITH gone, size([e IN gone WHERE type(e) = 'LINK']) AS open
FOREACH (e IN gone |
  DELETE e
)
RETURN open, size(gone) - open;

// erase_receipts
MATCH (c:Receipt)
WHERE c.id IN $ids OR c.command_id IN $commands
WITH collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
WITH size(gone) AS gone
OPTIONAL MATCH (t:Receipt)
WHERE t.told_of IS NOT NULL AND any(id IN t.told_of WHERE id IN $ids)
WITH gone, collect(t) AS naming
FOREACH (t IN naming |
  SET t.told = null, t.told_of = null
)
RETURN gone;

// forget_events
MATCH (e:Event)
WHERE e.id IN $ids OR e.of IN $ids
DELETE e
RETURN count(e);
