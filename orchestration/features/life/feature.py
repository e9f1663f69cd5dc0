"""A citizen's life at one look, week by week: the river of the explorer."""

from __future__ import annotations

from typing import Final

from orchestration.dependencies import Deps
from orchestration.feature import Feature
from orchestration.features.life import queries as store
from orchestration.features.life.values import Life, WeekOfLife
from schemas.base import CitizenId
from schemas.intention import AsOf
from schemas.memory import Level
from schemas.operation import Method, Operation, citizen_may, group
from schemas.temporal import Instant, to_datetime


async def read_life(citizen_id: CitizenId, query: AsOf, deps: Deps, now: Instant) -> Life:
    """How much a citizen lived in each week, with which energy, and what it felt.

    A memory counts in the week in which it began, and again in each in which what it says became another, as known
    now or at the moment asked for. A citizen of whom
    nothing is remembered has no weeks.
    """
    graph = await deps.graph_if_any(Level.N1, citizen_id)
    weeks = [] if graph is None else await store.read_weeks(graph, query.scope(now))
    known_from = min((week.known_from for week in weeks), default=None)
    lived: list[WeekOfLife] = []
    for start, memories, energy, general, _, feelings in weeks:
        week = {"start": to_datetime(start), "memories": memories, "energy": round(energy, 4)}
        lived.append(WeekOfLife(**week, emotions=feelings, generalisations=general))
    return Life(
        citizen_id=citizen_id,
        weeks=tuple(lived),
        memories=sum(week.memories for week in lived),
        known_from=None if known_from is None else to_datetime(known_from),
    )


OPERATIONS: Final = group(
    "citizens",
    Operation("get_life", "GET /v1/citizens/{citizen_id}/life", "Read a life week by week",
              citizen_may("read"), read_life,
              call=Method("life", "How much the citizen lived in each week, with which energy and feelings.")),
)  # fmt: skip
FEATURE: Final = Feature("life", operations=OPERATIONS)
