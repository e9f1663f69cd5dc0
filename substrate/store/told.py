"""Reads what was told in plain words, without a given state, goal or feeling, and the links between it.

Rows have the columns of `substrate.store.search`. Every search has a bound: it does the same work however large
the graph is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from schemas.intention import Filters
from schemas.temporal import Instant, Scope
from substrate.connection.graph_columns import GraphColumns
from substrate.connection.pool import Row
from substrate.cypher.fragments import (
    LINK_COLUMNS,
    each_found_column,
    fits,
    found_columns,
    is_statement,
    link_columns,
    records_of,
    thin_columns,
    visible,
)
from substrate.cypher.query import Query
from substrate.graphs.graph import GraphTarget
from substrate.store.feelings import OPEN_STATES
from substrate.store.filters import filter_values
from substrate.store.found_records import read_memories
from substrate.store.search import FoundRow
from substrate.store.state_reads import find_newest, read_each_for_state, read_for_state, state_query

MOST_OPEN: Final = 60
MOST_NEW: Final = 60
"""At most this many open memories, those that changed last, and this many of the newest."""
REACH: Final = 100
"""The memories told after one are looked for among this many nodes that were written after it."""
MOST_AFTER: Final = 8
MOST_SOLVED: Final = 40
"""At most this many memories after one, the first; and this many resolutions in all."""

_OWN: Final = (
    "s.description <> '' AND NOT toLower(coalesce(s.speaker, '')) IN $others "
    f"AND {fits('s')} AND {is_statement('s')}"
)
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


_AFTER: Final = (
    f"MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i UNWIND range(id(i) + 1, id(i) + {REACH}) AS place "
    "MATCH (j:ConsciousnessNode) WHERE id(j) = place WITH i, j WHERE j.episode_id = i.episode_id "
)
"""The memories `j` that were told after `i`. Each node is sought by its number."""
_SOLVED: Final = (
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i MATCH (i)-[e:{}]->(j:ConsciousnessNode) "
    f"WHERE e.relation_type = 'RESOLVED_BY' AND {visible('e')} "
)


def _after(record: str) -> str:
    """`record`: from the memory `j` to its records `s`."""
    return f"{_AFTER} {record} WHERE {_OWN} {_FIRST} {_NO_LINK}, {_COLUMNS}"


def _solved(link: str, record: str) -> str:
    return (
        f"{_SOLVED.format(link)} {record} WHERE {fits('s')} "
        f"WITH e, s AS m ORDER BY e.valid_at DESC, e.id, m.version LIMIT {MOST_SOLVED} {_LINK}, {_COLUMNS}"
    )


class ToldQueries(NamedTuple):
    """The queries for the present, or for other moments.

    `lately`: the memories that say of work in some states, and the newest. `after`: what was told in the same
    conversation shortly after some memories. `solved`: what resolved some memories, with the links.
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
"""For a waking with filters."""
THEN: Final = ToldQueries(
    Query("told_lately_then", _told_lately("ConsciousnessNode", "PastVersion")),
    Query("told_after_then", _after(records_of("j", "s", "i"))),
    Query("told_solved_then", _solved("LINK|PAST_LINK", records_of("j", "s", "e"))),
)


TOLD_EARLIER: Final = state_query(
    "told_earlier",
    "MATCH (i:ConsciousnessNode) WHERE i.id IN $ids WITH i MATCH (i)-[:HAD]->(p:PastVersion) "
    f"WHERE p.created_at < $known_to AND p.valid_at < $valid_to AND NOT ({visible('p')}) "
    "WITH i, min(p.valid_at) AS begun, max(CASE WHEN p.resolution_state IN $open THEN 1 ELSE 0 END) AS was_open",
    ("i.id", "begun", "was_open"),
)

_PRESENT: Final = _THE_PRESENT.format("i")
_THIN: Final = tuple(thin_columns("m").split(", "))
LATELY_THIN: Final = state_query(
    "told_lately_thin", f"CALL {{ {_lately('ConsciousnessNode')} }} WITH DISTINCT s AS m", _THIN
)
AFTER_THIN: Final = state_query("told_after_thin", f"{_AFTER} {_PRESENT} WHERE {_OWN} {_FIRST}", ("i.id", *_THIN))
SOLVED_THIN: Final = state_query(
    "told_solved_thin",
    f"{_SOLVED.format('LINK')} {_THE_PRESENT.format('i, e')} WHERE {fits('s')} WITH i, e, s AS m",
    ("i.id", "startNode(e).id", "endNode(e).id", *_THIN, *link_columns("e").split(", ")),
)
"""The same as `NOW` without filters: kept for the state of the graph, `after` and `solved` by memory."""


class Earlier(NamedTuple):
    """What the earlier records of a memory say: since when it is told, and whether its work was open once."""

    begun: Instant
    was_open: bool


async def read_earlier(target: GraphTarget, scope: Scope, ids: list[str]) -> dict[str, Earlier]:
    """By id, what the earlier records of these memories say, as known in the scope; of those that have any."""
    values = {**scope.bounds(), "open": list(OPEN_STATES)}
    rows = await read_each_for_state(target, "told_earlier", TOLD_EARLIER, values, ids=ids)
    return {name: Earlier(int(row[1]), bool(row[2])) for name, own in rows.items() for row in own}


async def read_lately(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """What `NOW.lately` finds, without filters. Raises GraphMissing, StoreTimeout, Unavailable, Fault."""
    key = ("told_lately", *values["open"])
    return await _alone(target, await read_for_state(target, key, LATELY_THIN, values, make=list))


async def read_after(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The same of `NOW.after`."""
    by_id = await read_each_for_state(target, "told_after", AFTER_THIN, values, ids=values["ids"])
    return await _alone(target, [row[1:] for rows in by_id.values() for row in rows])


async def read_solved(target: GraphTarget, values: Mapping[str, Any]) -> list[Row]:
    """The same of `NOW.solved`."""
    by_id = await read_each_for_state(target, "told_solved", SOLVED_THIN, values, ids=values["ids"])
    solved = [row[1:] for rows in by_id.values() for row in rows]
    solved.sort(key=lambda row: (-row[_SINCE], row[_LINK_ID], row[3]))
    first, columns = solved[:MOST_SOLVED], target.columns or GraphColumns()
    versions = [(columns.slot(row[2]), row[3], row[4], row[5]) for row in first]
    memories = await read_memories(target.graph, columns, versions)
    rows: list[Row] = []
    for (source, target_id, *rest), memory in zip(first, memories, strict=True):
        if memory is not None:
            link = columns.take_link(rest[len(_THIN) :], source, target_id)
            rows.append(FoundRow(1, 0.0, source, target_id, link, memory))
    return rows


_LINK_START: Final = 2 + len(_THIN)
"""Of a row of `SOLVED_THIN` without its first column: after the ids of the ends and the name of the memory."""
_SINCE, _LINK_ID = (_LINK_START + LINK_COLUMNS.index(name) for name in ("valid_at", "id"))


async def _alone(target: GraphTarget, thin_rows: Iterable[Row]) -> list[Row]:
    """Rows of memories without links, each once, given by their `thin_columns`."""
    columns = target.columns or GraphColumns()
    versions = list(dict.fromkeys((columns.slot(row[0]), row[1], row[2], row[3]) for row in thin_rows))
    memories = await read_memories(target.graph, columns, versions)
    return [FoundRow(0, 0.0, None, None, None, memory) for memory in memories if memory is not None]


async def lately_values(
    target: GraphTarget, scope: Scope, others: list[str], filters: Filters | None, *, states: Sequence[str]
) -> dict[str, Any]:
    """The parameters of `lately`. `others`: the speakers whose words are not the citizen's, in lower case.
    `states`: what says how its work stands is sought of all times where it is in one of these."""
    values = {**scope.bounds(), **filter_values(filters), "open": list(states), "others": others}
    newest = await find_newest(target, scope, filters)
    return {**values, "newest": newest.start, "until": newest.end}


def after_values(scope: Scope, ids: list[str], others: list[str], filters: Filters | None) -> dict[str, Any]:
    """The parameters of `after` for some memories."""
    return {**scope.bounds(), **filter_values(filters), "ids": ids, "others": others}


MAX_LINKS_BETWEEN: Final = 200
"""This many links between memories are read, the strongest: a stream shows no more of one level."""
MAX_SAID_NEXT: Final = 8
"""This many memories that were said right after are read, the first ones."""


def _between(link: str, record: str) -> str:
    said_next = f"(i)-[e:{link}]->(j:ConsciousnessNode) WHERE e.relation_type = 'NEXT' AND {visible('e')}"
    told = "MATCH (i:ConsciousnessNode) WHERE i.id IN $told WITH i"
    return (
        f"CALL {{ {told} MATCH {said_next} AND NOT j.id IN $ids {record} "
        f"WHERE {visible('m')} AND {fits('m')} AND NOT coalesce(m.resolution_state, '') IN $hidden "
        f"WITH e, m ORDER BY e.valid_at, e.id, m.version LIMIT {MAX_SAID_NEXT} RETURN e, m "
        f"UNION ALL {told} OPTIONAL MATCH {said_next} WITH collect(j) AS next "
        "MATCH (s:ConsciousnessNode) WHERE s.id IN $ids WITH next, collect(s) AS own WITH next + own AS shown "
        f"UNWIND shown AS s WITH DISTINCT s, shown MATCH (s)-[e:{link}]->(o:ConsciousnessNode) "
        f"WHERE o IN shown AND {visible('e')} "
        f"RETURN e, null AS m ORDER BY e.energy * e.confidence DESC, e.id LIMIT {MAX_LINKS_BETWEEN} }}"
    )


_BETWEEN_COLUMNS: Final = (
    "1", "null", "startNode(e).id", "endNode(e).id", *link_columns("e").split(", "), *each_found_column("m"),
)  # fmt: skip
BETWEEN_NOW: Final = state_query("between_now", _between("LINK", "WITH e, j AS m"), _BETWEEN_COLUMNS)
BETWEEN_THEN: Final = state_query(
    "between_then", _between("LINK|PAST_LINK", records_of("j", "m", "e")), _BETWEEN_COLUMNS
)
"""What was said right after the memories `$told`, and the links that hold between all of that and `$ids`; as rows
of `substrate.store.search`, those of the links without a memory."""


async def read_between(
    target: GraphTarget,
    scope: Scope,
    filters: Filters | None,
    *,
    ids: list[str],
    told: list[str],
    hidden: list[str],
) -> Sequence[Row]:
    """The rows of these queries, without what is in a state `hidden`. Raises StoreTimeout, Unavailable, Fault."""
    query = BETWEEN_THEN if target.past else BETWEEN_NOW
    values = {**filter_values(filters), "ids": ids, "told": told, "hidden": hidden}
    return await read_for_state(target, repr(values), query, {**scope.bounds(), **values}, make=list)
