// The queries of `substrate.store.writer`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// keep
UNWIND $receipts AS r
MERGE (c:Receipt {command_id: r.command_id})
ON CREATE SET c += r
RETURN c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told;

// relate
<CLOCK>
WITH m, at, coalesce(m.clock, 0) AS was
FOREACH (w IN $whole |
  MERGE (c:Receipt {command_id: w.command_id})
  ON CREATE SET c += w, c.created_at = at, c.moved_at = at + $last, c.parts = 1
  ON MATCH SET c.moved_at = at + $last, c.parts = coalesce(c.parts, 1) + 1
)
WITH m, at, was
<NOTE_CHANGES>
WITH m, at, was
UNWIND $rows AS r
OPTIONAL MATCH (c:Receipt {command_id: r.receipt})
OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id})
OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id})
WITH m, at, was, r, c, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target
OPTIONAL MATCH (a)-[o:LINK {id: r.id}]->(b)
WITH m, at, was, r, c, a, b, has_source, has_target, o, size([(a)-[q:PAST_LINK {id: r.id}]->(b) | 1]) AS gone
WITH m, at, was, r, c, a, b, has_source, has_target, gone, CASE WHEN has_source AND has_target AND o IS NULL
    AND c IS NULL AND gone = 0 THEN [1] ELSE [] END AS new, o.fingerprint AS fingerprint,
    coalesce(o.version, 1) AS version, o.valid_at AS valid_at, o.invalid_at AS invalid_at,
    o.created_at AS created_at, o.expired_at AS expired_at
FOREACH (_ IN new |
  CREATE (a)-[:LINK {handle: r.handle, id: r.id, relation_type: intern(r.relation_type), goal: intern(r.goal),
      mindstate: intern(r.mindstate), energy: r.energy, confidence: r.confidence,
      formation_trigger: intern(r.formation_trigger), emotion_vector: r.emotion_vector,
      energy_transfer_coefficient: r.energy_transfer_coefficient,
      resolution_state: intern(r.resolution_state), felt_quality: r.felt_quality,
      emotion_description: r.emotion_description, body_sensation: r.body_sensation,
      spatial_context: r.spatial_context, sensory_details: r.sensory_details, valid_at: r.valid_at,
      invalid_at: r.invalid_at, expired_at: r.expired_at, version: r.version,
      invalidation_reason: r.invalidation_reason, closed_reason: r.closed_reason, source: intern(r.source),
      author: intern(r.author), episode_id: intern(r.episode_id), extra: r.extra, unset: intern(r.unset),
      command_id: intern(r.command_id), key_id: intern(r.key_id), known_as_happened: r.known_as_happened,
      fingerprint: r.fingerprint, created_at: at + r.nth}]->(b)
  SET m.lately = CASE WHEN $lately IS NULL THEN null ELSE ([x IN coalesce(m.lately, []) WHERE x <> toString(was) + ' ' + toString(at + $last) + ' ' + $lately] + [toString(was) + ' ' + toString(at + $last) + ' ' + $lately])[-8..] END,
      m.clock = at + $last
)
FOREACH (_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1
    OR (r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END |
  CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id,
      version: version, valid_at: coalesce(valid_at, r.valid_at),
      invalid_at: coalesce(invalid_at, r.invalid_at), created_at: coalesce(created_at, at + r.nth),
      warnings: intern(r.warnings), repeats: CASE WHEN size(new) = 1 THEN null ELSE 1 END})
)
RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at,
    c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told, has_source, has_target, gone, was, coalesce(m.clock, 0),
    coalesce(m.shifts, 0), coalesce(m.created_at, 0), coalesce(m.generation, 0);

// relate_named: relate, but
  WITH m, at, was, r, c, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target
- OPTIONAL MATCH (a)-[o:LINK {id: r.id}]->(b)
- WITH m, at, was, r, c, a, b, has_source, has_target, o, size([(a)-[q:PAST_LINK {id: r.id}]->(b) | 1]) AS gone
+ OPTIONAL MATCH ()-[o:LINK {handle: r.handle}]->()
+ WHERE o.id = r.id
+ WITH m, at, was, r, c, a, b, has_source, has_target, o
+ CALL {
+   WITH r
+   OPTIONAL MATCH ()-[q:PAST_LINK {handle: r.handle}]->()
+   WHERE q.id = r.id
+   RETURN count(q) AS gone
+ }

// remember
<CLOCK>
WITH m, at, coalesce(m.clock, 0) AS was
FOREACH (w IN $whole |
  MERGE (c:Receipt {command_id: w.command_id})
  ON CREATE SET c += w, c.created_at = at, c.moved_at = at + $last, c.parts = 1
  ON MATCH SET c.moved_at = at + $last, c.parts = coalesce(c.parts, 1) + 1
)
WITH m, at, was
<NOTE_CHANGES>
WITH m, at, was
UNWIND $rows AS r
OPTIONAL MATCH (c:Receipt {command_id: r.receipt})
OPTIONAL MATCH (o:ConsciousnessNode {id: r.id})
WITH m, at, was, r, c, CASE WHEN o IS NULL AND c IS NULL THEN [1] ELSE [] END AS new,
    o.fingerprint AS fingerprint, coalesce(o.version, 1) AS version, o.valid_at AS valid_at,
    o.invalid_at AS invalid_at, o.created_at AS created_at, o.expired_at AS expired_at
FOREACH (_ IN new |
  CREATE (n:ConsciousnessNode {id: r.id, node_type: intern(r.node_type), name: r.name,
      description: r.description, valid_at: r.valid_at, invalid_at: r.invalid_at, expired_at: r.expired_at,
      version: r.version, invalidation_reason: r.invalidation_reason, closed_reason: r.closed_reason,
      correction_pattern_id: r.correction_pattern_id, discovery_energy: r.discovery_energy, energy: r.energy,
      confidence: r.confidence, emotion_vector: r.emotion_vector, felt_quality: r.felt_quality,
      body_sensation: r.body_sensation, goal: intern(r.goal), resolution_state: intern(r.resolution_state),
      tags: r.tags, buckets: r.buckets, aliases: r.aliases, importance: r.importance, intensity: r.intensity,
      result: r.result, rule: r.rule, severity: intern(r.severity), abstraction: r.abstraction,
      step: intern(r.step), source: intern(r.source), author: intern(r.author), shared_from: r.shared_from,
      episode_id: intern(r.episode_id), speaker: intern(r.speaker), extra: r.extra, unset: intern(r.unset),
      search_text: r.search_text, name_key: r.name_key, entity_names: r.entity_names, emotions: r.emotions,
      terms: r.terms, text_key: r.text_key, passages: r.passages, command_id: intern(r.command_id),
      key_id: intern(r.key_id), known_as_happened: r.known_as_happened, fingerprint: r.fingerprint,
      created_at: at + r.nth})-[:HAS_TRACE]->(:Trace {embedding: vecf32(r.embedding),
      emotion: vecf32(r.emotion), digest: r.digest})
  SET m.lately = CASE WHEN $lately IS NULL THEN null ELSE ([x IN coalesce(m.lately, []) WHERE x <> toString(was) + ' ' + toString(at + $last) + ' ' + $lately] + [toString(was) + ' ' + toString(at + $last) + ' ' + $lately])[-8..] END,
      m.clock = at + $last
  FOREACH (tag IN r.tag_names |
    MERGE (t:Tag {name: tag})
    CREATE (n)-[:TAGGED]->(t)
  )
)
FOREACH (_ IN CASE WHEN c IS NULL AND r.receipt IS NOT NULL AND (size(new) = 1
    OR (r.again AND version = 1 AND fingerprint = r.fingerprint AND expired_at = $open)) THEN [1] ELSE [] END |
  CREATE (:Receipt {command_id: r.receipt, fingerprint: r.fingerprint, command: intern($command), id: r.id,
      version: version, valid_at: coalesce(valid_at, r.valid_at),
      invalid_at: coalesce(invalid_at, r.invalid_at), created_at: coalesce(created_at, at + r.nth),
      warnings: intern(r.warnings), repeats: CASE WHEN size(new) = 1 THEN null ELSE 1 END})
)
RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at,
    c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
    c.warnings, c.recognised, c.told, was, coalesce(m.clock, 0), coalesce(m.shifts, 0),
    coalesce(m.created_at, 0), coalesce(m.generation, 0);

// remember_linked: remember, but
  )
- RETURN r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at, expired_at,
-     c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at, c.created_at,
-     c.warnings, c.recognised, c.told, was, coalesce(m.clock, 0), coalesce(m.shifts, 0),
+ WITH m, at, was, collect([r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at, created_at,
+     expired_at, c.command_id, c.fingerprint, c.command, c.id, c.version, c.valid_at, c.invalid_at,
+     c.created_at, c.warnings, c.recognised, c.told, true, true, 0, size(new) = 1
+     OR (fingerprint = r.fingerprint AND version = 1)]) AS stored
+ UNWIND CASE WHEN all(o IN stored WHERE o[23]) THEN $links ELSE [null] END AS r
+ WITH m, at, was, r, null AS c, stored
+ OPTIONAL MATCH (a:ConsciousnessNode {id: r.source_id})
+ OPTIONAL MATCH (b:ConsciousnessNode {id: r.target_id})
+ WITH m, at, was, r, c, stored, a, b, a.expired_at = $open AS has_source, b.expired_at = $open AS has_target
+ OPTIONAL MATCH (a)-[o:LINK {id: r.id}]->(b)
+ WITH m, at, was, r, c, stored, a, b, has_source, has_target, o,
+     size([(a)-[q:PAST_LINK {id: r.id}]->(b) | 1]) AS gone
+ WITH m, at, was, r, c, stored, a, b, has_source, has_target, gone, CASE WHEN has_source AND has_target
+     AND o IS NULL AND c IS NULL AND gone = 0 THEN [1] ELSE [] END AS new, o.fingerprint AS fingerprint,
+     coalesce(o.version, 1) AS version, o.valid_at AS valid_at, o.invalid_at AS invalid_at,
+     o.created_at AS created_at, o.expired_at AS expired_at
+ FOREACH (_ IN new |
+   CREATE (a)-[:LINK {handle: r.handle, id: r.id, relation_type: intern(r.relation_type), goal: intern(r.goal),
+       mindstate: intern(r.mindstate), energy: r.energy, confidence: r.confidence,
+       formation_trigger: intern(r.formation_trigger), emotion_vector: r.emotion_vector,
+       energy_transfer_coefficient: r.energy_transfer_coefficient,
+       resolution_state: intern(r.resolution_state), felt_quality: r.felt_quality,
+       emotion_description: r.emotion_description, body_sensation: r.body_sensation,
+       spatial_context: r.spatial_context, sensory_details: r.sensory_details, valid_at: r.valid_at,
+       invalid_at: r.invalid_at, expired_at: r.expired_at, version: r.version,
+       invalidation_reason: r.invalidation_reason, closed_reason: r.closed_reason, source: intern(r.source),
+       author: intern(r.author), episode_id: intern(r.episode_id), extra: r.extra, unset: intern(r.unset),
+       command_id: intern(r.command_id), key_id: intern(r.key_id), known_as_happened: r.known_as_happened,
+       fingerprint: r.fingerprint, created_at: at + r.nth}]->(b)
+   SET m.lately = CASE WHEN $lately IS NULL THEN null ELSE ([x IN coalesce(m.lately, []) WHERE x <> toString(was) + ' ' + toString(at + $last) + ' ' + $lately] + [toString(was) + ' ' + toString(at + $last) + ' ' + $lately])[-8..] END,
+       m.clock = at + $last
+ )
+ WITH m, was, stored, collect([r.id, size(new), at + r.nth, fingerprint, version, valid_at, invalid_at,
+     created_at, expired_at, null, null, null, null, null, null, null, null, null, null, null, has_source,
+     has_target, gone]) AS linked
+ UNWIND stored + linked AS o
+ RETURN o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9], o[10], o[11], o[12], o[13], o[14], o[15],
+     o[16], o[17], o[18], o[19], o[20], o[21], o[22], was, coalesce(m.clock, 0), coalesce(m.shifts, 0),

// tell
MATCH (c:Receipt {command_id: $command_id})
SET c.told = $told, c.told_of = $ids;
