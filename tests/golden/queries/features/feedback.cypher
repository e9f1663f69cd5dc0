// The queries of `orchestration.features.feedback.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// feedback
MATCH (f:Feedback)
WHERE f.held IS NULL
RETURN f.id, f.created_at, f.question, f.used, f.wrong, f.lesson, f.not_changed;

// feedback_at
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.feedback_at, 0)
LIMIT 1;

// feedback_naming
MATCH (f:Feedback)
WHERE any(x IN f.used + f.wrong + coalesce(f.not_changed, []) WHERE x IN $ids)
RETURN f.id;

// take_back_feedback
<CLOCK>
MATCH (f:Feedback)
WITH m, at, collect(f) AS told
WITH m, at, [f IN told WHERE f.id IN $ids] AS gone, size(told) AS stood
WITH m, at, gone, size(gone) AS taken, stood
FOREACH (f IN gone |
  DELETE f
)
SET m.clock = at, m.feedback_at = CASE WHEN stood > taken THEN at ELSE null END
RETURN taken;

// tell_feedback
<CLOCK>
WHERE coalesce(m.feedback_at, 0) = $seen
OPTIONAL MATCH (o:Feedback)
WHERE o.id IN $dropped
WITH m, at, collect(o) AS gone
FOREACH (o IN gone |
  DELETE o
)
CREATE (f:Feedback)
SET f = $record
SET f.created_at = at, m.clock = at, m.feedback_at = at
RETURN at;
