"""Quality over time: the summary of a sweep, which summaries stay, and when a grade fell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from orchestration.upkeep.quality_series import DAYS, fallen_from, summarise, thin_out
from schemas.memory import Level
from schemas.upkeep import SweepReport
from schemas.upkeep.quality import MOST_SUMMARIES, QualitySummary
from schemas.validation import Grade, MetadataValidationReport

DAY = 86_400_000_000
NOW = 20_000 * DAY
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def series(*grades: Grade | None, days: float = 1) -> list[QualitySummary]:
    return [
        QualitySummary(swept_at=FIRST + timedelta(days=days * number), quality_grade=grade)
        for number, grade in enumerate(grades)
    ]


def test_a_summary_has_the_figures_of_the_report_and_no_id_of_a_memory() -> None:
    quality = MetadataValidationReport(
        total_memories=4, memories_with_errors=1, average_completeness=0.7, incomplete_memory_ids=("secret",)
    )
    report = SweepReport(
        level=Level.N2, findings_by_kind={"junk": 2, "overlap": 1, "duplicate": 3}, report=quality
    )
    summary = summarise(report, FIRST)
    assert summary.findings_by_severity == {"error": 1, "warning": 5}
    assert (summary.total_memories, summary.memories_with_errors, summary.average_completeness) == (4, 1, 0.7)
    assert "secret" not in summary.model_dump_json()


def test_all_of_thirty_days_stay_and_one_of_each_week_before() -> None:
    times = [NOW - day * DAY for day in range(100)]
    dropped = thin_out(times, NOW)
    kept = sorted(set(times) - dropped)
    assert sum(at > NOW - DAYS * DAY for at in kept) == DAYS
    old = [at // (7 * DAY) for at in kept if at <= NOW - DAYS * DAY]
    assert len(old) == len(set(old)) in (10, 11)


@given(st.lists(st.integers(0, NOW), max_size=60), st.integers(0, 90))
def test_the_last_summary_stays_and_thinning_again_drops_nothing(times: list[int], later: int) -> None:
    dropped = thin_out(times, NOW)
    kept = [at for at in times if at not in dropped]
    assert thin_out(kept, NOW) == frozenset()
    assert not times or max(times) in kept
    assert max(kept, default=0) not in thin_out(kept, NOW + later * DAY)


def test_no_more_are_kept_than_the_limit() -> None:
    times = [NOW - number for number in range(MOST_SUMMARIES + 7)]
    assert thin_out(times, NOW) == frozenset(times[-7:])


def test_a_grade_fell_when_a_better_one_stood_within_thirty_days() -> None:
    assert fallen_from(series("good", "acceptable")) == "good"
    assert fallen_from(series("excellent", "good", "good", "poor")) == "excellent"
    assert fallen_from(series("poor", "good")) is None
    assert fallen_from(series("good")) is None
    assert fallen_from(series()) is None
    assert fallen_from(series("excellent", "good", days=40)) is None
    assert fallen_from(series("good", None, "poor")) == "good"
    assert fallen_from(series("good", None)) is None
