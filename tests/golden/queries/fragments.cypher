// The parts that stand in queries by name, of a record `x`.

// <CLOCK>
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m, CASE WHEN $at > coalesce(m.clock, $at - 1) THEN $at ELSE m.clock + 1 END AS at

// <SHIFT>
OPTIONAL MATCH (stamp:SubstrateMeta {key: 'stamp'})
FOREACH (m IN CASE WHEN stamp IS NULL THEN [] ELSE [stamp] END |
  SET m.shifts = coalesce(m.shifts, 0) + 1, m.lately = null
)
WITH 1 AS shifted

// <SEEN>
MATCH (g:SubstrateMeta {key: 'stamp'})
UNWIND [['clock', coalesce(g.clock, 0)], ['shifts', coalesce(g.shifts, 0)],
    ['created_at', coalesce(g.created_at, 0)], ['generation', coalesce(g.generation, 0)]] AS seen

// <NOTE_CHANGES>
FOREACH (_ IN CASE WHEN m.changes_until < $changes_until THEN [1] ELSE [] END |
  SET m.changes_until = $changes_until
)

// <uncrowded_now x, y, z>
WITH x, collect([y]) AS ways
WITH x, ways, indegree(x, 'LINK') + outdegree(x, 'LINK') AS held
WHERE held < z
UNWIND ways AS way
WITH x, way[0] AS y

// <uncrowded_then x, y, z>
WITH x, collect([y]) AS ways
WITH x, ways, indegree(x, ['LINK', 'PAST_LINK']) + outdegree(x, ['LINK', 'PAST_LINK']) AS ever
OPTIONAL MATCH (x)-[link:LINK|PAST_LINK]-()
WHERE ever >= z AND <visible link>
WITH x, ways, ever, count(link) AS held
WHERE ever < z OR held < z
UNWIND ways AS way
WITH x, way[0] AS y

// <records_of x, y, z>
<past_of x, z>
WHERE <visible p>
WITH z, x, collect(p) AS past
UNWIND (past + CASE WHEN <visible x> THEN [x] ELSE [] END) AS y
WITH z, x, y

// <past_of x, y>
WITH y, x, CASE WHEN outdegree(x, 'HAD') > 0 THEN x ELSE null END AS former
OPTIONAL MATCH (former)-[:HAD]->(p)

// <found_columns x>
x.id, x.node_type, x.name, CASE WHEN x.passages IS NULL THEN x.description ELSE left(x.description,
    1000) + '' + toString(size(x.description)) END, x.valid_at, x.invalid_at, x.created_at, x.expired_at,
    x.version, x.invalidation_reason, x.closed_reason, x.correction_pattern_id, x.discovery_energy, x.energy,
    x.confidence, x.emotion_vector, x.felt_quality, x.body_sensation, x.goal, x.resolution_state, x.tags,
    x.buckets, x.aliases, x.importance, x.intensity, x.result, x.rule, x.severity, x.abstraction, x.step,
    x.source, x.author, x.shared_from, x.episode_id, x.speaker, x.extra, x.unset

// <node_columns x>
x.id, x.node_type, x.name, x.description, x.valid_at, x.invalid_at, x.created_at, x.expired_at, x.version,
    x.invalidation_reason, x.closed_reason, x.correction_pattern_id, x.discovery_energy, x.energy,
    x.confidence, x.emotion_vector, x.felt_quality, x.body_sensation, x.goal, x.resolution_state, x.tags,
    x.buckets, x.aliases, x.importance, x.intensity, x.result, x.rule, x.severity, x.abstraction, x.step,
    x.source, x.author, x.shared_from, x.episode_id, x.speaker, x.extra, x.unset

// <link_columns x>
x.id, x.relation_type, x.goal, x.mindstate, x.energy, x.confidence, x.formation_trigger, x.emotion_vector,
    x.energy_transfer_coefficient, x.resolution_state, x.felt_quality, x.emotion_description,
    x.body_sensation, x.spatial_context, x.sensory_details, x.valid_at, x.invalid_at, x.created_at,
    x.expired_at, x.version, x.invalidation_reason, x.closed_reason, x.source, x.author, x.episode_id,
    x.extra, x.unset

// <felt x>
x.energy >= $min_energy AND x.confidence >= $min_confidence
    AND size([emotion IN $required_emotions WHERE emotion IN x.emotions]) >= $emotions_needed AND <fits x>

// <is_evidence x>
<tells x> AND ($asked OR <is_statement x>)

// <fits x>
(x.node_type <> 'Generalisation' OR $generalised) AND ($unfiltered
    OR (size($node_types) = 0 OR x.node_type IN $node_types)
    AND (size($speakers) = 0 OR x.speaker IN $speakers)
    AND (size($episodes) = 0 OR x.episode_id IN $episodes) AND (size($sources) = 0 OR x.source IN $sources)
    AND x.valid_at >= $began_from AND x.valid_at < $began_to
    AND all(label IN $labels WHERE x[label[0]] CONTAINS label[1]))

// <tells x>
(x.unset IS NULL OR NOT x.unset STARTS WITH 'name,' OR coalesce(x.description, '') <> '')

// <is_statement x>
NOT coalesce(x.step, '') IN ['Question', 'Courtesy', 'Echo']

// <visible x>
x.valid_at + 0 < $valid_to AND x.invalid_at > $valid_from AND x.created_at < $known_to
    AND x.expired_at > $known_from

// <lasting x>
x.valid_at + 0 < $until AND x.invalid_at > $from AND x.created_at < $known_to AND x.expired_at > $known_from
