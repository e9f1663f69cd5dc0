// The queries of `substrate.store.quality`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// drop_quality
MATCH (q:QualitySummary)
WHERE q.swept_at IN $times OR q.id IN $ids
DELETE q
RETURN count(q);

// keep_quality
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
MERGE (q:QualitySummary {id: $id})
ON CREATE SET q.swept_at = $at, q.summary = $summary
RETURN q.swept_at;

// quality
MATCH (q:QualitySummary)
WITH q
ORDER BY q.swept_at DESC
LIMIT $rows
RETURN q.swept_at, q.summary;

// quality_times
MATCH (q:QualitySummary)
RETURN q.swept_at;
