// The queries of `substrate.store.stream_notes`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// count_stream_notes
MATCH (s:StreamNote)
RETURN count(s);

// drop_oldest_stream_notes
MATCH (s:StreamNote)
WITH s
ORDER BY s.at
LIMIT $rows
DELETE s
RETURN count(s);

// drop_stream_notes_before
MATCH (s:StreamNote)
WHERE s.at < $before
WITH s
LIMIT $rows
DELETE s
RETURN count(s);

// erased_at
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.erased_at, 0);

// forget_moments
MATCH (k:LearningMoment)
WHERE k.earlier IN $ids OR k.later IN $ids
DELETE k
RETURN count(k);

// keep_stream_notes
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
UNWIND $notes AS note
WITH m, note
WHERE note.at >= m.created_at
MERGE (s:StreamNote {id: note.id})
ON CREATE SET s.at = note.at, s.data = note.data
WITH m, count(s) AS kept
OPTIONAL MATCH (o:LearningMoment)
WITH m, kept, o
ORDER BY o.created_at DESC
WITH m, kept, collect(o) AS held
WITH m, kept, [o IN held | [o.earlier, o.earlier_version, o.later, o.later_version]] AS known,
    held[$most..] AS gone
FOREACH (o IN gone |
  DELETE o
)
WITH m, kept, [y IN $moments WHERE y.at >= m.created_at AND y.at > coalesce(m.erased_at, 0)
    AND NOT [y.earlier, y.earlier_version, y.later, y.later_version] IN known] AS fresh
SET m.events = coalesce(m.events, 0) + size(fresh)
FOREACH (i IN range(0, size(fresh) - 1) |
  CREATE (:LearningMoment {earlier: fresh[i].earlier, earlier_version: fresh[i].earlier_version,
      later: fresh[i].later, later_version: fresh[i].later_version, created_at: fresh[i].at})
  CREATE (:Event {command: 'learn', id: fresh[i].later, version: fresh[i].later_version, of: fresh[i].earlier,
      told_at: fresh[i].at, created_at: coalesce(m.clock, 0), nth: m.events - i})
)
RETURN kept;

// moments
MATCH (k:LearningMoment)
WHERE k.created_at < $before
RETURN k.earlier, k.earlier_version, k.later, k.later_version
ORDER BY k.earlier, k.later;

// records_now
UNWIND $shown AS one
MATCH (i:ConsciousnessNode {id: one[0]})
WITH one, i
OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion)
WHERE p.version = one[1]
WITH one, i, collect(p) AS past
UNWIND (past + CASE WHEN i.version = one[1] THEN [i] ELSE [] END) AS s
RETURN s.id, s.version, s.name, s.created_at, s.expired_at, coalesce(s.closed_reason, s.invalidation_reason),
    s.known_as_happened, i.version, i.name, left(coalesce(i.description, ''), $characters), i.expired_at,
    i.invalid_at;

// stamp_erased
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.erased_at = CASE WHEN $at > coalesce(m.erased_at, 0) THEN $at ELSE m.erased_at END
RETURN m.erased_at;

// stream_note
MATCH (s:StreamNote)
WHERE s.id = $id
RETURN s.id, s.at, s.data
LIMIT 1;

// stream_notes
MATCH (s:StreamNote)
WHERE s.at <= $until AND (s.at + 0 < $until OR s.id + '' < $before)
WITH s
ORDER BY s.at DESC, s.id DESC
LIMIT $rows
RETURN s.id, s.at, s.data;

// texts_of
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
RETURN left(coalesce(n.description, ''), $characters);
