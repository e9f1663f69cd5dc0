"""Identity is a query over what was lived: the memories that most others point to (000)."""

from __future__ import annotations

from typing import Final

from substrate.cypher.fragments import visible
from substrate.cypher.query import Query

_TOLD: Final = (
    "WITH n, name, type, ms, size(ms) AS appearances "
    "WHERE appearances < $fewer OR (appearances = $fewer AND "
    "(name > $behind OR (name = $behind AND n.id > $behind_id))) "
    "WITH n, name, type, ms, appearances ORDER BY appearances DESC, name, n.id LIMIT $limit "
    "UNWIND ([m IN ms WHERE m.emotions IS NOT NULL OR m.rule IS NOT NULL] + [null]) AS m "
    "UNWIND ([x IN coalesce(m.emotions, []) | ['emotion', x]] "
    "+ CASE WHEN m IS NULL THEN [['', '']] WHEN m.rule IS NULL THEN [] ELSE [['rule', m.rule]] END) AS told "
    "WITH n, name, type, appearances, told[0] AS kind, told[1] AS said, count(*) AS times "
    "RETURN n.id, name, type, appearances, kind, said, times "
    "ORDER BY appearances DESC, name, n.id, kind, times DESC, said"
)

IDENTITY_NOW: Final = Query(
    "identity_now",
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND {visible('n')} "
    "WITH n, indegree(n, 'LINK') AS links WHERE links > 0 "
    "WITH n ORDER BY links DESC, n.id LIMIT $pool "
    f"MATCH (m:ConsciousnessNode)-[e:LINK]->(n) WHERE {visible('e')} AND {visible('m')} AND m.id <> n.id "
    f"WITH n, n.name AS name, n.node_type AS type, collect(DISTINCT m) AS ms {_TOLD}",
)
"""Rows (id, name, type, memories pointing to it, 'emotion' or 'rule' or '', which, in how many memories)."""

IDENTITY_THEN: Final = Query(
    "identity_then",
    "MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL "
    "WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links WHERE links > 0 "
    "WITH n ORDER BY links DESC, n.id LIMIT $pool "
    f"OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE {visible('p')} WITH n, collect(p) AS past "
    f"WITH n, head(past + CASE WHEN {visible('n')} THEN [n] ELSE [] END) AS was WHERE was IS NOT NULL "
    "WITH n, was.name AS name, was.node_type AS type "
    f"MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n) WHERE {visible('e')} AND j.id <> n.id "
    f"WITH n, name, type, j, CASE WHEN {visible('j')} THEN j ELSE null END AS same "
    "WITH n, name, type, collect(DISTINCT same) AS ms, "
    "collect(DISTINCT CASE WHEN same IS NULL AND outdegree(j, 'HAD') > 0 THEN j ELSE null END) AS changed "
    f"UNWIND (changed + [null]) AS j OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
    "WITH n, name, type, ms, collect(p) AS past WITH n, name, type, ms + past AS ms WHERE size(ms) > 0 "
    f"{_TOLD}",
)
"""The same as it was at another moment. Only of a memory that is not as it was then an earlier record is read."""
