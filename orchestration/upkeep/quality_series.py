"""The quality of a graph over time: summaries of sweeps, which of them are kept, when a grade fell. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from orchestration.upkeep.findings import SEVERITIES, SEVERITY
from schemas.temporal import Instant
from schemas.upkeep.findings import Severity, SweepReport
from schemas.upkeep.quality import MOST_SUMMARIES, QualitySummary
from schemas.validation import Grade

DAYS: Final = 30
"""All summaries of this many days are kept, and a grade is compared with those of this many days."""
_DAY: Final = 86_400_000_000
_WEEK: Final = 7 * _DAY
GRADES: Final[tuple[Grade, ...]] = ("poor", "acceptable", "good", "excellent")
"""The grades of 003, the lowest first."""


def summarise(report: SweepReport, swept_at: datetime) -> QualitySummary:
    """The figures of a sweep that are kept: counts alone, so that nothing of a memory outlives it."""
    found: Counter[Severity] = Counter()
    for kind, count in report.findings_by_kind.items():
        found[SEVERITY[kind]] += count
    quality = report.report
    return QualitySummary(
        swept_at=swept_at,
        quality_grade=None if quality.nothing_given else quality.quality_grade,
        average_completeness=quality.average_completeness,
        total_memories=quality.total_memories,
        graded_memories=quality.graded_memories,
        fully_valid_memories=quality.fully_valid_memories,
        memories_with_warnings=quality.memories_with_warnings,
        memories_with_errors=quality.memories_with_errors,
        findings_by_kind=report.findings_by_kind,
        findings_by_severity={severity: found[severity] for severity in SEVERITIES if found[severity]},
    )


def thin_out(times: Sequence[Instant], now: Instant) -> frozenset[Instant]:
    """The times of the summaries to drop.

    All of the last 30 days stay, and of each week before them the last one; of what stays, the newest 500. A week
    has 7 days from the epoch on, so that a summary that stayed once stays while newer ones are few.
    """
    recent = [at for at in times if at > now - DAYS * _DAY]
    of_weeks: dict[int, Instant] = {}
    for at in sorted(set(times) - set(recent)):
        of_weeks[at // _WEEK] = at
    kept = sorted((*recent, *of_weeks.values()), reverse=True)[:MOST_SUMMARIES]
    return frozenset(times) - frozenset(kept)


def fallen_from(summaries: Sequence[QualitySummary]) -> Grade | None:
    """The best grade of the 30 days before the last summary, when its own is lower; else None.

    `summaries`: oldest first. A sweep without a grade counts as no sweep: nobody gave metadata, or none is left.
    """
    graded = [(each.swept_at, each.quality_grade) for each in summaries if each.quality_grade is not None]
    if len(graded) < 2 or summaries[-1].quality_grade is None:
        return None
    (last_at, last), before = graded[-1], graded[:-1]
    since = last_at - timedelta(days=DAYS)
    best = max((GRADES.index(grade) for at, grade in before if at >= since), default=0)
    return GRADES[best] if best > GRADES.index(last) else None
