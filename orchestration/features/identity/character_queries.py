"""Reads what a citizen's own memories say of its character: itself, its rules, and what it felt month by month."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, NamedTuple

from orchestration.features.identity.queries import OWN, OwnVoice
from orchestration.features.identity.values import SelfEntity, TemperamentPeriod, Value
from schemas.memory import Source
from schemas.temporal import Instant, Scope, to_datetime
from substrate.cypher.fragments import records_of, told, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.naming import SELF_ID
from substrate.store.newest import find_newest
from substrate.store.rows import is_made

_DECLARING: Final = (Source.CITIZEN.value, Source.SYSTEM.value)
"""What a tool or a file writes under the id of the self declares nothing."""
PERIODS: Final = 12
"""So many periods of `PERIOD_DAYS` are looked at, the last of which ends with the newest memory that felt."""
PERIOD_DAYS: Final = 30
PERIOD: Final = PERIOD_DAYS * 86_400_000_000
_FELT_READ: Final = 2_000
"""Of each period the feelings of so many memories are counted."""
_RULES_READ: Final = 20_000


def _selves(*, now: bool) -> str:
    link = "LINK" if now else "LINK|PAST_LINK"
    was = "WITH n, n AS was" if now else records_of("n", "was").rstrip()
    same = "WITH n, was, j, j AS m" if now else records_of("j", "m", "n, was").rstrip()
    return (
        "CALL { MATCH (n:ConsciousnessNode {id: $self}) RETURN n "
        "UNION MATCH (n:ConsciousnessNode) WHERE n.name_key IN $keys RETURN n } "
        f"WITH DISTINCT n {was} WHERE {visible('was')} "
        f"MATCH (j:ConsciousnessNode)-[e:{link}]->(n) WHERE {visible('e')} AND j.id <> n.id AND {told('j')} "
        f"WITH DISTINCT n, was, j {same} WHERE {visible('m')} "
        "RETURN n.id, was.name, was.node_type, was.unset, count(DISTINCT m.id) AS appearances "
        "ORDER BY appearances DESC, n.id LIMIT 8"
    )


SELVES_NOW: Final = Query("selves_now", _selves(now=True))
SELVES_THEN: Final = Query("selves_then", _selves(now=False))
"""The memories that may stand for the citizen, by id or name, with how many memories point to each."""
DECLARED: Final = Query(
    "declared_self",
    "MATCH (n:ConsciousnessNode {id: $self}) WITH n "
    f"{records_of('n', 'was')} WHERE {visible('was')} "
    "RETURN n.id, was.name, was.node_type, was.unset, was.source",
)
"""The memory with the id of the self, which nothing need point to."""


def _rules(label: str) -> str:
    return f"MATCH (m:{label}) WHERE m.rule > '' AND {visible('m')} AND {told('m')} RETURN m LIMIT {_RULES_READ}"


_BY_RULE: Final = (
    "WITH m ORDER BY m.valid_at, m.id "
    "WITH m.rule AS rule, count(DISTINCT m.id) AS memories, min(m.valid_at) AS since, collect(m.id) AS ids "
    "ORDER BY memories DESC, since, rule LIMIT $limit RETURN rule, memories, since, ids[size(ids) - 1]"
)
VALUES_NOW: Final = Query("values_now", f"CALL {{ {_rules('ConsciousnessNode')} }} {_BY_RULE}")
VALUES_THEN: Final = Query(
    "values_then", f"CALL {{ {_rules('ConsciousnessNode')} UNION ALL {_rules('PastVersion')} }} {_BY_RULE}"
)
"""The rules that memories have, with how many have each, the first of them, and the id of the last."""


def _felt(label: str) -> str:
    return (
        f"MATCH (m:{label}) WHERE m.valid_at >= $last - (place + 1) * {PERIOD} "
        f"AND m.valid_at < $last - place * {PERIOD} "
        f"AND m.emotions IS NOT NULL AND {visible('m')} AND {told('m')} AND {OWN} "
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


TEMPERAMENT_NOW: Final = Query("temperament_now", _temperament("ConsciousnessNode"))
TEMPERAMENT_THEN: Final = Query("temperament_then", _temperament("ConsciousnessNode", "PastVersion"))
"""How many of the citizen's own memories had each feeling in each period before the moment; '' for any feeling."""


LAST_FELT: Final = Query(
    "last_felt",
    "MATCH (m:ConsciousnessNode) WHERE id(m) >= $newest AND id(m) < $until "
    f"AND m.emotions IS NOT NULL AND {visible('m')} RETURN max(m.valid_at)",
)
"""When the newest of the newest memories that felt anything began."""


class _Self(NamedTuple):
    """A row of `SELVES_*`."""

    node_id: str
    name: str
    node_type: str
    unset: str | None
    appearances: int = 0


async def read_self_entity(target: GraphTarget, scope: Scope, keys: Sequence[str]) -> SelfEntity | None:
    """The memory that stands for the citizen: that with the id `self` if the citizen wrote it, else that of its
    name to which most memories point, else what texts of it say of "I". `keys`: its names as they are looked up.
    """
    query = SELVES_THEN if target.past else SELVES_NOW
    values = {**scope.bounds(), "self": SELF_ID, "keys": list(keys)}
    found = [_Self(*row) for row in await target.graph.read(query, **values)]
    written = [(_Self(*row), source) for *row, source in await target.graph.read(DECLARED, **values)]
    own = [one for one, source in written if source in _DECLARING or is_made(one.unset)]
    declared = next((one for one in own if not is_made(one.unset)), None)
    if declared is not None:
        count = next((one.appearances for one in found if one.node_id == SELF_ID), 0)
        return SelfEntity(**_shown(declared), appearances=count, declared=True)
    named = [one for one in found if one.node_id != SELF_ID]
    best = next(iter([*named, *(found if own else ())]), None)
    return None if best is None else SelfEntity(**_shown(best), appearances=best.appearances, declared=False)


def _shown(one: _Self) -> dict[str, str]:
    return {"node_id": one.node_id, "name": one.name, "node_type": one.node_type}


async def read_values(target: GraphTarget, scope: Scope, limit: int) -> tuple[Value, ...]:
    """At most `limit` rules of the memories at the moment, those of most memories first."""
    rows = await target.graph.read(VALUES_THEN if target.past else VALUES_NOW, **scope.bounds(), limit=limit)
    return tuple(
        Value(rule=rule, memories=memories, since=to_datetime(since), memory_id=memory_id)
        for rule, memories, since, memory_id in rows
    )


async def read_temperament(target: GraphTarget, scope: Scope, voice: OwnVoice) -> tuple[TemperamentPeriod, ...]:
    """What the citizen's own memories felt in each period, the earliest first."""
    newest = await find_newest(target, scope)
    felt = await target.graph.read(LAST_FELT, **scope.bounds(), newest=newest.start, until=newest.end)
    last = 1 + int(felt[0][0]) if felt and felt[0][0] is not None else scope.valid.end
    rows = await target.graph.read(
        TEMPERAMENT_THEN if target.past else TEMPERAMENT_NOW,
        **scope.bounds(),
        last=last,
        own_sources=list(voice.sources),
        own_speakers=list(voice.speakers),
    )
    periods = groupby(rows, key=lambda row: row[0])
    return tuple(_period(int(place), list(counted), last) for place, counted in periods)


def _period(place: int, counted: Sequence[Sequence[object]], end: Instant) -> TemperamentPeriod:
    counts = {str(emotion): int(str(memories)) for _place, emotion, memories in counted}
    return TemperamentPeriod(
        start=to_datetime(end - (place + 1) * PERIOD),
        end=to_datetime(end - place * PERIOD),
        memories=counts.pop("", 0),
        emotions=counts,
    )
