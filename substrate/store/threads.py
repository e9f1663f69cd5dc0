"""Work: open threads, whose state was inferred from words, and the links of what waits for what or solves it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from schemas.memory import SOLVING, ResolutionState
from schemas.temporal import END_OF_TIME, Instant, Period
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.rows import shown_name

MAX_OPEN: Final = 200
"""Only the this many newest open memories can be told as solved."""


def _open_threads(name: str, measured: str, distance: str) -> Query:
    return Query(
        name,
        "MATCH (n:ConsciousnessNode) WHERE n.resolution_state IN ['blocked', 'in_progress'] "
        "AND n.expired_at = $open AND n.valid_at < $before AND n.invalid_at > $before "
        "AND n.unset CONTAINS 'resolution_state' AND coalesce(n.speaker, '') = $speaker "
        f"WITH n ORDER BY n.valid_at DESC, n.id LIMIT $limit {measured} "
        f"RETURN n.id, n.name, n.description, n.valid_at, n.source, {distance}",
    )


OPEN_THREADS: Final = _open_threads(
    "open_threads", "OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)", "vec.cosineDistance(t.embedding, vecf32($embedding))"
)
OPEN_THREADS_BY_WORDS: Final = _open_threads("open_threads_by_words", "", "null")
"""For a text that has no embedding."""


STEPS_BETWEEN: Final = Query(
    "steps_between",
    "MATCH (o:ConsciousnessNode {id: $opened})-[:HAS_TRACE]->(a) WITH a "
    "MATCH (n:ConsciousnessNode) WHERE n.valid_at > $since AND n.valid_at < $before AND n.expired_at = $open "
    f"AND n.step IN {list(SOLVING)} AND coalesce(n.speaker, '') = $speaker WITH a, n MATCH (n)-[:HAS_TRACE]->(t) "
    "WITH n, vec.cosineDistance(t.embedding, a.embedding) AS from_open, "
    "vec.cosineDistance(t.embedding, vecf32($embedding)) AS from_solution "
    "WITH n, CASE WHEN from_open < from_solution THEN from_open ELSE from_solution END AS distance "
    "WHERE distance <= $far RETURN n.id ORDER BY distance, n.id LIMIT $limit",
)
"""The memories that tell a step between an open memory and its solution, nearest in meaning first."""


_INFERRED_END: Final = "{0}.resolution_state = 'resolved' AND {0}.unset CONTAINS 'resolution_state' "
ENDS_TOLD: Final = Query(
    "ends_told",
    f"MATCH (n:ConsciousnessNode) WHERE {_INFERRED_END.format('n')} AND n.created_at > $since "
    "AND n.expired_at = $open WITH n ORDER BY n.created_at DESC, n.id LIMIT $limit "
    "RETURN n.id, n.name, n.description, n.node_type, n.speaker, n.source, n.episode_id, n.valid_at",
)
"""What was told lately and is resolved by its own words: it may tell how something else ended."""
SOLVED_BY: Final = Query(
    "solved_by",
    "MATCH (s:ConsciousnessNode) WHERE s.id IN $ids AND (s.node_type = 'Turn' OR NOT $turns_alone) WITH s "
    "MATCH (n:ConsciousnessNode)-[e:LINK|PAST_LINK]->(s) WHERE e.relation_type = 'RESOLVED_BY' "
    f"AND {_INFERRED_END.format('n')} AND n.expired_at = $open AND NOT n.id IN $ids "
    "RETURN DISTINCT n.id, s.id, s.source ORDER BY n.id",
)
"""The threads, but for these memories, that were closed by inference because of these."""


class OpenMemory(NamedTuple):
    """A memory with an inferred open state. `distance`: of its meaning to the later text, None without vectors."""

    id: str
    name: str
    description: str | None
    valid_at: Instant
    source: str
    distance: float | None


class LaterText(NamedTuple):
    """A memory that may tell how something ended: its speaker, start and embedding."""

    speaker: str | None
    valid_at: Instant
    embedding: Sequence[float] | None


async def read_open_threads(graph: Graph, text: LaterText) -> list[OpenMemory]:
    """The open memories of the same speaker from before a text, newest first."""
    values: dict[str, Any] = {
        "speaker": text.speaker or "",
        "before": text.valid_at,
        "open": END_OF_TIME,
        "limit": MAX_OPEN,
    }
    if text.embedding is None:
        rows = await graph.read(OPEN_THREADS_BY_WORDS, **values)
    else:
        rows = await graph.read(OPEN_THREADS, **values, embedding=list(text.embedding))
    memories = (OpenMemory(*row) for row in rows)
    return [
        memory if memory.distance is None else memory._replace(distance=float(memory.distance))
        for memory in memories
    ]


async def read_ends(graph: Graph, since: Instant) -> list[dict[str, Any]]:
    """The fields of the newest memories, stored after `since`, that may tell how something ended."""
    names = ("id", "name", "description", "node_type", "speaker", "source", "episode_id", "valid_at")
    ends: list[dict[str, Any]] = []
    for row in await graph.read(ENDS_TOLD, since=since, open=END_OF_TIME, limit=MAX_OPEN):
        ends.append(dict(zip(names, row, strict=True)))
    return ends


async def read_steps(graph: Graph, opened: OpenMemory, text: LaterText, *, far: float, limit: int) -> list[str]:
    """The ids of at most `limit` steps between an open memory and the text that solves it, nearest first. `far`:
    the greatest cosine distance to one of the two. None for a text without an embedding."""
    if text.embedding is None:
        return []
    rows = await graph.read(
        STEPS_BETWEEN,
        opened=opened.id,
        since=opened.valid_at,
        before=text.valid_at,
        speaker=text.speaker or "",
        embedding=list(text.embedding),
        open=END_OF_TIME,
        far=far,
        limit=limit,
    )
    return [str(row[0]) for row in rows]


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
