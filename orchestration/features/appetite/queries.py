"""Reads what may wake a citizen: its open work, rules, plans and late words, and what others wrote since.

Every search has a bound, by an index or by the newest nodes of the graph: it does the same work however large the
graph is. One query reads the citizen's own graph, and one each of the shared ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from schemas.memory import GENERALISATION, GraphKey, HalfLives, Level, ResolutionState
from schemas.temporal import END_OF_TIME, Instant, Scope
from substrate.cypher.fragments import is_told, visible
from substrate.cypher.query import Query, QueryPair
from substrate.graphs.graph import GraphTarget
from substrate.store.feelings import OPEN_STATES
from substrate.store.rows import shown_name
from substrate.store.state_reads import NEWEST

MOST_OPEN: Final = 50
"""Of the open work so much is read: what pulls most, by what time has left of its energy."""
MOST_RULES: Final = 60
MOST_PLANNED: Final = 50
MOST_SAID: Final = 100
MOST_WAITING: Final = 50
MOST_FRESH: Final = 100
"""At most this many of the newest rules, of the memories that begin within the days to come, of the late words
that may plan something, of the memories to judge anew, and of the newest of others."""
TEXT_READ: Final = 240
"""Characters of a text that are read."""
SAID_WITHIN: Final = 30 * 86_400_000_000
AHEAD: Final = 7 * 86_400_000_000
"""Words of the last 30 days may plan something; what begins within 7 days is due. Microseconds."""
_MICROSECONDS_A_DAY: Final = "86400000000.0"

type Kind = Literal["open", "rule", "said", "planned", "waiting", "fresh"]

_COLUMNS: Final = (
    f"m.id, m.name, m.speaker, left(coalesce(m.description, ''), {TEXT_READ}), m.resolution_state, m.energy, "
    "m.goal, m.rule, m.valid_at, m.created_at"
)
_OWN: Final = "NOT toLower(coalesce(s.speaker, '')) IN $others"
_LEFT: Final = (
    f"s.energy * 2.0 ^ (($moment - s.valid_at) / {_MICROSECONDS_A_DAY} / -half) "
    "* CASE s.resolution_state WHEN 'blocked' THEN 1.5 ELSE 1.0 END"
)


def _open(label: str) -> str:
    return (
        f"MATCH (s:{label}) WHERE s.resolution_state IN $open WITH s WHERE {visible('s')} AND {_OWN} "
        f"AND {is_told('s')} "
        "WITH s, CASE s.resolution_state WHEN 'blocked' THEN $blocked ELSE $in_progress END AS half "
        f"WITH s, {_LEFT} AS left_of_it ORDER BY left_of_it DESC, s.valid_at DESC, s.id "
        f"LIMIT {MOST_OPEN} RETURN 'open' AS kind, s AS m"
    )


def _rules(label: str) -> str:
    return (
        f"MATCH (s:{label}) WHERE s.rule > '' WITH s WHERE {visible('s')} AND {_OWN} "
        f"WITH s ORDER BY s.valid_at DESC, s.id LIMIT {MOST_RULES} RETURN 'rule' AS kind, s AS m"
    )


_SAID: Final = (
    f"CALL db.meta.stats() YIELD nodeCount WITH nodeCount - {NEWEST} AS first "
    f"MATCH (s:ConsciousnessNode) WHERE id(s) >= first WITH s WHERE {visible('s')} AND {_OWN} AND {is_told('s')} "
    "AND s.valid_at + 0 > $said_after AND s.name_key IS NULL AND coalesce(s.resolution_state, '') <> 'resolved' "
    f"WITH s ORDER BY s.valid_at DESC, s.id LIMIT {MOST_SAID} RETURN 'said' AS kind, s AS m"
)
_PLANNED: Final = (
    "MATCH (s:ConsciousnessNode) WHERE s.valid_at > $moment AND s.valid_at < $ahead WITH s "
    f"WHERE s.expired_at = $until AND s.created_at < $known_to AND {_OWN} "
    f"WITH s ORDER BY s.valid_at, s.id LIMIT {MOST_PLANNED} RETURN 'planned' AS kind, s AS m"
)
_WAITING: Final = (
    "MATCH (a:Revaluation) WHERE a.waiting = true WITH a ORDER BY a.asked_at DESC, a.memory_id "
    f"LIMIT {MOST_WAITING} MATCH (s:ConsciousnessNode {{id: a.memory_id}}) RETURN 'waiting' AS kind, s AS m"
)


def _either(*branches: str) -> str:
    return f"CALL {{ {' UNION ALL '.join(branches)} }} RETURN kind, {_COLUMNS}"


def _due(*labels: str) -> tuple[str, ...]:
    return (*map(_rules, labels), _SAID, _PLANNED)


def _own(*labels: str) -> str:
    return _either(*map(_open, labels), *_due(*labels), _WAITING)


OWN: Final = QueryPair.of("appetite_own", _own("ConsciousnessNode"), _own("ConsciousnessNode", "PastVersion"))
DUE: Final = QueryPair.of(
    "appetite_due", _either(*_due("ConsciousnessNode")), _either(*_due("ConsciousnessNode", "PastVersion"))
)
"""What may come due alone: ordering all open work by what is left of it costs most in a large graph."""

FRESH: Final = Query(
    "appetite_fresh",
    f"CALL db.meta.stats() YIELD nodeCount WITH nodeCount - {NEWEST} AS first "
    f"MATCH (s:ConsciousnessNode) WHERE id(s) >= first AND s.created_at > $since WITH s WHERE {visible('s')} "
    f"AND s.node_type <> '{GENERALISATION}' AND coalesce(s.author, '') <> $citizen "
    "WITH s ORDER BY s.created_at DESC, s.id WITH collect(s) AS fresh "
    f"WITH fresh[..{MOST_FRESH}] AS shown, size(fresh) AS count UNWIND shown AS m "
    f"RETURN 'fresh', {_COLUMNS}, count",
)
"""What others wrote into a shared graph since a moment, the newest first, and how much that is."""


class Stirring(NamedTuple):
    """A memory that may wake a citizen, and why it was read (`kind`). `text`: its beginning; `name` as shown."""

    kind: Kind
    graph: GraphKey
    id: str
    name: str
    speaker: str | None
    text: str
    work: str | None
    energy: float
    goal: str | None
    rule: str | None
    valid_at: Instant
    created_at: Instant


class Fresh(NamedTuple):
    """What others wrote into a shared graph: how many memories, and the newest of them."""

    total: int = 0
    newest: Sequence[Stirring] = ()


async def read_own(
    target: GraphTarget, scope: Scope, half_lives: HalfLives, *, others: Sequence[str]
) -> list[Stirring]:
    """What may wake the citizen in its own graph. `others`: speakers whose words are not its own, in lower case.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    found = await target.read(
        OWN,
        scope,
        **_due_values(scope, others),
        open=list(OPEN_STATES),
        blocked=getattr(half_lives, ResolutionState.BLOCKED.value),
        in_progress=getattr(half_lives, ResolutionState.IN_PROGRESS.value),
    )
    return [_stirring(Level.N1, row) for row in found]


async def read_due(target: GraphTarget, scope: Scope, *, others: Sequence[str]) -> list[Stirring]:
    """What may come due in the citizen's own graph: rules, plans and late words; raises as `read_own`."""
    found = await target.read(DUE, scope, **_due_values(scope, others))
    return [_stirring(Level.N1, row) for row in found]


def is_late(memory: Stirring, moment: Instant) -> bool:
    """Whether what was said is late enough to plan something at this moment."""
    return memory.valid_at > moment - SAID_WITHIN


def _due_values(scope: Scope, others: Sequence[str]) -> dict[str, Any]:
    moment = scope.valid.start
    times = {"moment": moment, "ahead": moment + AHEAD, "said_after": moment - SAID_WITHIN, "until": END_OF_TIME}
    return {**times, "others": list(others)}


async def read_fresh(target: GraphTarget, scope: Scope, since: Instant, citizen_id: str) -> Fresh:
    """What others wrote into a shared graph after a moment; raises as `read_own`."""
    found = await target.graph.read(FRESH, **scope.bounds(), since=since, citizen=citizen_id)
    newest = tuple(_stirring(target.key, row[:-1]) for row in found)
    return Fresh(int(found[0][-1]) if found else 0, newest)


def _stirring(graph: GraphKey, row: Sequence[Any]) -> Stirring:
    kind, memory_id, name, speaker, text, work, energy, goal, rule, valid_at, created_at = row
    shown = shown_name(memory_id, name, speaker, text)
    said = text or name
    times = (int(valid_at), int(created_at))
    return Stirring(kind, graph, memory_id, shown, speaker, said, work, float(energy), goal, rule, *times)
