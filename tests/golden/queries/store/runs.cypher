// The queries of `substrate.store.runs`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// drop_quality
MATCH (q:QualitySummary)
WHERE q.swept_at IN $times OR q.id IN $ids
DELETE q
RETURN count(q);

// erase_changes
MATCH (c:UpkeepChange)
WHERE c.target IN $ids
WITH collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
RETURN size(gone);

// erase_in_runs
MATCH (r:UpkeepRun)
WHERE any(x IN $ids WHERE r.errors CONTAINS x OR r.cursor CONTAINS x)
SET r.errors = '[]', r.cursor = null
RETURN count(r);

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

// upkeep_changes
MATCH (c:UpkeepChange)
WHERE c.page = $page
RETURN c.nth, c.command_id, c.command, c.target, c.source
ORDER BY c.nth DESC;

// upkeep_drop_runs
MATCH (r:UpkeepRun)
WHERE r.job = $job AND r.status <> 'running' AND r.status <> 'failed' AND r.changed = 0 AND r.kept = 0
WITH r
ORDER BY r.begun_at DESC
SKIP $keep
WITH collect(r) AS old
FOREACH (r IN old |
  DELETE r
)
RETURN size(old);

// upkeep_exists
RETURN 1;

// upkeep_journal
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE coalesce(m.upkeep_fence, 0) <= $fence
SET m.upkeep_fence = $fence
SET m.events = coalesce(m.events, 0) + size($told)
FOREACH (x IN $told |
  CREATE (e:Event)
  SET e = x, e.created_at = coalesce(m.clock, 0), e.nth = m.events - x.left
)
WITH m
MATCH (r:UpkeepRun {id: $run})
SET r += $values
WITH r
UNWIND $rows AS row
CREATE (c:UpkeepChange)
SET c = row
RETURN count(c);

// upkeep_run
MATCH (r:UpkeepRun {id: $run})
RETURN r.id, r.job, r.status, r.begun_at, r.ended_at, r.next_at, r.seen, r.changed, r.refused, r.attempt,
    r.errors, r.fence, r.undone, r.beyond_undo, r.kept, r.cursor, r.pages;

// upkeep_run_of
MATCH (c:UpkeepChange)
WHERE c.command_id IN $commands
RETURN c.command_id, c.run;

// upkeep_runs
MATCH (r:UpkeepRun)
RETURN r.id, r.job, r.status, r.begun_at, r.ended_at, r.next_at, r.seen, r.changed, r.refused, r.attempt,
    r.errors, r.fence, r.undone, r.beyond_undo, r.kept, r.cursor, r.pages
ORDER BY r.begun_at DESC, r.id DESC
LIMIT $rows;

// upkeep_save_run
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE coalesce(m.upkeep_fence, 0) <= $fence
SET m.upkeep_fence = $fence
SET m.events = coalesce(m.events, 0) + size($told)
FOREACH (x IN $told |
  CREATE (e:Event)
  SET e = x, e.created_at = coalesce(m.clock, 0), e.nth = m.events - x.left
)
WITH m
MERGE (r:UpkeepRun {id: $run})
SET r += $values
RETURN r.id;

// upkeep_settle
MATCH (m:SubstrateMeta {key: 'stamp'})
WHERE coalesce(m.upkeep_fence, 0) <= $fence
SET m.upkeep_fence = $fence
SET m.events = coalesce(m.events, 0) + size($told)
FOREACH (x IN $told |
  CREATE (e:Event)
  SET e = x, e.created_at = coalesce(m.clock, 0), e.nth = m.events - x.left
)
WITH m
MATCH (r:UpkeepRun {id: $run})
SET r += $values
WITH r
OPTIONAL MATCH (c:UpkeepChange)
WHERE c.page = $page AND c.command_id IN $gone
WITH r, collect(c) AS gone
FOREACH (c IN gone |
  DELETE c
)
RETURN r.id;
