"""Reads the entities that most memories of a citizen point to (000)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from schemas.citizen import AttachedRule, IdentityEntity
from schemas.temporal import END_OF_TIME, Scope
from substrate.cypher.fragments import visible
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget

MAX_RULES: Final = 20

_PAGE: Final = (
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
    f"WITH n, n.name AS name, n.node_type AS type, collect(DISTINCT m) AS ms {_PAGE}",
)

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
    f"{_PAGE}",
)
"""The entities at another moment. Past records are read only for memories that have changed since."""


class EntityPosition(NamedTuple):
    """The last entity of the previous page; the default means the first page."""

    appearances: int = END_OF_TIME
    name: str = ""
    node_id: str = ""


class _Mention(NamedTuple):
    """A row of `IDENTITY_*`: an entity, and an emotion or rule (`kind`) of the memories that link to it."""

    node_id: str
    name: str
    node_type: str
    appearances: int
    kind: str
    value: str
    memories: int


async def read_entities(
    target: GraphTarget, scope: Scope, after: EntityPosition, *, limit: int, pool: int
) -> list[IdentityEntity]:
    """The next entities of a graph, at most `limit`, most connected first.

    `pool`: how many of the most linked memories are examined. Their links are counted with those that have ended.
    """
    query = IDENTITY_THEN if target.past else IDENTITY_NOW
    mention_rows = await target.graph.read(
        query,
        **scope.bounds(),
        fewer=after.appearances,
        behind=after.name,
        behind_id=after.node_id,
        limit=limit,
        pool=pool,
    )
    mentions = [_Mention(*row) for row in mention_rows]
    return [_entity(list(group)) for _, group in groupby(mentions, key=lambda mention: mention.node_id)]


def _entity(mentions: Sequence[_Mention]) -> IdentityEntity:
    first = mentions[0]
    rules = [
        AttachedRule(rule=mention.value, memories=mention.memories)
        for mention in mentions
        if mention.kind == "rule"
    ]
    return IdentityEntity(
        node_id=first.node_id,
        name=first.name,
        node_type=first.node_type,
        appearances=first.appearances,
        emotions={mention.value: mention.memories for mention in mentions if mention.kind == "emotion"},
        rules=tuple(rules[:MAX_RULES]),
    )
