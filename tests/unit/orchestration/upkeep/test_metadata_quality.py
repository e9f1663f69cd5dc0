"""The quality report of a whole graph."""

from __future__ import annotations

import pytest

from orchestration.upkeep.metadata_quality import MetadataQuality
from orchestration.validation import Given
from schemas.validation import ValidationResult


def result(completeness: float, *, errors: bool = False, warned: bool = False) -> ValidationResult:
    said = ("IMPORTANT field missing: felt_quality. Recommended.",) if warned else ()
    return ValidationResult(valid=not errors, warnings=said, metadata_completeness=completeness)


def test_the_quality_of_a_graph_is_that_of_its_memories_and_their_links() -> None:
    quality = MetadataQuality(10)
    quality.add_link({1: "a", 900: "b"}, result(1.0), Given(1.0))
    quality.add_memory(1, "a", result(0.2), Given(0.2))
    quality.add_memory(900, "b", result(0.2), Given(0.2))
    quality.add_memory(3, "c", result(0.5, warned=True), Given(0.5))
    quality.add_link({900: "b", 7: "gone"}, result(0.5, errors=True, warned=True), Given(0.5))
    report = quality.report()
    assert (report.total_memories, report.memories_with_errors, report.memories_with_warnings) == (3, 1, 2)
    assert report.average_completeness == pytest.approx((1.0 + 0.75 + 0.5) / 3)
    assert report.incomplete_memory_ids == ("b", "gone")
    assert report.quality_grade == "poor"
    assert quality.important_missing == {"felt_quality": 1}


def test_a_graph_of_nothing_has_zeros() -> None:
    report = MetadataQuality(10).report()
    assert (report.total_memories, report.average_completeness, report.quality_grade) == (0, 0.0, "poor")


def test_what_nobody_gave_is_counted_and_poor() -> None:
    quality = MetadataQuality(10)
    quality.add_memory(1, "turn", result(0.4), Given(0.0, ("energy", "confidence")))
    quality.add_link({1: "turn"}, result(0.8), Given(0.0, ("energy",)))
    report = quality.report()
    assert (report.quality_grade, report.graded_memories, report.average_completeness) == ("poor", 0, 0.0)
    assert report.inferred_fields == {"energy": 2, "confidence": 1}
    assert report.nothing_given
    quality.add_memory(2, "felt", result(1.0), Given(1.0))
    assert (quality.report().quality_grade, quality.report().graded_memories) == ("excellent", 1)
