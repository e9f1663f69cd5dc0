"""Reads what was told in plain words, without a given state, goal or feeling: open, new, or told after others.

Rows have the columns of `substrate.store.search`. Every search has a bound: it does the same work however large
the graph is.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from schemas.intention import Filters
from schemas.temporal import Instant, Scope
from substrate.cypher.fragments import fits, found_columns, link_columns, visible
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.feelings import OPEN_STATES
from substrate.store.filters import filter_values
from substrate.store.newest import NodeRange, find_newest

MOST_OPEN: Final = 60
MOST_NEW: Final = 60
"""At most so many open memories, those that changed last, and so many of the newest."""
REACH: Final = 100
"""The memories told after one are looked for among so many nodes that were written after it."""
MOST_AFTER: Final = 8
MOST_SOLVED: Final = 40
"""At most so many memories after one, the first; and so many resolutions in all."""

_OWN: Final = f"s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others AND {fits('s')}"
_COLUMNS: Final = f"{link_columns('e')}, {found_columns('m')}"


def _lately(label: str) -> str:
    return (
        f"MATCH (s:{label}) WHERE s.resolution_state IN $open WITH s WHERE {visible('s')} AND {_OWN} "
        "AND s.unset CONTAINS 'resolution_state' "
        f"WITH s ORDER BY s.valid_at DESC, s.id, s.version LIMIT {MOST_OPEN} RETURN s "
        f"UNION ALL MATCH (s:{label}) WHERE id(s) >= $newest AND id(s) < $until WITH s "
        f"WHERE {visible('s')} AND {_OWN} "
        f"WITH s ORDER BY s.valid_at DESC, s.id, s.version LIMIT {MOST_NEW} RETURN s "
    )


def _told_lately(*labels: str) -> str:
    return (
        f"CALL {{ {'UNION ALL '.join(map(_lately, labels))} }} WITH DISTINCT s AS m, null AS e "
        f"RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target, {_COLUMNS}"
    )


_FIRST: Final = (
    f"WITH i, j, s ORDER BY id(j), s.version WITH i, collect(s)[..{MOST_AFTER}] AS said UNWIND said AS m "
)
"""In the order in which the memories were written: a record that is closed moves to a node of its own."""
_NO_LINK: Final = "WITH DISTINCT m, null AS e RETURN 0 AS hop, 0.0 AS score, null AS source, null AS target"
_LINK: Final = "RETURN 1 AS hop, 0.0 AS score, startNode(e).id, endNode(e).id"


def _records(identity: str, carried: str) -> str:
    """The records `s` of a memory in the scope, for any moment; other variables stay bound."""
    return (
        f"OPTIONAL MATCH ({identity})-[:HAD]->(p:PastVersion) WHERE {visible('p')} "
        f"WITH {carried}, {identity}, collect(p) AS past "
        f"UNWIND (past + CASE WHEN {visible(identity)} THEN [{identity}] ELSE [] END) AS s "
        f"WITH {carried}, {identity}, s "
    )


def _after(record: str) -> str:
    """`record`: from the memory `j`, told after `i`, to its records `s`. Each node is sought by its number."""
    return (
        f"MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i UNWIND range(id(i) + 1, id(i) + {REACH}) AS place "
        "MATCH (j:ConsciousnessNode) WHERE id(j) = place "
        f"WITH i, j WHERE j.episode_id = i.episode_id {record} WHERE {_OWN} {_FIRST} {_NO_LINK}, {_COLUMNS}"
    )


def _solved(link: str, record: str) -> str:
    return (
        f"MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i MATCH (i)-[e:{link}]->(j:ConsciousnessNode) "
        f"WHERE e.relation_type = 'RESOLVED_BY' AND {visible('e')} {record} WHERE {fits('s')} "
        f"WITH e, s AS m ORDER BY e.valid_at DESC, e.id, m.version LIMIT {MOST_SOLVED} {_LINK}, {_COLUMNS}"
    )


class ToldQueries(NamedTuple):
    """The queries for the present, or for other moments.

    `lately`: the memories that say of open work, and the newest. `after`: what was told in the same conversation
    shortly after some memories. `solved`: what resolved some memories, with the links.
    """

    lately: Query
    after: Query
    solved: Query


_THE_PRESENT: Final = f"WITH {{0}}, j, j AS s WHERE {visible('s')} WITH {{0}}, j, s "

NOW: Final = ToldQueries(
    Query("told_lately_now", _told_lately("ConsciousnessNode")),
    Query("told_after_now", _after(_THE_PRESENT.format("i"))),
    Query("told_solved_now", _solved("LINK", _THE_PRESENT.format("e"))),
)
THEN: Final = ToldQueries(
    Query("told_lately_then", _told_lately("ConsciousnessNode", "PastVersion")),
    Query("told_after_then", _after(_records("j", "i"))),
    Query("told_solved_then", _solved("LINK|PAST_LINK", _records("j", "e"))),
)


TOLD_EARLIER: Final = Query(
    "told_earlier",
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i MATCH (i)-[:HAD]->(p:PastVersion) "
    f"WHERE p.created_at < $known_to AND p.valid_at < $valid_to AND NOT ({visible('p')}) "
    "RETURN i.id, min(p.valid_at), max(CASE WHEN p.resolution_state IN $open THEN 1 ELSE 0 END)",
)


class Earlier(NamedTuple):
    """What the earlier records of a memory say: since when it is told, and whether its work was open once."""

    begun: Instant
    was_open: bool


async def read_earlier(target: GraphTarget, scope: Scope, ids: list[str]) -> dict[str, Earlier]:
    """By id, what the earlier records of these memories say, as known in the scope; of those that have any.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    rows = await target.graph.read(TOLD_EARLIER, **scope.bounds(), ids=ids, open=list(OPEN_STATES))
    return {memory_id: Earlier(int(begun), bool(was_open)) for memory_id, begun, was_open in rows}


async def lately_values(
    target: GraphTarget, scope: Scope, others: list[str], filters: Filters | None
) -> dict[str, Any]:
    """The parameters of `lately`. `others`: the speakers whose words are not the citizen's, in lower case.

    With filters the newest of all memories that pass are sought. Raises GraphMissing, StoreTimeout, Unavailable,
    Fault.
    """
    filtered = filter_values(filters)
    newest = await find_newest(target, scope) if filtered["unfiltered"] else NodeRange(0)
    return {
        **scope.bounds(),
        **filtered,
        "newest": newest.start,
        "until": newest.end,
        "open": list(OPEN_STATES),
        "others": others,
    }


def after_values(scope: Scope, ids: list[str], others: list[str], filters: Filters | None) -> dict[str, Any]:
    """The parameters of `after` for some memories."""
    return {**scope.bounds(), **filter_values(filters), "ids": ids, "others": others}
