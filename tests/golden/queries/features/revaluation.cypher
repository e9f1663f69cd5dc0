// The queries of `orchestration.features.revaluation.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// end_offers
MATCH (a:Revaluation)
WHERE a.waiting = true AND a.run <> $run
SET a.waiting = false
RETURN count(a);

// forget_revaluations
MATCH (a:Revaluation)
WHERE a.memory_id IN $ids
DELETE a
RETURN count(a);

// low_importance
MATCH (n:ConsciousnessNode)
WHERE id(n) > $after AND id(n) <= $last AND n.expired_at + 0 = $open AND n.valid_at + 0 <= $at
    AND n.invalid_at + 0 > $at AND coalesce(n.importance, 0.0) < $below AND NOT n.node_type IN $things
WITH n
LIMIT $rows
RETURN id(n), n.id, n.node_type, n.speaker, n.name, left(toStringOrNull(n.description), 200);

// offered_in
MATCH (a:Revaluation)
WHERE a.run = $run
RETURN count(a);

// revaluations
MATCH (a:Revaluation)
WHERE id(a) > $after
WITH a
LIMIT $rows
RETURN id(a), a.memory_id, a.asked_at, a.waiting, a.proposed, a.because;

// stamp_revaluations
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
UNWIND $rows AS r
MATCH (n:ConsciousnessNode {id: r.id})
MERGE (a:Revaluation {memory_id: r.id})
SET a.before = coalesce(a.asked_at, 0), a.asked_at = $at, a.waiting = $waiting, a.run = coalesce($run, a.run),
    a.proposed = r.proposed, a.because = r.because
RETURN a.memory_id;

// undo_offer
MATCH (a:Revaluation)
WHERE a.run = $run AND a.waiting = true
WITH collect(a) AS offered
FOREACH (a IN [x IN offered WHERE x.before = 0] |
  DELETE a
)
FOREACH (a IN [x IN offered WHERE x.before > 0] |
  SET a.asked_at = a.before, a.waiting = false, a.run = null, a.proposed = null, a.because = null
)
RETURN size(offered);
