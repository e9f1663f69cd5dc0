"""Metadata in three tiers, and the report over a stream (003, component 6)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.ranking.consciousness_score import completeness as ranked_completeness
from orchestration.validation import (
    assess_metadata_quality,
    completeness,
    given_of_link,
    given_of_memory,
    grade,
    memory_verdicts,
    metadata_report,
    validate_consciousness_link,
    validate_field_type,
    validate_node,
)
from schemas.memory import (
    CONDITIONAL,
    IMPORTANT,
    REQUIRED,
    ConsciousnessNode,
    ConsciousnessRelationship,
    ValidationResult,
)
from tests.builders import a_memory, a_node, a_relationship

REQUIRED_FIELDS: dict[str, Any] = {
    "energy": 0.7,
    "confidence": 1,
    "emotion_vector": {"joy": 0.5},
    "goal": "understand",
    "mindstate": "curious",
    "energy_transfer_coefficient": 0.0,
    "resolution_state": "blocked",
}
IMPORTANT_FIELDS: dict[str, Any] = {
    "formation_trigger": "a talk",
    "felt_quality": "warm",
    "emotion_description": "glad",
}
CONDITIONAL_FIELDS: dict[str, Any] = {
    "body_sensation": "light",
    "spatial_context": "the kitchen",
    "sensory_details": {"smell": "coffee"},
}
WHOLE = {**REQUIRED_FIELDS, **IMPORTANT_FIELDS, **CONDITIONAL_FIELDS}


def test_the_tiers_are_those_of_003() -> None:
    assert (set(REQUIRED), set(IMPORTANT), set(CONDITIONAL)) == (
        set(REQUIRED_FIELDS),
        set(IMPORTANT_FIELDS),
        set(CONDITIONAL_FIELDS),
    )


@pytest.mark.parametrize(
    ("link", "complete", "warned"),
    [
        (WHOLE, 13 / 13, 0),
        ({**REQUIRED_FIELDS, **IMPORTANT_FIELDS}, 10 / 13, 0),
        (REQUIRED_FIELDS, 7 / 13, 3),
        ({**REQUIRED_FIELDS, "felt_quality": "warm"}, 8 / 13, 2),
        ({**REQUIRED_FIELDS, "body_sensation": "light", "weather": "rain"}, 8 / 13, 3),
        ({**REQUIRED_FIELDS, "felt_quality": None, "sensory_details": None}, 7 / 13, 3),
    ],
)
def test_completeness_is_the_share_of_thirteen_fields(link: dict[str, Any], complete: float, warned: int) -> None:
    result = validate_consciousness_link(link)
    assert result.valid
    assert result.metadata_completeness == pytest.approx(complete)
    assert len(result.warnings) == warned


@pytest.mark.parametrize("name", REQUIRED)
@pytest.mark.parametrize("absent", [True, False])
def test_a_missing_required_field_is_an_error(name: str, absent: bool) -> None:
    link = {field: value for field, value in WHOLE.items() if field != name}
    result = validate_consciousness_link(link if absent else {**link, name: None})
    assert result.errors == (f"REQUIRED field missing: {name}",)
    assert result.metadata_completeness == pytest.approx(12 / 13)


@pytest.mark.parametrize("name", IMPORTANT)
def test_a_missing_important_field_is_a_warning_only(name: str) -> None:
    result = validate_consciousness_link({field: value for field, value in WHOLE.items() if field != name})
    assert result.valid
    assert len(result.warnings) == 1
    assert name in result.warnings[0]


@pytest.mark.parametrize("name", CONDITIONAL)
def test_a_missing_conditional_field_is_nothing(name: str) -> None:
    result = validate_consciousness_link({field: value for field, value in WHOLE.items() if field != name})
    assert (result.errors, result.warnings) == ((), ())


@pytest.mark.parametrize(
    ("tier", "name", "value"),
    [
        ("REQUIRED", "energy", 1.2),
        ("REQUIRED", "energy", -0.1),
        ("REQUIRED", "energy", math.nan),
        ("REQUIRED", "energy", "0.5"),
        ("REQUIRED", "energy", True),
        ("REQUIRED", "confidence", math.inf),
        ("REQUIRED", "emotion_vector", {"joy": "much"}),
        ("REQUIRED", "emotion_vector", {"joy": 1.5}),
        ("REQUIRED", "emotion_vector", {7: 0.5}),
        ("REQUIRED", "emotion_vector", ["joy"]),
        ("REQUIRED", "goal", ""),
        ("REQUIRED", "goal", 7),
        ("REQUIRED", "mindstate", ""),
        ("REQUIRED", "energy_transfer_coefficient", 2),
        ("REQUIRED", "resolution_state", "done"),
        ("IMPORTANT", "felt_quality", 7),
        ("CONDITIONAL", "body_sensation", ["light"]),
        ("CONDITIONAL", "sensory_details", "coffee"),
    ],
)
def test_an_invalid_field_is_an_error_of_its_tier(tier: str, name: str, value: Any) -> None:
    result = validate_consciousness_link({**WHOLE, name: value})
    assert len(result.errors) == 1
    assert result.errors[0].startswith(f"{tier} field invalid: {name}")


@given(st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.floats() | st.text(max_size=4)))
def test_unknown_fields_are_allowed_and_change_nothing(beside: dict[str, Any]) -> None:
    unknown = {name: value for name, value in beside.items() if name not in WHOLE}
    assert validate_consciousness_link({**unknown, **WHOLE}) == validate_consciousness_link(WHOLE)
    assert all(validate_field_type(name, value) for name, value in unknown.items())


@given(st.sets(st.sampled_from(sorted(WHOLE))))
def test_completeness_counts_what_is_present(names: set[str]) -> None:
    link = {name: WHOLE[name] for name in names}
    assert completeness(link) == pytest.approx(len(names) / 13)
    assert validate_consciousness_link(link).metadata_completeness == pytest.approx(len(names) / 13)


# --- the report over a stream ---------------------------------------------------------------------

WHOLE_LINK: dict[str, Any] = {
    "emotion_vector": {"joy": 0.5},
    "formation_trigger": "a talk",
    "felt_quality": "warm",
    "emotion_description": "glad",
    "body_sensation": "light",
    "spatial_context": "the kitchen",
    "sensory_details": {"smell": "coffee"},
}


def result(completeness: float, *, valid: bool = True) -> ValidationResult:
    return ValidationResult(valid=valid, metadata_completeness=completeness)


# --- one memory ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "valid", "warnings", "complete"),
    [
        ({}, True, 1, 2 / 7),
        ({"felt_quality": "warm"}, True, 0, 3 / 7),
        (
            {
                "felt_quality": "warm",
                "body_sensation": "light",
                "goal": "rest",
                "resolution_state": "blocked",
                "emotion_vector": {"joy": 0.2},
            },
            True,
            0,
            7 / 7,
        ),
        ({"energy": 1.2}, False, 1, 2 / 7),
        ({"confidence": -0.1}, False, 1, 2 / 7),
        ({"goal": ""}, False, 1, 3 / 7),
        ({"emotion_vector": {"joy": 1.5}}, False, 1, 3 / 7),
        ({"emotion_vector": {}}, True, 1, 3 / 7),
    ],
)
def test_a_memory_is_judged_by_what_a_memory_can_carry(
    fields: dict[str, Any], valid: bool, warnings: int, complete: float
) -> None:
    result = validate_node(a_node(**fields))
    assert (result.valid, len(result.warnings)) == (valid, warnings)
    assert result.metadata_completeness == pytest.approx(complete)


def test_the_ranking_takes_off_for_the_same_fields_each_weighing_a_thirteenth_as_in_003() -> None:
    ranked = ranked_completeness(a_memory("m", felt_quality="warm", goal="rest"))
    assert ranked == pytest.approx(4 / 13)
    own = validate_node(a_node(felt_quality="warm", goal="rest")).metadata_completeness
    assert own == pytest.approx(ranked * 13 / 7)


# --- memories and links ----------------------------------------------------------------------------------


def test_the_report_by_hand() -> None:
    nodes = [
        # alone: energy, confidence, felt_quality = 3 of the 7 that a memory can carry
        a_node(node_id="alone", felt_quality="warm"),
        # one link with all 13 fields; no felt_quality of its own: a warning
        a_node(node_id="whole"),
        # that link and one without emotions (6 of 13): (13 + 6) / 26
        a_node(node_id="between", felt_quality="warm"),
        # only the link without emotions
        a_node(node_id="faulty", felt_quality="warm"),
    ]
    links = [
        a_relationship(link_id="1", source_id="whole", target_id="between", **WHOLE_LINK),
        a_relationship(link_id="2", source_id="between", target_id="faulty"),
    ]
    report = metadata_report(nodes, links)
    assert report.total_memories == 4
    assert (report.fully_valid_memories, report.memories_with_errors) == (2, 2)
    assert report.memories_with_warnings == 3
    assert report.average_completeness == pytest.approx((3 / 7 + 1 + 19 / 26 + 6 / 13) / 4)
    assert report.incomplete_memory_ids == ("between", "faulty")
    assert report.quality_grade == "poor"


def test_a_stream_of_whole_links_is_excellent() -> None:
    nodes = [a_node(node_id="a", felt_quality="warm"), a_node(node_id="b", felt_quality="warm")]
    report = metadata_report(nodes, [a_relationship(**WHOLE_LINK)])
    assert (report.quality_grade, report.average_completeness) == ("excellent", 1.0)
    assert (report.fully_valid_memories, report.memories_with_warnings) == (2, 0)


def test_fields_that_a_memory_cannot_have_do_not_count_against_it() -> None:
    whole = {
        "emotion_vector": {"joy": 0.5},
        "goal": "rest",
        "resolution_state": "blocked",
        "felt_quality": "warm",
        "body_sensation": "light",
    }
    assert validate_node(a_node(**whole)).metadata_completeness == 1.0
    report = metadata_report([a_node(**whole)], [])
    assert (report.quality_grade, report.average_completeness) == ("excellent", 1.0)


def test_links_of_another_level_or_to_memories_that_are_not_shown_are_nobodys() -> None:
    links = [a_relationship(level="N2", **WHOLE_LINK), a_relationship(source_id="elsewhere", target_id="far")]
    assert metadata_report([a_node(node_id="a")], links).fully_valid_memories == 1
    assert metadata_report([a_node(node_id="a")], links).average_completeness == pytest.approx(2 / 7)


def test_a_field_that_was_inferred_does_not_count_as_given() -> None:
    node = a_node(node_id="a", goal="rest", felt_quality="warm", unset=("energy", "confidence", "goal"))
    assert metadata_report([node], []).average_completeness == pytest.approx(1 / 7)
    assert given_of_memory(vars(node)) == (1 / 7, ("energy", "confidence", "goal"))
    link = a_relationship(unset=("goal", "mindstate"), **WHOLE_LINK)
    assert given_of_link(vars(link)).share == 0.0


def test_the_links_that_somebody_gave_grade_a_memory_of_which_nothing_was_given() -> None:
    turn = a_node(node_id="a", unset=("energy", "confidence"))
    made = a_relationship(link_id="2", source="ingestion", emotion_vector={})
    report = metadata_report([turn], [a_relationship(source_id="a", **WHOLE_LINK), made])
    assert (report.quality_grade, report.graded_memories) == ("excellent", 1)


# --- the grade -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("complete", "errors", "expected"),
    [
        (1.0, 0.0, "excellent"),
        (0.91, 0.0, "excellent"),
        (0.9, 0.0, "good"),
        (0.95, 0.01, "good"),
        (0.76, 0.09, "good"),
        (0.75, 0.0, "acceptable"),
        (0.95, 0.1, "acceptable"),
        (0.61, 0.24, "acceptable"),
        (0.6, 0.0, "poor"),
        (0.95, 0.25, "poor"),
        (0.0, 0.0, "poor"),
    ],
)
def test_the_thresholds_of_the_grades(complete: float, errors: float, expected: str) -> None:
    assert grade(complete, errors) == expected


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([result(1.0)] * 3, "excellent"),
        ([result(1.0)] * 19 + [result(0.9, valid=False)], "good"),
        ([result(0.8)] * 4 + [result(0.8, valid=False)], "acceptable"),
        ([result(0.8)] * 3 + [result(0.8, valid=False)], "poor"),
        ([result(0.5)], "poor"),
    ],
)
def test_the_grade_of_validations(results: list[ValidationResult], expected: str) -> None:
    assert assess_metadata_quality(results) == expected


# --- laws ------------------------------------------------------------------------------------------------

numbers = st.floats(-0.5, 1.5) | st.just(float("nan"))
emotions = st.none() | st.dictionaries(st.sampled_from(["joy", "fear"]), numbers)
texts = st.sampled_from(["", "rest"])
maybe = st.none() | texts


@st.composite
def some_link(draw: st.DrawFn) -> ConsciousnessRelationship:
    ends = st.sampled_from(["a", "b", "c", "d"])
    return a_relationship(
        source_id=draw(ends),
        target_id=draw(ends),
        energy=draw(numbers),
        confidence=draw(numbers),
        energy_transfer_coefficient=draw(numbers),
        emotion_vector=draw(emotions),
        goal=draw(texts),
        mindstate=draw(texts),
        formation_trigger=draw(maybe),
        felt_quality=draw(maybe),
        emotion_description=draw(maybe),
        body_sensation=draw(maybe),
        sensory_details=draw(st.none() | st.just({"smell": "rain"})),
    )


@st.composite
def some_memory(draw: st.DrawFn) -> ConsciousnessNode:
    return a_node(
        node_id=draw(st.sampled_from(["a", "b", "c"])),
        version=draw(st.integers(1, 3)),
        energy=draw(numbers),
        confidence=draw(numbers),
        emotion_vector=draw(emotions),
        goal=draw(maybe),
        felt_quality=draw(maybe),
        body_sensation=draw(maybe),
    )


@given(some_link())
def test_the_short_way_says_of_a_link_what_the_long_one_says(one: ConsciousnessRelationship) -> None:
    result = validate_consciousness_link(vars(one))
    (verdict,) = memory_verdicts([a_node(node_id=one.source_id, felt_quality="warm")], [one]).values()
    assert verdict.valid is result.valid
    assert verdict.warned is bool(result.warnings)
    assert verdict.completeness == pytest.approx(result.metadata_completeness)


@given(some_memory())
def test_the_short_way_says_of_a_memory_what_the_long_one_says(one: ConsciousnessNode) -> None:
    result = validate_node(one)
    (verdict,) = memory_verdicts([one], []).values()
    assert (verdict.valid, verdict.warned) == (result.valid, bool(result.warnings))
    assert verdict.completeness == pytest.approx(result.metadata_completeness)


@given(st.lists(some_memory(), max_size=5), st.lists(some_link(), max_size=5))
def test_the_counts_of_a_report_fit_one_another(
    nodes: list[ConsciousnessNode], links: list[ConsciousnessRelationship]
) -> None:
    report = metadata_report(nodes, links)
    assert report.total_memories == len({(node.node_id, node.version) for node in nodes})
    assert report.fully_valid_memories + report.memories_with_errors == report.total_memories
    assert report.memories_with_warnings <= report.total_memories
    assert 0.0 <= report.average_completeness <= 1.0
    assert set(report.incomplete_memory_ids) <= {node.node_id for node in nodes}
    assert bool(report.incomplete_memory_ids) is (report.memories_with_errors > 0)
