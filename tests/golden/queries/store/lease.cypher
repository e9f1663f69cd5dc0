// The queries of `substrate.store.lease`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// upkeep_own
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN m.upkeep_mode, m.upkeep_jobs
LIMIT 1;

// upkeep_set_own
MATCH (m:SubstrateMeta {key: 'stamp'})
SET m.upkeep_mode = $mode, m.upkeep_jobs = $jobs
RETURN m.key;
