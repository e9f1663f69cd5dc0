// The queries of `substrate.graphs.parking`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// latest_write
MATCH (m:SubstrateMeta {key: 'stamp'})
RETURN coalesce(m.clock, m.created_at);
