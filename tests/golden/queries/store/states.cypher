// The queries of `substrate.store.states`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// change_state
<CLOCK>
OPTIONAL MATCH (s:CitizenState)
WITH m, at, s
WHERE coalesce(s.version, 0) = $seen
OPTIONAL MATCH (o:PastState)
WHERE o.version IN $closing
WITH m, at, s, collect(o) AS past
FOREACH (k IN $kept |
  CREATE (n:PastState)
  SET n = coalesce(properties([x IN past + [s] WHERE x.version = k.of][0]), {})
  SET n += k.change
  SET n += {created_at: at, emotion_vector: intern(n.emotion_vector), goal: intern(n.goal),
      drives: intern(n.drives), window: intern(n.window), focus: intern(n.focus), senses: intern(n.senses),
      writers: intern(n.writers)}
)
FOREACH (k IN $latest |
  CREATE (n:CitizenState)
  SET n = coalesce(properties(s), {})
  SET n += k
  SET n += {created_at: at, emotion_vector: intern(n.emotion_vector), goal: intern(n.goal),
      drives: intern(n.drives), window: intern(n.window), focus: intern(n.focus), senses: intern(n.senses),
      writers: intern(n.writers)}
)
FOREACH (o IN past |
  SET o.expired_at = at
)
FOREACH (o IN CASE WHEN s IS NULL THEN [] ELSE [s] END |
  SET o.expired_at = at,
      o.cell = [w IN $widths WHERE w >= at - o.created_at | 'known/' + toString(w) + '/' + toString(o.created_at / w)][0]
  REMOVE o:CitizenState
  SET o:PastState
)
SET m.lately = CASE WHEN $lately IS NULL THEN null ELSE ([x IN coalesce(m.lately, []) WHERE x <> toString(coalesce(m.clock, 0)) + ' ' + toString(at) + ' ' + $lately] + [toString(coalesce(m.clock, 0)) + ' ' + toString(at) + ' ' + $lately])[-8..] END
SET m.clock = at
SET m.events = coalesce(m.events, 0) + size($told)
FOREACH (x IN $told |
  CREATE (e:Event)
  SET e = x, e.created_at = coalesce(m.clock, 0), e.nth = m.events - x.left
)
RETURN at;

// read_state
MATCH (s:CitizenState)
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
LIMIT 1;

// read_state_then
MATCH (s:CitizenState)
WHERE <visible s>
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
UNION ALL
MATCH (s:PastState)
WHERE s.cell IN $cells AND <visible s>
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers;

// replace_windows
UNWIND $windows AS w
OPTIONAL MATCH (p:PastState)
WHERE p.version = w[0]
WITH w, p
OPTIONAL MATCH (c:CitizenState)
WHERE c.version = w[0]
WITH w, coalesce(p, c) AS s
WHERE s IS NOT NULL
SET s.window = w[1];

// state_page
MATCH (s:PastState)
WHERE s.version >= $first AND s.version < $beyond
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
UNION ALL
MATCH (s:CitizenState)
WHERE s.version >= $first AND s.version < $beyond
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers;

// states_between
MATCH (s:PastState)
WHERE s.valid_at > $after AND s.valid_at < $before AND s.expired_at = $open
RETURN s.version, s.valid_at, s.invalid_at, s.created_at, s.expired_at, s.energy, s.baseline, s.feedback_at,
    s.emotion_vector, s.goal, s.drives, s.reality_pressure, s.window, s.focus, s.senses, s.last_cycle_at,
    s.last_stream_id, s.writers
LIMIT $rows;

// states_showing
MATCH (s:PastState)
WHERE s.version >= $first AND s.version < $beyond AND s.window IS NOT NULL
    AND any(one IN $ids WHERE s.window CONTAINS one)
RETURN s.version, s.window
UNION ALL
MATCH (s:CitizenState)
WHERE s.version >= $first AND s.version < $beyond AND s.window IS NOT NULL
    AND any(one IN $ids WHERE s.window CONTAINS one)
RETURN s.version, s.window;
