"""Counts what a citizen lived, week by week, and what of it felt what.

The query reads every memory of the graph once, of a large graph a part.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from schemas.memory import GENERALISATION
from schemas.temporal import Instant, Scope
from substrate.cypher.query import Query
from substrate.graphs.graph import Graph

WEEK: Final = 7 * 86_400_000_000
FIRST_MONDAY: Final = (4 - 7 * 150_000) * 86_400_000_000
"""Weeks are counted from a Monday that lies before every memory."""
MOST_WEEKS: Final = 1_040
"""At most this many weeks in which something was lived are read, the newest."""
MOST_FEELINGS: Final = 8
"""Of each week so many feelings, those of most memories."""
MOST_ROWS: Final = 20_000

SAMPLED_FROM: Final = 100_000
"""Of a graph of so many nodes, two a memory, every second block is counted, of twice as many every third."""


def _lived() -> str:
    """`m`: each record that began before the moment, as known then; `step`: how many it stands for."""
    each = [
        f"WITH step MATCH (m:{label}) WHERE (id(m) / 16) % step = 0 AND m.valid_at + 0 < $until "
        "AND m.expired_at > $known_from AND m.created_at < $known_to "
        "AND (m.name_key IS NULL OR m.description > '' OR m.node_type = 'Memory') RETURN m"
        for label in ("ConsciousnessNode", "PastVersion")
    ]
    return (
        f"CALL db.meta.stats() YIELD nodeCount WITH 1 + nodeCount / {SAMPLED_FROM} AS step "
        f"CALL {{ {' UNION ALL '.join(each)} }} "
    )


_IN_WEEK: Final = f"(m.valid_at - {FIRST_MONDAY}) / {WEEK} AS week"
LIVED: Final = Query(
    "lived",
    f"{_lived()}WITH step, {_IN_WEEK}, m.energy AS energy, m.created_at AS known_at, "
    f"CASE m.node_type WHEN '{GENERALISATION}' THEN 1 ELSE 0 END AS general, "
    "coalesce(m.emotions, []) + [''] AS felt UNWIND felt AS emotion "
    "WITH week, step, emotion, count(energy) AS lived, avg(energy) AS mean, sum(general) AS made, "
    "min(known_at) AS first RETURN week, emotion, lived * step AS lived, mean, toInteger(made) * step, first "
    f"ORDER BY week DESC, lived DESC, emotion LIMIT {MOST_ROWS}",
)
"""Records by the week in which they began and by feeling, '' for all of the week, which comes first: how many,
their mean energy, how many of them are generalisations, and when the first of them was known."""


class LivedWeek(NamedTuple):
    """A week that begins at `start`; `feelings`: how many memories had each, most first."""

    start: Instant
    memories: int
    energy: float
    general: int
    known_from: Instant
    feelings: dict[str, int]


async def read_weeks(graph: Graph, scope: Scope) -> list[LivedWeek]:
    """The weeks in which something began until the moment, as known then, the earliest first.

    Raises GraphMissing, StoreTimeout, Unavailable, Fault.
    """
    known = {"known_from": scope.known.start, "known_to": scope.known.end}
    bounds = {"until": scope.valid.end, **known}
    rows = await graph.read(LIVED, **bounds)
    weeks: list[LivedWeek] = []
    for week, emotion, memories, energy, general, known_from in rows:
        if not emotion:
            start = FIRST_MONDAY + week * WEEK
            weeks.append(LivedWeek(start, memories, float(energy), general, known_from, {}))
        elif len(weeks[-1].feelings) < MOST_FEELINGS:
            weeks[-1].feelings[emotion] = memories
    return weeks[MOST_WEEKS - 1 :: -1]
