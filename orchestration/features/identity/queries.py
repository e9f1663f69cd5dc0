"""Reads the entities that most memories of a citizen point to (000)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

import orjson

from orchestration.features.identity.values import (
    AttachedRule,
    IdentityEntity,
    SelfEntity,
    TemperamentPeriod,
    Value,
)
from schemas.memory import ConsciousnessNode, Level, Source
from schemas.temporal import BEGINNING_OF_TIME, END_OF_TIME, Instant, Period, Scope, to_datetime
from substrate.cypher.fragments import is_told, node_columns, records_of, visible
from substrate.cypher.query import Query, QueryPair
from substrate.graphs.graph import Graph, GraphTarget
from substrate.store import rows
from substrate.store.naming import SELF_ID
from substrate.store.rows import is_made
from substrate.store.state_reads import find_newest

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

ENTITIES: Final = QueryPair.of(
    "identity",
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND {visible('n')} AND {_NO_ROLE} "
    "WITH n, indegree(n, 'LINK') AS links WHERE links > 0 "
    "WITH n ORDER BY links DESC, n.id LIMIT $pool "
    f"MATCH (m:ConsciousnessNode)-[e:LINK]->(n) WHERE {visible('e')} AND {visible('m')} AND m.id <> n.id "
    f"AND {is_told('m')} "
    f"WITH n, n.name AS name, n.node_type AS type, collect(DISTINCT m) AS ms {_PAGE}",
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND {_NO_ROLE} "
    "WITH n, indegree(n, ['LINK', 'PAST_LINK']) AS links WHERE links > 0 "
    "WITH n ORDER BY links DESC, n.id LIMIT $pool "
    f"OPTIONAL MATCH (n)-[:HAD]->(p:PastVersion) WHERE {visible('p')} WITH n, collect(p) AS past "
    f"WITH n, head(past + CASE WHEN {visible('n')} THEN [n] ELSE [] END) AS was WHERE was IS NOT NULL "
    "WITH n, was.name AS name, was.node_type AS type "
    f"MATCH (j:ConsciousnessNode)-[e:LINK|PAST_LINK]->(n) WHERE {visible('e')} AND {is_told('j')} "
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
STATED: Final = QueryPair.of(
    "stated",
    "MATCH (n:ConsciousnessNode {id: $self}) WITH n MATCH (m:ConsciousnessNode)-[e:LINK]->(n) "
    f"WHERE {visible('e')} AND {visible('m')} WITH DISTINCT m {_LATEST_STATED}",
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
PEOPLE: Final = QueryPair.of(
    "people",
    f"MATCH (n:ConsciousnessNode) WHERE n.name_key IS NOT NULL AND n.node_type = 'Person' AND {visible('n')} "
    "AND NOT n.name_key IN $roles WITH n, indegree(n, 'LINK') AS links WHERE links > 0 "
    f"WITH n ORDER BY links DESC, n.id LIMIT {_PEOPLE_COUNTED} "
    "MATCH (m:ConsciousnessNode)-[e:LINK]->(n) "
    f"WHERE e.relation_type <> 'SAID_BY' AND {visible('e')} AND {visible('m')} AND m.id <> n.id AND {OWN} "
    f"WITH DISTINCT n, m, n.name AS name, n.aliases AS aliases {_PEOPLE}",
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


class StatementRow(NamedTuple):
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


type OwnVoice = Mapping[str, Sequence[str]]
"""What counts as the citizen's own, as parameters of the queries: memories without a speaker of `own_sources`, and
those of `own_speakers`. `roles`: names that are no people. `possessives`: words by which a text says what somebody
is to its writer."""


class EntityPosition(NamedTuple):
    """The last entity of the previous page; the default means the first page."""

    appearances: int = END_OF_TIME
    name: str = ""
    node_id: str = ""


async def read_statements(target: GraphTarget, scope: Scope) -> list[StatementRow]:
    """The texts of the moment in which somebody speaks of themselves, the latest first. Raises as `Graph.read`."""
    return [StatementRow(*row) for row in await target.read(STATED, scope, self=SELF_ID)]


async def read_people(target: GraphTarget, scope: Scope, voice: OwnVoice) -> list[PersonRow]:
    """The people that the citizen's own memories mention at the moment, most first. Raises as `Graph.read`."""
    person_rows = await target.read(PEOPLE, scope, **voice)
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
    place = {"fewer": after.appearances, "behind": after.name, "behind_id": after.node_id}
    mention_rows = await target.read(ENTITIES, scope, **place, limit=limit, pool=pool, roles=list(roles))
    entities: list[IdentityEntity] = []
    for (node_id, name, node_type, appearances), group in groupby(mention_rows, key=lambda row: tuple(row[:4])):
        emotions: dict[str, int] = {}
        ruled: list[AttachedRule] = []
        for *_, kind, value, memories in group:  # an emotion or a rule of the memories that link to it
            if kind == "emotion":
                emotions[value] = memories
            elif kind == "rule":
                ruled.append(AttachedRule(rule=value, memories=memories))
        entity = {"node_id": node_id, "name": name, "node_type": node_type, "appearances": appearances}
        entities.append(IdentityEntity(**entity, emotions=emotions, rules=tuple(ruled[:MAX_RULES])))
    return entities


_DECLARING: Final = (Source.CITIZEN.value, Source.SYSTEM.value)
"""What a tool or a file writes under the id of the self declares nothing."""
PERIODS: Final = 12
"""This many periods of `PERIOD_DAYS` are looked at, the last of which ends with the newest memory that felt."""
PERIOD_DAYS: Final = 30
PERIOD: Final = PERIOD_DAYS * 86_400_000_000
_FELT_READ: Final = 2_000
"""Of each period the feelings of this many memories are counted."""
_RULES_READ: Final = 20_000


def _selves(*, now: bool) -> str:
    link = "LINK" if now else "LINK|PAST_LINK"
    was = "WITH n, n AS was" if now else records_of("n", "was").rstrip()
    same = "WITH n, was, j, j AS m" if now else records_of("j", "m", "n, was").rstrip()
    return (
        "CALL { MATCH (n:ConsciousnessNode {id: $self}) RETURN n "
        "UNION MATCH (n:ConsciousnessNode) WHERE n.name_key IN $keys RETURN n } "
        f"WITH DISTINCT n {was} WHERE {visible('was')} "
        f"MATCH (j:ConsciousnessNode)-[e:{link}]->(n) WHERE {visible('e')} AND j.id <> n.id AND {is_told('j')} "
        f"WITH DISTINCT n, was, j {same} WHERE {visible('m')} "
        "RETURN n.id, was.name, was.node_type, was.unset, count(DISTINCT m.id) AS appearances "
        "ORDER BY appearances DESC, n.id LIMIT 8"
    )


SELVES: Final = QueryPair.of("selves", _selves(now=True), _selves(now=False))
"""The memories that may stand for the citizen, by id or name, with how many memories point to each."""
DECLARED: Final = Query(
    "declared_self",
    "MATCH (n:ConsciousnessNode {id: $self}) WITH n "
    f"{records_of('n', 'was')} WHERE {visible('was')} "
    "RETURN n.id, was.name, was.node_type, was.unset, was.source",
)
"""The memory with the id of the self, which nothing need point to."""


def _rules(label: str) -> str:
    return (
        f"MATCH (m:{label}) WHERE m.rule > '' AND {visible('m')} AND {is_told('m')} RETURN m LIMIT {_RULES_READ}"
    )


_BY_RULE: Final = (
    "WITH m ORDER BY m.valid_at, m.id "
    "WITH m.rule AS rule, count(DISTINCT m.id) AS memories, min(m.valid_at) AS since, collect(m.id) AS ids "
    "ORDER BY memories DESC, since, rule LIMIT $limit RETURN rule, memories, since, ids[size(ids) - 1]"
)
VALUES: Final = QueryPair.of(
    "values",
    f"CALL {{ {_rules('ConsciousnessNode')} }} {_BY_RULE}",
    f"CALL {{ {_rules('ConsciousnessNode')} UNION ALL {_rules('PastVersion')} }} {_BY_RULE}",
)
"""The rules that memories have, with how many have each, the first of them, and the id of the last."""


def _felt(label: str) -> str:
    return (
        f"MATCH (m:{label}) WHERE m.valid_at >= $last - (place + 1) * {PERIOD} "
        f"AND m.valid_at < $last - place * {PERIOD} "
        f"AND m.emotions IS NOT NULL AND {visible('m')} AND {is_told('m')} AND {OWN} "
        f"RETURN m LIMIT {_FELT_READ}"
    )


def _temperament(*labels: str) -> str:
    branches = " UNION ALL ".join(f"WITH place {_felt(label)}" for label in labels)
    return (
        f"UNWIND range(0, {PERIODS - 1}) AS place CALL {{ WITH place {branches.removeprefix('WITH place ')} }} "
        "UNWIND ([e IN m.emotions | e] + ['']) AS emotion "
        "WITH place, emotion, count(m) AS memories "
        "RETURN place, emotion, memories ORDER BY place DESC, memories DESC, emotion"
    )


TEMPERAMENT: Final = QueryPair.of(
    "temperament", _temperament("ConsciousnessNode"), _temperament("ConsciousnessNode", "PastVersion")
)
"""How many of the citizen's own memories had each feeling in each period before the moment; '' for any feeling."""


LAST_FELT: Final = Query(
    "last_felt",
    "MATCH (m:ConsciousnessNode) WHERE id(m) >= $newest AND id(m) < $until "
    f"AND m.emotions IS NOT NULL AND {visible('m')} RETURN max(m.valid_at)",
)
"""When the newest of the newest memories that felt anything began."""


async def read_self_entity(target: GraphTarget, scope: Scope, keys: Sequence[str]) -> SelfEntity | None:
    """The memory that stands for the citizen: that with the id `self` if the citizen wrote it, else that of its
    name to which most memories point, else what texts of it say of "I". `keys`: its names as they are looked up.
    """
    found: list[SelfEntity] = []
    for node_id, name, node_type, _, count in await target.read(SELVES, scope, self=SELF_ID, keys=list(keys)):
        one = {"node_id": node_id, "name": name, "node_type": node_type}
        found.append(SelfEntity(**one, appearances=count, declared=False))
    count = next((one.appearances for one in found if one.node_id == SELF_ID), 0)
    is_told = False
    for node_id, name, node_type, unset, source in await target.graph.read(
        DECLARED, **scope.bounds(), self=SELF_ID
    ):
        if source in _DECLARING and not is_made(unset):
            one = {"node_id": node_id, "name": name, "node_type": node_type}
            return SelfEntity(**one, appearances=count, declared=True)
        is_told = is_told or source in _DECLARING or is_made(unset)
    named = [one for one in found if one.node_id != SELF_ID]
    return next(iter([*named, *(found if is_told else ())]), None)


async def read_values(target: GraphTarget, scope: Scope, limit: int) -> tuple[Value, ...]:
    """At most `limit` rules of the memories at the moment, those of most memories first."""
    rows = await target.read(VALUES, scope, limit=limit)
    return tuple(
        Value(rule=rule, memories=memories, since=to_datetime(since), memory_id=memory_id)
        for rule, memories, since, memory_id in rows
    )


async def read_temperament(target: GraphTarget, scope: Scope, voice: OwnVoice) -> tuple[TemperamentPeriod, ...]:
    """What the citizen's own memories felt in each period, the earliest first."""
    newest = await find_newest(target, scope)
    felt = await target.graph.read(LAST_FELT, **scope.bounds(), newest=newest.start, until=newest.end)
    last = 1 + int(felt[0][0]) if felt and felt[0][0] is not None else scope.valid.end
    rows = await target.read(TEMPERAMENT, scope, last=last, **voice)
    periods = groupby(rows, key=lambda row: row[0])
    found: list[TemperamentPeriod] = []
    for place, counted in periods:
        counts = {str(emotion): int(memories) for _, emotion, memories in counted}
        start, end = (to_datetime(last - (int(place) + back) * PERIOD) for back in (1, 0))
        found.append(TemperamentPeriod(start=start, end=end, memories=counts.pop("", 0), emotions=counts))
    return tuple(found)


CLOSINGS: Final = Query(
    "closings",
    f"MATCH (p:PastVersion) WHERE p.expired_at < $known_to AND {is_told('p')} "
    "AND (p.expired_at > $ended_at OR (p.expired_at = $ended_at AND p.id > $memory_id)) "
    "WITH p ORDER BY p.expired_at, p.id LIMIT $limit RETURN p.expired_at, p.id, p.created_at",
)

_WITHIN: Final = "{0}.created_at <= until AND {0}.expired_at >= s.since AND {0}.created_at < $known_to"

AROUND: Final = Query(
    "around",
    "UNWIND $spans AS s MATCH (i:ConsciousnessNode {id: s.id}) WITH s, i "
    "OPTIONAL MATCH (i)-[:HAD]->(q:PastVersion) WHERE q.created_at >= s.until "
    "WITH s, i, min(q.created_at) AS next "
    "WITH s, i, CASE WHEN i.created_at >= s.until AND (next IS NULL OR i.created_at < next) "
    "THEN i.created_at ELSE coalesce(next, s.until) END AS until "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_WITHIN.format('p')} "
    "WITH s, i, until, collect(p) AS past "
    f"UNWIND (past + CASE WHEN {_WITHIN.format('i')} THEN [i] ELSE [] END) AS n RETURN {node_columns('n')}",
)

HELD_BEFORE: Final = Query(
    "held_before",
    "UNWIND $beliefs AS b MATCH (i:ConsciousnessNode {id: b.id}) WITH b, i MATCH (i)-[:HAD]->(p:PastVersion) "
    "WHERE p.created_at < b.begun AND p.name = b.name AND p.description = b.description "
    "RETURN b.place, p.created_at, p.expired_at",
)

_HELD: Final = (
    "{0}.created_at < $known_to AND {0}.expired_at >= $known_to "
    "AND {0}.name = b.name AND {0}.description = b.description"
)

HELD_THEN: Final = Query(
    "held_then",
    "UNWIND $beliefs AS b MATCH (i:ConsciousnessNode {id: b.id}) "
    f"OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE {_HELD.format('p')} WITH b, i, count(p) AS past "
    f"RETURN b.place, CASE WHEN past > 0 OR ({_HELD.format('i')}) THEN 1 ELSE 0 END",
)


class ClosingPosition(NamedTuple):
    """The sort key of a closing. Closings by one command on one memory have the same position."""

    ended_at: Instant = BEGINNING_OF_TIME
    memory_id: str = ""


class Closing(NamedTuple):
    """A closed record: its memory, and the end and start of its transaction time."""

    ended_at: Instant
    memory_id: str
    known_at: Instant

    @property
    def position(self) -> ClosingPosition:
        return ClosingPosition(self.ended_at, self.memory_id)


class HeldBelief(NamedTuple):
    """The name and description in a record of a memory, and the start of its transaction time."""

    memory_id: str
    name: str
    description: str
    known_at: Instant


async def read_closings(graph: Graph, after: ClosingPosition, *, known_to: Instant, limit: int) -> list[Closing]:
    """About `limit` closings after a position and before `known_to`. All closings of a position come together."""
    closed = await graph.read(CLOSINGS, **after._asdict(), known_to=known_to, limit=limit)
    closings = [Closing(*row) for row in closed]
    if len(closings) < limit or closings[0].position == closings[-1].position:
        return closings
    return [closing for closing in closings if closing.position != closings[-1].position]


async def read_around(graph: Graph, spans: Mapping[str, Period], known_to: Instant) -> list[ConsciousnessNode]:
    """The records known within the span of their memory, both ends included, and the first one opened after it.

    `spans`: transaction time by memory id. Only records opened before `known_to` are read.
    """
    values = [{"id": memory_id, "since": span.start, "until": span.end} for memory_id, span in spans.items()]
    records = await graph.read(AROUND, spans=values, known_to=known_to)
    return [rows.node(row, Level.N1, known_to) for row in records]


async def read_earlier(graph: Graph, beliefs: Sequence[HeldBelief]) -> list[list[Period]]:
    """For each belief, the transaction times of earlier records of its memory with equal name and description."""
    periods: defaultdict[int, list[Period]] = defaultdict(list)
    for index, known_at, ended_at in await graph.read(HELD_BEFORE, beliefs=_belief_values(beliefs)):
        periods[index].append(Period(known_at, ended_at))
    return [periods[index] for index in range(len(beliefs))]


async def read_held(graph: Graph, beliefs: Sequence[HeldBelief], known_to: Instant) -> frozenset[int]:
    """The places of the beliefs that were held just before `known_to`."""
    found = await graph.read(HELD_THEN, beliefs=_belief_values(beliefs), known_to=known_to)
    return frozenset(int(place) for place, held in found if held)


def _belief_values(beliefs: Sequence[HeldBelief]) -> list[dict[str, Any]]:
    names = ("id", "name", "description", "begun")
    return [{"place": place, **dict(zip(names, belief, strict=True))} for place, belief in enumerate(beliefs)]
