"""Reads what a citizen felt and wanted of late, and the links of what is on its mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import orjson

from schemas.memory import ConsciousnessRelationship
from schemas.temporal import Instant, Scope
from substrate.connection.pool import Row
from substrate.cypher.fragments import degree_now, is_told, link_columns, visible
from substrate.cypher.query import Query, QueryPair
from substrate.emotions import normal_emotions
from substrate.graphs.graph import GraphTarget
from substrate.store.rows import link_with_ends
from substrate.store.state_reads import find_newest, read_for_state, state_query

OPEN_STATES: Final = ("in_progress", "blocked")
MOST: Final = 64
"""At most this many of the newest memories with a feeling, a goal or open work are read."""

_COLUMNS: Final = tuple(
    f"m.{name}"
    for name in (
        "id", "valid_at", "emotion_vector", "energy", "goal", "resolution_state", "speaker", "unset"
    )
)  # fmt: skip


def _felt_lately(label: str) -> str:
    return (
        f"MATCH (m:{label}) WHERE id(m) >= $newest AND id(m) < $until WITH m "
        f"WHERE {visible('m')} AND {is_told('m')} "
        "AND (m.emotion_vector IS NOT NULL OR m.goal IS NOT NULL OR m.resolution_state IN $open) "
        f"WITH m ORDER BY m.valid_at DESC, m.id, m.version LIMIT {MOST} "
    )


FELT_LATELY_NOW: Final = state_query("felt_lately_now", _felt_lately("ConsciousnessNode"), _COLUMNS)
FELT_LATELY_THEN: Final = Query(
    "felt_lately_then",
    " UNION ALL ".join(
        f"{_felt_lately(label)} RETURN {', '.join(_COLUMNS)}" for label in ("ConsciousnessNode", "PastVersion")
    ),
)


MOST_LINKS: Final = 200
"""This many links of what is on the mind are read, by id."""
CROWDED: Final = 500
"""The links of a memory with more links are not read: they say who is meant, not what is open."""


def _links_on_mind(link: str) -> str:
    return (
        f"MATCH (s:ConsciousnessNode) WHERE s.id IN $ids WITH s WHERE {degree_now('s')} <= {CROWDED} "
        f"MATCH (s)-[e:{link}]-(:ConsciousnessNode) WHERE {visible('e')} WITH DISTINCT e "
        f"WITH e, startNode(e) AS i, endNode(e) AS j ORDER BY e.id LIMIT {MOST_LINKS} "
        f"RETURN i.id, j.id, {link_columns('e')}"
    )


LINKS_ON_MIND: Final = QueryPair.of("links_on_mind", _links_on_mind("LINK"), _links_on_mind("LINK|PAST_LINK"))


async def read_links_on_mind(
    target: GraphTarget, scope: Scope, ids: Sequence[str]
) -> list[ConsciousnessRelationship]:
    """The links of these memories, whatever is at their other ends. Raises StoreTimeout, Unavailable, Fault."""
    found = await target.read(LINKS_ON_MIND, scope, ids=list(ids))
    return [link_with_ends(row, target.key, scope.known.end) for row in found]


class FeltMemory(NamedTuple):
    """What a memory says of its citizen's state. `emotions` by normal name; `work`: the resolution state. `unset`:
    the fields that its writer left out."""

    memory_id: str
    valid_at: Instant
    emotions: Mapping[str, float]
    energy: float
    goal: str | None
    work: str | None
    speaker: str | None
    unset: frozenset[str]


async def read_felt_lately(target: GraphTarget, scope: Scope) -> list[FeltMemory]:
    """The newest memories of the scope that have a feeling, a goal or open work, newest first; at most `MOST`."""
    newest = await find_newest(target, scope)
    values = {**scope.bounds(), "newest": newest.start, "until": newest.end, "open": list(OPEN_STATES)}
    if target.past:
        return _newest_first(await target.graph.read(FELT_LATELY_THEN, **values))
    return await read_for_state(target, "felt_lately", FELT_LATELY_NOW, values, make=_newest_first)


def _newest_first(rows: Sequence[Row]) -> list[FeltMemory]:
    memories: list[FeltMemory] = []
    for memory_id, valid_at, emotions, energy, goal, work, speaker, unset in rows:
        felt = normal_emotions(orjson.loads(emotions)) if emotions else {}
        left_out = frozenset((unset or "").split(","))
        memories.append(FeltMemory(memory_id, valid_at, felt, float(energy), goal, work, speaker, left_out))
    return sorted(memories, key=lambda memory: (-memory.valid_at, memory.memory_id))[:MOST]
