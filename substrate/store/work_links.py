"""The links of work: what solves a problem, what waits for what; and the states of the memories that they join."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from schemas.memory import ResolutionState
from schemas.temporal import END_OF_TIME, Period
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.shown_names import shown_name

RESOLVED_BY: Final = "RESOLVED_BY"
"""From a problem to what solves it."""
WAITS_FOR_TARGET: Final = ("BLOCKED_BY", "DEPENDS_ON")
"""The source of such a link waits for its target."""
WAITS_FOR_SOURCE: Final = ("BLOCKS", "UNBLOCKS")
"""The target of such a link waits for its source."""
WORK: Final = (RESOLVED_BY, *WAITS_FOR_TARGET, *WAITS_FOR_SOURCE)

LINKS_READ: Final = 20_000
"""A memory may have more links than can be read within the deadline of a query."""
SHOWN_CHARACTERS: Final = 200

_OPEN_LINKS: Final = (
    "UNWIND $ids AS id MATCH (i:ConsciousnessNode {id: id}) WITH i "
    "MATCH (i)-[e:LINK|PAST_LINK]-(o) WHERE e.expired_at = $open AND e.valid_at < $valid_to "
    "AND e.invalid_at > $valid_from AND e.resolution_state IN ['blocked', 'in_progress'] "
    "AND (e.relation_type IN $work OR $all AND (e.unset IS NULL OR NOT e.unset CONTAINS 'goal')) "
    "WITH i, e LIMIT $scanned "
)
OPEN_LINKS: Final = Query(
    "open_links",
    f"{_OPEN_LINKS} WITH i, e, CASE WHEN e.relation_type IN $work THEN 0 ELSE 1 END AS rank "
    "ORDER BY rank, e.id LIMIT $limit "
    "RETURN i.id, e.id, e.relation_type, startNode(e).id, endNode(e).id",
)
"""The links of some memories that are open in a stretch of valid time, those of work first. A link whose goal was
made is nobody's work."""

COUNT_OPEN_LINKS: Final = Query("count_open_links", f"{_OPEN_LINKS} RETURN count(DISTINCT e.id)")

WORK_STATES: Final = Query(
    "work_states",
    "UNWIND $ids AS id MATCH (i:ConsciousnessNode {id: id}) WITH i "
    "OPTIONAL MATCH (i)-[:HAD]->(p:PastVersion) WHERE p.expired_at = $open "
    "AND p.valid_at + 0 < $valid_to AND p.invalid_at > $valid_from "
    "WITH DISTINCT i, CASE WHEN p IS NULL THEN null ELSE coalesce(p.resolution_state, '') END AS other "
    "RETURN i.id, i.name, i.speaker, left(i.description, $characters), CASE WHEN i.expired_at = $open "
    "AND i.valid_at + 0 < $valid_to AND i.invalid_at > $valid_from "
    "THEN coalesce(i.resolution_state, '') ELSE null END, other",
)
"""The states of some memories in a stretch of valid time, none for one that does not hold then: a row for each
state beside the carried one."""


class WorkLink(NamedTuple):
    """An open link, seen from the memory `at`, which is one of its ends."""

    at: str
    id: str
    relation_type: str
    source_id: str
    target_id: str

    @property
    def waiting(self) -> str | None:
        """The end that waits for the other."""
        if self.relation_type in WAITS_FOR_TARGET:
            return self.source_id
        return self.target_id if self.relation_type in WAITS_FOR_SOURCE else None

    @property
    def awaited(self) -> str | None:
        """The end that the other waits for."""
        if self.relation_type in WAITS_FOR_TARGET:
            return self.target_id
        return self.source_id if self.relation_type in WAITS_FOR_SOURCE else None


class WorkState(NamedTuple):
    """The name of a memory as it is shown, and its states in a stretch of valid time ('' where it has none)."""

    name: str
    states: frozenset[str]

    @property
    def is_open(self) -> bool:
        return bool(self.states & {ResolutionState.BLOCKED.value, ResolutionState.IN_PROGRESS.value})

    @property
    def is_blocked(self) -> bool:
        return ResolutionState.BLOCKED.value in self.states

    @property
    def is_over(self) -> bool:
        """True when nothing of it is left to do: it is resolved, or does not hold."""
        return self.states <= {ResolutionState.RESOLVED.value}


async def read_open_links(
    graph: Graph, ids: Collection[str], window: Period, *, limit: int, work_only: bool = False
) -> list[WorkLink]:
    """At most `limit` links of these memories that are open in the window, each once for each of these ends."""
    values = _values(ids, window, limit=limit, scanned=LINKS_READ, work=list(WORK), all=not work_only)
    rows = await graph.read(OPEN_LINKS, **values)
    return list(dict.fromkeys(WorkLink(*map(str, row)) for row in rows))


async def count_open_links(graph: Graph, ids: Collection[str], window: Period) -> int:
    """How many links of these memories are open in the window, counted to `LINKS_READ`."""
    values = _values(ids, window, scanned=LINKS_READ, work=list(WORK), all=True)
    return int((await graph.read(COUNT_OPEN_LINKS, **values))[0][0])


async def read_work_states(graph: Graph, ids: Collection[str], window: Period) -> dict[str, WorkState]:
    """The states of these memories in the window, by id; a memory that does not exist is left out."""
    if not ids:
        return {}
    rows = await graph.read(WORK_STATES, **_values(ids, window, characters=SHOWN_CHARACTERS))
    states: dict[str, WorkState] = {}
    for memory_id, name, speaker, text, *held in rows:
        named = states.get(memory_id) or WorkState(shown_name(memory_id, name, speaker, text), frozenset())
        states[memory_id] = named._replace(states=named.states | {state for state in held if state is not None})
    return states


def _values(ids: Collection[str], window: Period, **others: Any) -> dict[str, Any]:
    wanted: Sequence[str] = sorted(ids)
    times = {"valid_from": window.start, "valid_to": window.end, "open": END_OF_TIME}
    return {"ids": wanted, **times, **others}
