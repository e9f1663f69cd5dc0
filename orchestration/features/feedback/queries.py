"""Reads and writes what a citizen told of the answers to its questions: `Feedback` nodes in its own graph.

The stamp of the graph has the time of their last change, `feedback_at`; without feedback it has none. So a
question reads one number, and the records only after a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import orjson

from schemas.temporal import Instant
from substrate.connection.pool import Row
from substrate.cypher.fragments import CLOCK, columns_of
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph
from substrate.store.derived import change_count

FEEDBACK_AT: Final = Query(
    "feedback_at", "MATCH (m:SubstrateMeta {key: 'stamp'}) RETURN coalesce(m.feedback_at, 0) LIMIT 1"
)
_COLUMNS: Final = ("id", "created_at", "question", "used", "wrong", "lesson", "not_changed")
FEEDBACK: Final = Query("feedback", f"MATCH (f:Feedback) WHERE f.held IS NULL RETURN {columns_of('f', _COLUMNS)}")
FEEDBACK_NAMING: Final = Query(
    "feedback_naming",
    "MATCH (f:Feedback) WHERE any(x IN f.used + f.wrong + coalesce(f.not_changed, []) WHERE x IN $ids) "
    "RETURN f.id",
)
TELL_FEEDBACK: Final = Query(
    "tell_feedback",
    f"{CLOCK} WHERE coalesce(m.feedback_at, 0) = $seen "
    "OPTIONAL MATCH (o:Feedback) WHERE o.id IN $dropped WITH m, at, collect(o) AS gone "
    "FOREACH (o IN gone | DELETE o) CREATE (f:Feedback) SET f = $record "
    "SET f.created_at = at, m.clock = at, m.feedback_at = at RETURN at",
)
"""Returns no row when feedback changed since `seen`: another writer was first."""
TAKE_BACK_FEEDBACK: Final = Query(
    "take_back_feedback",
    f"{CLOCK} MATCH (f:Feedback) WITH m, at, collect(f) AS told "
    "WITH m, at, [f IN told WHERE f.id IN $ids] AS gone, size(told) AS stood "
    "WITH m, at, gone, size(gone) AS taken, stood "
    "FOREACH (f IN gone | DELETE f) "
    "SET m.clock = at, m.feedback_at = CASE WHEN stood > taken THEN at ELSE null END RETURN taken",
)


class StoredFeedback(NamedTuple):
    """One feedback. `question`: with what was asked; `lesson`: what it teaches; both as values of JSON.

    `not_changed`: ids of an earlier and a later memory, which are no change.
    """

    id: str
    created_at: Instant
    question: Mapping[str, Any]
    used: tuple[str, ...]
    wrong: tuple[str, ...]
    lesson: Mapping[str, Any]
    not_changed: tuple[tuple[str, str], ...] = ()


def feedback_of(properties: Mapping[str, Any]) -> StoredFeedback:
    """A feedback from its stored properties. Raises KeyError, TypeError or ValueError for other properties."""
    return _feedback(list(map(properties.get, _COLUMNS)))


def _feedback(row: Row) -> StoredFeedback:
    id_, created_at, question, used, wrong, lesson, ids = row
    pairs = zip((ids or ())[::2], (ids or ())[1::2], strict=True)
    told, taught = orjson.loads(question), orjson.loads(lesson)
    return StoredFeedback(id_, int(created_at), told, tuple(used), tuple(wrong), taught, tuple(pairs))


async def read_feedback_at(graph: Graph) -> Instant:
    """When feedback last changed; 0 without any."""
    rows = await graph.read(FEEDBACK_AT)
    return int(rows[0][0]) if rows else 0


async def read_feedback(graph: Graph) -> list[StoredFeedback]:
    """All feedback of the citizen, oldest first."""
    told = map(_feedback, await graph.read_typed(FEEDBACK))
    return sorted(told, key=lambda feedback: (feedback.created_at, feedback.id))


async def write_feedback(
    graph: Graph, feedback: StoredFeedback, dropped: Sequence[str], *, seen: Instant
) -> Instant | None:
    """Store a feedback and drop others, in one statement; `created_at` is at least its own.

    Returns the transaction time; None when feedback was changed since `seen`, and nothing was done.
    """
    record = {
        "id": feedback.id,
        "question": orjson.dumps(feedback.question).decode(),
        "used": list(feedback.used),
        "wrong": list(feedback.wrong),
        "not_changed": list(chain.from_iterable(feedback.not_changed)),
        "lesson": orjson.dumps(feedback.lesson, option=orjson.OPT_SORT_KEYS).decode(),
    }
    values = {"at": feedback.created_at, "seen": seen, "dropped": list(dropped), "record": record}
    rows = await graph.write(TELL_FEEDBACK, **values)
    return int(rows[0][0]) if rows else None


async def take_back(graph: Graph, ids: Sequence[str], now: Instant) -> int:
    """Remove these feedbacks; returns how many were there."""
    return await change_count(graph, TAKE_BACK_FEEDBACK, ids=list(ids), at=now)


async def take_back_naming(graph: Graph, ids: Sequence[str]) -> int:
    """Remove every feedback that names one of these memories; returns how many."""
    naming = [row[0] for row in await graph.read(FEEDBACK_NAMING, ids=list(ids))]
    return await take_back(graph, naming, 0) if naming else 0
