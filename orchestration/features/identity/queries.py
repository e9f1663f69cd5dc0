"""Reads the entities that most memories of a citizen point to (000)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

import orjson

from orchestration.features.identity.values import AttachedRule, IdentityEntity
from schemas.temporal import END_OF_TIME, Instant, Scope
from substrate.cypher.fragments import records_of, told, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.naming import SELF_ID
from substrate.store.rows import is_made

MAX_RULES: Final = 20
MOST_STATEMENTS: Final = "200"
"""At most this many texts in which a citizen speaks of itself are read, the latest first."""
MOST_TEXTS: Final = "12"
"""At most this many texts a person are read for what the person is to the citizen, the earliest first."""
_PEOPLE_COUNTED: Final = 64

_NO_ROLE: Final = "NOT (n.node_type = 'Person' AND n.name_key IN $roles) AND n.node_type <> 'Self'"

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
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND {visible('n')} AND {_NO_ROLE} "
    "WITH n, indegree(n, 'LINK') AS links WHERE links > 0 "
    "WITH n ORDER BY links DESC, n.id LIMIT $pool "
    f"MATCH (m:ConsciousnessNode)-[e:LINK]->(n) WHERE {visible('e')} AND {visible('m')} AND m.id <> n.id "
    f"AND {told('m')} "
    f"WITH n, n.name AS name, n.node_type AS type, collect(DISTINCT m) AS ms {_PAGE}",
)

IDENTITY_THEN: Final = Query(
    "identity_then",
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND {_NO_ROLE} "
    "WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links WHERE links > 0 "
    "WITH n ORDER BY links DESC, n.id LIMIT $pool "
    f"OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE {visible('p')} WITH n, collect(p) AS past "
    f"WITH n, head(past + CASE WHEN {visible('n')} THEN [n] ELSE [] END) AS was WHERE was IS NOT NULL "
    "WITH n, was.name AS name, was.node_type AS type "
    f"MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n) WHERE {visible('e')} AND {told('j')} "
    "AND j.id <> n.id "
    f"WITH n, name, type, j, CASE WHEN {visible('j')} THEN j ELSE null END AS same "
    "WITH n, name, type, collect(DISTINCT same) AS ms, "
    "collect(DISTINCT CASE WHEN same IS NULL AND outdegree(j, 'HAD') > 0 THEN j ELSE null END) AS changed "
    f"UNWIND (changed + [null]) AS j OPTIONAL MATCH (j)-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
    "WITH n, name, type, ms, collect(p) AS past WITH n, name, type, ms + past AS ms WHERE size(ms) > 0 "
    f"{_PAGE}",
)
"""The entities at another moment. Past records are read only for memories that have changed since."""

_STATED: Final = "m.id, coalesce(m.description, ''), m.name, m.source, m.speaker, m.valid_at, m.created_at"
_LATEST_STATED: Final = (
    f"RETURN {_STATED} ORDER BY m.valid_at DESC, m.created_at DESC, m.id LIMIT {MOST_STATEMENTS}"
)
STATED_NOW: Final = Query(
    "stated_now",
    "MATCH (n:ConsciousnessNode {id: $self}) WITH n MATCH (m:ConsciousnessNode)-[e:LINK]->(n) "
    f"WHERE {visible('e')} AND {visible('m')} WITH DISTINCT m {_LATEST_STATED}",
)
STATED_THEN: Final = Query(
    "stated_then",
    "MATCH (n:ConsciousnessNode {id: $self}) WITH n MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n) "
    f"WHERE {visible('e')} WITH DISTINCT j {records_of('j', 'm')} WITH DISTINCT m {_LATEST_STATED}",
)
"""The texts in which a citizen speaks of itself, the latest first."""

OWN: Final = (
    "((m.speaker IS NULL AND m.source IN $own_sources) OR toLower(coalesce(m.speaker, '')) IN $own_speakers) "
)
_TEXT: Final = "CASE WHEN coalesce(m.description, '') = '' THEN m.name ELSE m.description END"
_PEOPLE: Final = (
    # Lowered once a text: inside `any` it is done for each word, most of the time of a person of 3,000 mentions.
    f"WITH n, name, aliases, m, toLower({_TEXT}) AS lowered "
    "WITH n, name, aliases, m, any(word IN $possessives WHERE lowered CONTAINS word) AS tells "
    "ORDER BY m.valid_at, m.id "
    "WITH n, name, aliases, count(m) AS appearances, "
    f"collect(CASE WHEN tells THEN {_TEXT} ELSE null END)[..{MOST_TEXTS}] AS texts "
    "UNWIND (texts + [null]) AS text "
    "RETURN n.id, name, aliases, appearances, text, n.unset ORDER BY appearances DESC, name, n.id"
)
PEOPLE_NOW: Final = Query(
    "people_now",
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' AND {visible('n')} "
    "AND NOT n.name_key IN $roles WITH n, indegree(n, 'LINK') AS links WHERE links > 0 "
    f"WITH n ORDER BY links DESC, n.id LIMIT {_PEOPLE_COUNTED} "
    "MATCH (m:ConsciousnessNode)-[e:LINK]->(n) "
    f"WHERE e.relation_type <> 'SAID_BY' AND {visible('e')} AND {visible('m')} AND m.id <> n.id AND {OWN} "
    f"WITH DISTINCT n, m, n.name AS name, n.aliases AS aliases {_PEOPLE}",
)
PEOPLE_THEN: Final = Query(
    "people_then",
    "MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' "
    "AND NOT n.name_key IN $roles WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links WHERE links > 0 "
    f"WITH n ORDER BY links DESC, n.id LIMIT {_PEOPLE_COUNTED} {records_of('n', 'was')} "
    "WITH n, was.name AS name, was.aliases AS aliases "
    "MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n) "
    f"WHERE e.relation_type <> 'SAID_BY' AND {visible('e')} AND j.id <> n.id "
    f"WITH DISTINCT n, name, aliases, j {records_of('j', 'm', 'n, name, aliases')} WHERE {OWN} "
    f"WITH DISTINCT n, m, name, aliases {_PEOPLE}",
)
"""The people that the citizen's own memories mention, most first, with texts that may say what they are to it."""


class Stated(NamedTuple):
    """A text in which somebody speaks of themselves."""

    memory_id: str
    description: str
    name: str
    source: str
    speaker: str | None
    valid_at: Instant
    created_at: Instant

    @property
    def text(self) -> str:
        return self.description or self.name


class PersonRow(NamedTuple):
    """A person with the number of own memories that mention it, and the texts that may tell its relation.

    `made`: of a name in some text.
    """

    node_id: str
    name: str
    aliases: tuple[str, ...]
    appearances: int
    texts: list[str]
    made: bool = False


class OwnVoice(NamedTuple):
    """What counts as the citizen's own: memories without a speaker of these sources, and those of these speakers.

    `roles`: names that are no people. `possessives`: words by which a text says what somebody is to its writer.
    """

    sources: tuple[str, ...]
    speakers: tuple[str, ...]
    roles: tuple[str, ...]
    possessives: tuple[str, ...]


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


async def read_statements(target: GraphTarget, scope: Scope) -> list[Stated]:
    """The texts of the moment in which somebody speaks of themselves, the latest first. Raises as `Graph.read`."""
    query = STATED_THEN if target.past else STATED_NOW
    return [Stated(*row) for row in await target.graph.read(query, **scope.bounds(), self=SELF_ID)]


async def read_people(target: GraphTarget, scope: Scope, voice: OwnVoice) -> list[PersonRow]:
    """The people that the citizen's own memories mention at the moment, most first. Raises as `Graph.read`."""
    person_rows = await target.graph.read(
        PEOPLE_THEN if target.past else PEOPLE_NOW,
        **scope.bounds(),
        own_sources=list(voice.sources),
        own_speakers=list(voice.speakers),
        roles=list(voice.roles),
        possessives=list(voice.possessives),
    )
    people: dict[str, PersonRow] = {}
    for node_id, name, aliases, appearances, text, unset in person_rows:
        listed = tuple(orjson.loads(aliases)) if aliases else ()
        person = people.setdefault(node_id, PersonRow(node_id, name, listed, appearances, [], is_made(unset)))
        person.texts.extend([] if text is None else [text])
    return list(people.values())


async def read_entities(
    target: GraphTarget, scope: Scope, after: EntityPosition, *, roles: Sequence[str], limit: int, pool: int
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
        roles=list(roles),
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
