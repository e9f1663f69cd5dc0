"""The open threads of a graph: memories whose state was inferred from words and is not resolved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from schemas.memory import SOLVING
from schemas.temporal import END_OF_TIME, Instant
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

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
    "open_threads",
    "OPTIONAL MATCH (n)-[:HAS_TRACE]->(t)",
    "vec.cosineDistance(t.embedding, vecf32($embedding))",
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
    """The ids of at most `limit` steps between an open memory and the text that solves it, nearest first.

    `far`: the greatest cosine distance to one of the two. None for a text without an embedding.
    """
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
