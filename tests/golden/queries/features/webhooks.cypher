// The queries of `orchestration.features.webhooks.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// delivered_commands
MATCH (d:Delivery)
WHERE NOT d.command STARTS
WITH 'event-'
RETURN DISTINCT d.command;

// deliveries
MATCH (d:Delivery)
WHERE d.webhook = $id
RETURN d.data
ORDER BY d.at DESC, d.id;

// forget_deliveries
MATCH (d:Delivery)
WHERE d.of IN $ids OR d.command IN $commands
DELETE d
RETURN count(d);

// remove_webhook
MATCH (w:Webhook {id: $id})
WITH w
LIMIT 1
OPTIONAL MATCH (d:Delivery)
WHERE d.webhook = $id
WITH w, collect(d) AS those
FOREACH (d IN those |
  DELETE d
)
DELETE w
RETURN size(those);

// save_deliveries
MATCH (w:Webhook {id: $id})
SET w.data = $data
WITH w
LIMIT 1
UNWIND $rows AS row
MERGE (d:Delivery {id: row.id})
SET d.webhook = $id, d.status = row.status, d.at = row.at, d.of = row.of, d.command = row.command,
    d.data = row.data
RETURN count(d);

// trim_deliveries
MATCH (d:Delivery)
WHERE d.webhook = $id AND d.status IN ['delivered', 'gone']
WITH d
ORDER BY d.at DESC
SKIP $keep
DELETE d
RETURN count(d);

// webhooks
MATCH (w:Webhook)
RETURN w.data, w.secret, w.key_id
ORDER BY w.made;

// write_webhook
MATCH (m:SubstrateMeta {key: 'stamp'})
WITH m
LIMIT 1
MERGE (w:Webhook {id: $id})
ON CREATE SET w.made = $made, w.secret = $secret, w.key_id = $key
SET w.data = $data
RETURN w.id;
