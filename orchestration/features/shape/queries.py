"""Reads the shape around memories: candidates by index, the links around them, and what each memory adds.

However large the graph, at most `POOL` candidates of each kind are read, and no link of a hub.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import batched, chain
from typing import Final, NamedTuple

from schemas.intention import Filters
from schemas.memory import ConsciousnessNode
from schemas.temporal import Instant, Scope
from substrate.connection.pool import Row
from substrate.cypher.fragments import HUB, MOST_FELT, degree_now, fits, found_columns, records_of, visible
from substrate.cypher.query import QueryPair
from substrate.graphs.graph import GraphTarget
from substrate.store import rows
from substrate.store.filters import filter_values
from substrate.store.state_reads import find_newest

POOL: Final = 200
"""At most this many candidates of each kind are compared."""
NEWEST_POOL: Final = 600
"""This many of the newest memories are compared."""
_STATES_READ: Final = 20_000
_STATES_FOLLOWED: Final = 2_000
"""This many memories of a state are looked at, and the links of this many are followed."""
_BATCH: Final = 250
"""The links of this many memories are read by one statement."""


def _ordered(condition: str, pool: int = POOL) -> str:
    """The best of the rows i by their own state, result and feelings."""
    return (
        f"WITH i WHERE {condition} "
        "WITH i, CASE WHEN i.resolution_state IN $states THEN 1 ELSE 0 END "
        "+ CASE WHEN toLower(i.result) = $result THEN 1 ELSE 0 END "
        "+ size([x IN coalesce(i.emotions, []) WHERE x IN $emotions]) AS alike "
        f"ORDER BY alike DESC, i.valid_at DESC, i.id LIMIT {pool} RETURN i "
    )


def _linked(link: str) -> str:
    """The memories at the other ends of the links of x, of types that the probe has."""
    return (
        f"MATCH (x)-[e:{link}]-(i:ConsciousnessNode) WHERE e.relation_type IN $types AND {visible('e')} "
        f"WITH i, count(e) AS shared ORDER BY shared DESC, i.id LIMIT {POOL} RETURN i "
    )


def _candidates(*, now: bool) -> str:
    link = "LINK" if now else "LINK|PAST_LINK"
    holds = f"{visible('i')} AND {fits('i')}" if now else "i.id IS NOT NULL"
    felt = (
        "UNWIND {names} AS name MATCH ({found}:ConsciousnessNode) WHERE name IN {found}.emotions "
        "WITH DISTINCT {found} ORDER BY {found}.valid_at DESC, {found}.id LIMIT {most} "
    )
    branches = [
        f"MATCH (i:ConsciousnessNode) WHERE i.resolution_state IN $states WITH i LIMIT {_STATES_READ} "
        + _ordered(holds),
        felt.format(names="$emotions", most=MOST_FELT, found="i") + _ordered(holds),
        f"MATCH (x:ConsciousnessNode) WHERE x.resolution_state IN $near_states WITH x LIMIT {_STATES_FOLLOWED} "
        + _linked(link),
        felt.format(names="$near_emotions", most=POOL // 2, found="x") + "WITH DISTINCT x " + _linked(link),
        "MATCH (i:ConsciousnessNode) WHERE id(i) >= $newest AND id(i) < $until " + _ordered(holds, NEWEST_POOL),
    ]
    if not now:
        branches.append(
            "MATCH (p:PastVersion) WHERE p.resolution_state IN $states "
            f"WITH p LIMIT {_STATES_READ} MATCH (i:ConsciousnessNode)-[:HAD]->(p) WITH DISTINCT i "
            + _ordered(holds)
        )
    record = "WITH i, i AS m" if now else records_of("i", "m").rstrip()
    return (
        f"CALL {{ {' UNION ALL '.join(branches)} }} WITH DISTINCT i {record} "
        f"WHERE {visible('m')} AND {fits('m')} AND m.node_type <> 'Session' RETURN DISTINCT i.id ORDER BY i.id"
    )


CANDIDATES: Final = QueryPair.of("shape_candidates", _candidates(now=True), _candidates(now=False))
"""Memories that may have a shape like that of the probe: of its state, of its feelings, linked as it is with
memories of the states and feelings of its neighbours, and the newest."""


def _steps(*, now: bool) -> str:
    link, ever = ("LINK", "'LINK'") if now else ("LINK|PAST_LINK", "['LINK', 'PAST_LINK']")
    held = degree_now("s") if now else f"indegree(s, {ever}) + outdegree(s, {ever})"
    return (
        f"MATCH (s:ConsciousnessNode) WHERE s.id IN $ids WITH s, {held} AS held WHERE held < {HUB} "
        f"MATCH (s)-[e:{link}]-(o:ConsciousnessNode) WHERE {visible('e')} "
        "RETURN DISTINCT s.id, CASE WHEN startNode(e).id = s.id THEN 1 ELSE 0 END, e.relation_type, o.id"
    )


STEPS: Final = QueryPair.of("shape_steps", _steps(now=True), _steps(now=False))
"""The links of memories that are no hubs."""


def _records(columns: str, *, now: bool) -> str:
    record = "WITH i, i AS m" if now else records_of("i", "m").rstrip()
    return (
        f"MATCH (i:ConsciousnessNode) WHERE i.id IN $ids {record} WHERE {visible('m')} "
        f"RETURN {columns} ORDER BY m.id, m.version"
    )


_MARK: Final = "m.id, m.resolution_state, m.result, string.join(coalesce(m.emotions, []), '|'), m.valid_at"
MARKS: Final = QueryPair.of("shape_marks", _records(_MARK, now=True), _records(_MARK, now=False))
"""What memories add to a shape: state, result, feelings and time."""
ALIKE: Final = QueryPair.of(
    "shape_alike", _records(found_columns("m"), now=True), _records(found_columns("m"), now=False)
)
"""The memories to show."""


class Mark(NamedTuple):
    """What a memory adds to a shape: its state of work, its result, the names of its feelings, and its time."""

    memory_id: str
    state: str | None
    result: str | None
    emotions: tuple[str, ...]
    valid_at: Instant


class Step(NamedTuple):
    """A link from the side of one of its ends: whether it leads away from it, its type, and the other end."""

    memory_id: str
    leaves: bool
    relation_type: str
    other_id: str


class Sought(NamedTuple):
    """The mark of the probe, those of the memories linked with it, and the types of these links."""

    probe: Mark
    near: Sequence[Mark]
    types: frozenset[str]


async def read_marks(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> dict[str, Mark]:
    """What these memories add to a shape, by id; one that is not visible in the scope has none."""
    marks = await _read_in_batches(target, MARKS, scope, ids)
    read = (Mark(row[0], row[1], row[2], tuple(filter(None, (row[3] or "").split("|"))), row[4]) for row in marks)
    return {mark.memory_id: mark for mark in read}


async def read_steps(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> list[Step]:
    """The links of these memories in the scope, from the side of each; those of a hub are left out."""
    found = await _read_in_batches(target, STEPS, scope, ids)
    steps = (Step(memory_id, leaves == 1, name, other) for memory_id, leaves, name, other in found)
    return list(dict.fromkeys(steps))


async def read_candidates(target: GraphTarget, scope: Scope, filters: Filters | None, sought: Sought) -> list[str]:
    """The ids of memories that may have such a shape and pass the filters. Raises as `Graph.read`."""
    probe, near = sought.probe, sought.near
    newest = await find_newest(target, scope)
    found = await target.read(
        CANDIDATES,
        scope,
        **filter_values(filters),
        states=[probe.state] if probe.state else [],
        result=(probe.result or "").lower(),
        emotions=list(probe.emotions),
        near_states=sorted({mark.state for mark in near if mark.state}),
        near_emotions=sorted({name for mark in near for name in mark.emotions}),
        types=sorted(sought.types),
        newest=newest.start,
        until=newest.end,
    )
    return [row[0] for row in found]


async def read_alike(target: GraphTarget, scope: Scope, ids: Sequence[str]) -> dict[str, ConsciousnessNode]:
    """These memories as they were in the scope, by id."""
    found = await target.read(ALIKE, scope, ids=list(ids))
    nodes = (rows.node(row, target.key, scope.known.end, retrieval_source="shape") for row in found)
    return {node.node_id: node for node in nodes}


async def _read_in_batches(target: GraphTarget, queries: QueryPair, scope: Scope, ids: Sequence[str]) -> list[Row]:
    batches = list(map(list, batched(dict.fromkeys(ids), _BATCH)))
    found = await asyncio.gather(*(target.read(queries, scope, ids=some) for some in batches))
    return list(chain.from_iterable(found))
