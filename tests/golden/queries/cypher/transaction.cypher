// The queries of `substrate.cypher.transaction`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// transaction
<CLOCK>
WITH m, at, at - $at AS later
OPTIONAL MATCH (c:Receipt)
WHERE c.command_id IN $commands
WITH m, at, later, count(c) AS applied
OPTIONAL MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH m, at, later, applied, collect(n) AS found
WITH m, at, later, applied, [n IN found | [n.id, n.version,
    coalesce(n.touched, CASE WHEN n.expired_at = $open THEN n.created_at ELSE n.expired_at END)]] AS found
WITH m, at, later
WHERE applied = 0 AND size(found) = size($seen) AND all(one IN $seen WHERE one IN found)
CALL {
  UNWIND $held AS l
  MATCH (a:ConsciousnessNode {id: l.source_id})
  MATCH (b:ConsciousnessNode {id: l.target_id})
  WITH l, a, b
  OPTIONAL MATCH (a)-[e:LINK]->(b)
  WHERE e.id = l.id
  WITH l, a, b, collect(e) AS carried
  OPTIONAL MATCH (a)-[h:PAST_LINK]->(b)
  WHERE h.id = l.id
  WITH l, carried, collect(h) AS past
  WITH l, size(past) AS held, size([h IN past WHERE h.expired_at = $open]) AS still,
      [e IN carried | coalesce(e.version, 1)] AS versions
  WHERE versions = l.carried AND held = l.past AND still = l.still
  RETURN count(l) AS same
}
WITH m, at, later
WHERE same = size($held)
CALL {
  UNWIND $handles AS handle
  MATCH ()-[e:LINK {handle: handle}]->()
  RETURN count(e) AS taken
}
CALL {
  UNWIND $handles AS handle
  MATCH ()-[e:PAST_LINK {handle: handle}]->()
  RETURN count(e) AS former
}
WITH m, at, later
WHERE taken + former = 0
FOREACH (r IN $new |
  CREATE (n:ConsciousnessNode)-[:HAS_TRACE]->(t:Trace)
  SET n = r.content
  SET n += {node_type: intern(r.content.node_type), goal: intern(r.content.goal),
      resolution_state: intern(r.content.resolution_state), severity: intern(r.content.severity),
      step: intern(r.content.step), source: intern(r.content.source), author: intern(r.content.author),
      episode_id: intern(r.content.episode_id), speaker: intern(r.content.speaker),
      unset: intern(r.content.unset)}
  SET n += r.marks, n.created_at = CASE WHEN r.marks.created_at < $at
      OR r.marks.created_at = $open THEN r.marks.created_at ELSE r.marks.created_at + later END,
      n.expired_at = CASE WHEN r.marks.expired_at < $at
      OR r.marks.expired_at = $open THEN r.marks.expired_at ELSE r.marks.expired_at + later END
  SET t += CASE WHEN r.embedding IS NULL THEN {} ELSE {embedding: vecf32(r.embedding), digest: r.digest} END
  SET t.emotion = vecf32(r.emotion)
)
WITH m, at, later
CALL {
  WITH later
  UNWIND $past AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH later, r, n
  OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
  WITH later, r, n, CASE WHEN r.of = n.version THEN [n] ELSE [] END AS now, collect(t) AS nows
  OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion)
  WHERE s.version = r.of
  OPTIONAL MATCH (s)-[:HAS_TRACE]->(st)
  WITH later, r, n, now, nows, collect(s) AS before, collect(st) AS befores
  WITH later, r, n, now + before AS bases, CASE WHEN size(now) = 1 THEN nows ELSE befores END AS traces
  CREATE (p:PastTrace)
  SET p = CASE WHEN r.of = 0 OR size(traces) = 0 THEN {} ELSE properties(traces[0]) END
  SET p += CASE WHEN r.embedding IS NULL THEN {} ELSE {embedding: vecf32(r.embedding), digest: r.digest} END
  SET p += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END
  FOREACH (one IN r.records |
    CREATE (n)-[:HAD]->(q:PastVersion)-[:HAS_TRACE]->(p)
    SET q = CASE WHEN r.of = 0 THEN {} ELSE properties(bases[0]) END
    SET q += r.content
    SET q += one.marks, q.created_at = CASE WHEN one.marks.created_at < $at
        OR one.marks.created_at = $open THEN one.marks.created_at ELSE one.marks.created_at + later END,
        q.expired_at = CASE WHEN one.marks.expired_at < $at
        OR one.marks.expired_at = $open THEN one.marks.expired_at ELSE one.marks.expired_at + later END
  )
  RETURN count(r) AS opened
}
WITH m, at, later
CALL {
  WITH later
  UNWIND $closing AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH later, r, n
  MATCH (n)-[:HAD]->(p:PastVersion)
  WHERE p.version = r.version
  SET p += r.marks, p.created_at = CASE WHEN r.marks.created_at < $at
      OR r.marks.created_at = $open THEN r.marks.created_at ELSE r.marks.created_at + later END,
      p.expired_at = CASE WHEN r.marks.expired_at < $at
      OR r.marks.expired_at = $open THEN r.marks.expired_at ELSE r.marks.expired_at + later END
  RETURN count(r) AS closed
}
WITH m, at, later
CALL {
  WITH later
  UNWIND $carried AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH later, r, n
  OPTIONAL MATCH (n)-[:HAD]->(s:PastVersion)
  WHERE s.version = r.of
  WITH later, r, n, s
  LIMIT 1000
  OPTIONAL MATCH (s)-[:HAS_TRACE]->(st)
  WITH later, r, n, s, st
  LIMIT 1000
  OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)
  WITH later, r, n, s, st, t
  LIMIT 1000
  SET n = CASE WHEN r.of = 0 THEN {id: r.id} WHEN s IS NULL THEN properties(n) ELSE properties(s) END
  SET n += r.content
  SET n += r.marks, n.created_at = CASE WHEN r.marks.created_at < $at
      OR r.marks.created_at = $open THEN r.marks.created_at ELSE r.marks.created_at + later END,
      n.expired_at = CASE WHEN r.marks.expired_at < $at
      OR r.marks.expired_at = $open THEN r.marks.expired_at ELSE r.marks.expired_at + later END
  SET t = CASE WHEN r.of = 0 THEN {} WHEN st IS NULL THEN properties(t) ELSE properties(st) END
  SET t += CASE WHEN r.embedding IS NULL THEN {} ELSE {embedding: vecf32(r.embedding), digest: r.digest} END
  SET t += CASE WHEN r.felt THEN {emotion: vecf32(r.emotion)} ELSE {} END
  RETURN count(r) AS changed
}
WITH m, at, later
CALL {
  UNWIND $carried AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH n
  MATCH (n)-[:HAS_TRACE_B]->(o)
  DELETE o
  RETURN count(n) AS stale
}
WITH m, at, later
CALL {
  UNWIND $moved AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH r, n
  MATCH (n)-[:HAD]->(p:PastVersion)
  WHERE p.version = r.version
  WITH p
  LIMIT 1000
  OPTIONAL MATCH (p)-[:HAS_TRACE]->(t)
  WHERE indegree(t, 'HAS_TRACE') = 1
  OPTIONAL MATCH (p)-[:HAS_TRACE_B]->(o)
  WHERE indegree(o, 'HAS_TRACE_B') = 1
  DELETE t, o, p
  RETURN count(p) AS moved
}
WITH m, at, later
CALL {
  WITH at
  UNWIND $touched AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  SET n.touched = at, n.versions = r.versions
  RETURN count(n) AS touched
}
WITH m, at, later
CALL {
  UNWIND $withdrawn AS id
  MATCH (n:ConsciousnessNode {id: id})
  WITH n
  MATCH (n)-[:HAS_TRACE]->(t:Trace)
  REMOVE t:Trace
  SET t:PastTrace
  RETURN count(n) AS withdrawn
}
WITH m, at, later
CALL {
  UNWIND $restored AS id
  MATCH (n:ConsciousnessNode {id: id})
  WITH n
  MATCH (n)-[:HAS_TRACE]->(t:PastTrace)
  REMOVE t:PastTrace
  SET t:Trace
  RETURN count(n) AS restored
}
WITH m, at, later
CALL {
  UNWIND $tagged AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  WITH n
  MATCH (n)-[g:TAGGED]->(:Tag)
  DELETE g
  RETURN count(g) AS untagged
}
WITH m, at, later
CALL {
  UNWIND $tagged AS r
  MATCH (n:ConsciousnessNode {id: r.id})
  FOREACH (tag IN r.tags |
    MERGE (x:Tag {name: tag})
    CREATE (n)-[:TAGGED]->(x)
  )
  RETURN count(r) AS tagged
}
WITH m, at, later
CALL {
  WITH later
  UNWIND $links AS r
  MATCH (a:ConsciousnessNode {id: r.source_id})
  MATCH (b:ConsciousnessNode {id: r.target_id})
  WITH later, r, a, b
  OPTIONAL MATCH (a)-[e:LINK]->(b)
  WHERE e.id = r.id
  WITH later, r, a, b, collect(e) AS carried
  OPTIONAL MATCH (a)-[h:PAST_LINK]->(b)
  WHERE h.id = r.id
  WITH later, r, a, b, carried, collect(h) AS past
  FOREACH (k IN r.opened |
    FOREACH (_ IN CASE WHEN k.type = 'PAST_LINK' THEN [1] ELSE [] END |
      CREATE (a)-[l:PAST_LINK]->(b)
      SET l = CASE WHEN k.of = 0 THEN {} ELSE properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) END
      SET l += k.content
      SET l += {relation_type: intern(l.relation_type), goal: intern(l.goal), mindstate: intern(l.mindstate),
          formation_trigger: intern(l.formation_trigger), resolution_state: intern(l.resolution_state),
          source: intern(l.source), author: intern(l.author), episode_id: intern(l.episode_id),
          unset: intern(l.unset)}
      SET l += k.marks, l.created_at = CASE WHEN k.marks.created_at < $at
          OR k.marks.created_at = $open THEN k.marks.created_at ELSE k.marks.created_at + later END,
          l.expired_at = CASE WHEN k.marks.expired_at < $at
          OR k.marks.expired_at = $open THEN k.marks.expired_at ELSE k.marks.expired_at + later END
    )
  )
  FOREACH (k IN r.opened |
    FOREACH (_ IN CASE WHEN k.type = 'LINK' THEN [1] ELSE [] END |
      CREATE (a)-[l:LINK]->(b)
      SET l = CASE WHEN k.of = 0 THEN {} ELSE properties([x IN carried + past WHERE coalesce(x.version, 1) = k.of][0]) END
      SET l += k.content
      SET l += {relation_type: intern(l.relation_type), goal: intern(l.goal), mindstate: intern(l.mindstate),
          formation_trigger: intern(l.formation_trigger), resolution_state: intern(l.resolution_state),
          source: intern(l.source), author: intern(l.author), episode_id: intern(l.episode_id),
          unset: intern(l.unset)}
      SET l += k.marks, l.created_at = CASE WHEN k.marks.created_at < $at
          OR k.marks.created_at = $open THEN k.marks.created_at ELSE k.marks.created_at + later END,
          l.expired_at = CASE WHEN k.marks.expired_at < $at
          OR k.marks.expired_at = $open THEN k.marks.expired_at ELSE k.marks.expired_at + later END
    )
  )
  FOREACH (k IN r.closing |
    FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) = k.version] |
      SET h += k.marks, h.created_at = CASE WHEN k.marks.created_at < $at
          OR k.marks.created_at = $open THEN k.marks.created_at ELSE k.marks.created_at + later END,
          h.expired_at = CASE WHEN k.marks.expired_at < $at
          OR k.marks.expired_at = $open THEN k.marks.expired_at ELSE k.marks.expired_at + later END
    )
  )
  FOREACH (h IN [h IN past WHERE coalesce(h.version, 1) IN r.carried_again] |
    DELETE h
  )
  FOREACH (e IN CASE WHEN r.moved THEN carried ELSE [] END |
    DELETE e
  )
  RETURN count(r) AS related
}
WITH m, at, later
FOREACH (r IN $receipts |
  CREATE (c:Receipt {command_id: r.command_id})
  SET c += r, c.created_at = CASE WHEN r.created_at < $at
      OR r.created_at = $open THEN r.created_at ELSE r.created_at + later END
)
WITH m, at, later, CASE WHEN $changes_until < $at
    OR $changes_until = $open THEN $changes_until ELSE $changes_until + later END AS changes_until
SET m.lately = CASE WHEN $lately IS NULL THEN null ELSE ([x IN coalesce(m.lately, []) WHERE x <> toString(coalesce(m.clock, 0)) + ' ' + toString(at) + ' ' + $lately] + [toString(coalesce(m.clock, 0)) + ' ' + toString(at) + ' ' + $lately])[-8..] END
SET m.clock = at, m.pending_until = CASE WHEN coalesce(m.pending_until,
    0) < $pending_until THEN $pending_until ELSE m.pending_until END,
    m.changes_until = CASE WHEN m.changes_until < changes_until THEN changes_until ELSE m.changes_until END
RETURN later;
