"""The quality of a graph over time: what sweeps found, one summary each (003, component 6)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from schemas.base import Frozen, Unit
from schemas.collectives import AnyGraphRequest
from schemas.intention import ALL_LEVELS
from schemas.memory import Collective, GraphKey, InGraph, Level, graph_key
from schemas.upkeep.findings import Kind, Severity
from schemas.validation import Grade

MOST_SUMMARIES: Final = 500
"""At most this many summaries of a graph are kept."""


class QualitySummary(Frozen):
    """What one sweep of a whole graph found. Its figures are those of the sweep's `MetadataValidationReport`.

    `quality_grade` by the thresholds of 003: excellent, above .9 complete and no errors; good, above .75 and fewer
    than 10 % of the memories with errors; acceptable, above .6 and fewer than 25 %; else poor; null when nobody
    gave any metadata.
    """

    swept_at: datetime
    quality_grade: Grade | None = None
    average_completeness: Unit = 0.0
    total_memories: int = 0
    graded_memories: int = 0
    fully_valid_memories: int = 0
    memories_with_warnings: int = 0
    memories_with_errors: int = 0
    findings_by_kind: dict[Kind, int] = Field(default_factory=dict)
    findings_by_severity: dict[Severity, int] = Field(default_factory=dict)


class QualitySeries(InGraph, Frozen):
    """The summaries of one graph, oldest first.

    `fallen_from`: the best grade of the 30 days before the last sweep, when the last grade is lower; else null.
    """

    level: Level
    collective: Collective = None
    citizen_id: str | None = None
    summaries: tuple[QualitySummary, ...] = ()
    fallen_from: Grade | None = None


class QualityRequest(AnyGraphRequest):
    """Whose quality. Without `level`: N2, N3, and N1 when a citizen is named.

    `limit`: the newest of each graph.
    """

    limit: Annotated[int, Field(ge=1, le=MOST_SUMMARIES)] = 100

    def chosen(self) -> tuple[GraphKey, ...]:
        """The graphs that are asked for."""
        if self.level is not None:
            return (graph_key(self.level, self.collective),)
        return tuple(level for level in ALL_LEVELS if level is not Level.N1 or self.citizen_id is not None)


class QualityAnswer(Frozen):
    """One series for each graph that exists."""

    series: tuple[QualitySeries, ...] = ()
