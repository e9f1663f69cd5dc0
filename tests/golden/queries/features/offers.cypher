// The queries of `orchestration.features.offers.queries`, as they are sent for a graph of the first generation of vectors.
// Written by `python -m scripts.queries`; do not edit. `<…>`: a part from `fragments.cypher`.

// decline_offer
MATCH (x:ConsciousnessNode {id: $id})
MATCH (o:ConsciousnessNode {id: $other})
MERGE (x)-[d:DECLINED {offer: $offer}]->(o)
ON CREATE SET d.at = $at
RETURN d.offer;

// declined_offers
UNWIND $ids AS id
MATCH (x:ConsciousnessNode {id: id})
WITH x
MATCH (x)-[d:DECLINED]->()
RETURN d.offer;

// offered_work
<SEEN>
RETURN 'seen' AS c0, seen[0] AS c1, seen[1] AS c2, null AS c3, null AS c4, null AS c5, null AS c6, null AS c7,
    null AS c8, null AS c9, null AS c10, null AS c11, null AS c12, null AS c13, null AS c14, null AS c15
UNION ALL
MATCH (x:ConsciousnessNode)
WHERE x.resolution_state IN $states AND x.expired_at = $open AND x.valid_at + 0 <= $now
    AND x.invalid_at > $now
WITH x
ORDER BY x.valid_at DESC, x.id
LIMIT $memories
MATCH (x)-[e:LINK]-(o:ConsciousnessNode)
WITH x, e, o
WHERE e.relation_type IN $work AND e.expired_at = $open AND e.valid_at <= $now AND e.invalid_at > $now
WITH DISTINCT x, e, o
LIMIT $links
RETURN 0 AS c0, x.id AS c1, x.name AS c2, x.speaker AS c3, left(x.description, $characters) AS c4,
    x.resolution_state AS c5, x.valid_at AS c6, e.id AS c7, e.relation_type AS c8, e.resolution_state AS c9,
    startNode(e).id AS c10, o.id AS c11, o.name AS c12, o.speaker AS c13,
    left(o.description, $characters) AS c14, CASE WHEN o.expired_at = $open
    AND o.invalid_at > $now THEN coalesce(o.resolution_state, '') ELSE 'resolved' END AS c15;
