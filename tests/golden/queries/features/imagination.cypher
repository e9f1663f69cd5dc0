// The queries of `orchestration.features.imagination.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// answer_prediction
MATCH (p:Prediction)
WHERE p.id = $id AND (p.context_id IS NULL OR p.context_id = $context)
SET p.context_id = $context, p.result = $result, p.emotion = $emotion, p.answered_at = $at,
    p.named = [x IN p.named WHERE x <> $context] + [$context]
RETURN p.id;

// forget_predictions
MATCH (n:ConsciousnessNode)
WHERE n.id IN $ids
WITH collect(n.name_key) + $ids AS gone_names
MATCH (p:Prediction)
WHERE any(x IN p.named WHERE x IN gone_names)
WITH collect(p) AS gone
FOREACH (p IN gone |
  DELETE p
)
RETURN size(gone);

// keep_prediction
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
OPTIONAL MATCH (o:Prediction)
WITH m, o
ORDER BY o.created_at DESC, o.id
WITH m, [x IN collect(o)[$most..] | x] AS gone
FOREACH (o IN gone |
  DELETE o
)
CREATE (p:Prediction)
SET p = $record
RETURN p.id;

// prediction
MATCH (p:Prediction)
WHERE p.id = $id
RETURN p.id, p.created_at, p.asked, p.told, p.answered_at, p.context_id, p.result, p.emotion;

// predictions
MATCH (p:Prediction)
RETURN p.id, p.created_at, p.asked, p.told, p.answered_at, p.context_id, p.result, p.emotion;
