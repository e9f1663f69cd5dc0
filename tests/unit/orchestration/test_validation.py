"""The three tiers of link metadata (003, component 6)."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestration.validation import completeness, validate_consciousness_link, validate_field_type
from schemas.validation import CONDITIONAL, IMPORTANT, REQUIRED

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


def test_nothing_at_all_has_seven_errors_and_three_warnings() -> None:
    result = validate_consciousness_link({})
    assert not result.valid
    assert result.errors == tuple(f"REQUIRED field missing: {name}" for name in REQUIRED)
    assert [name for name in IMPORTANT if any(name in said for said in result.warnings)] == list(IMPORTANT)
    assert result.metadata_completeness == 0.0


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


def test_every_fault_is_told() -> None:
    result = validate_consciousness_link({**WHOLE, "energy": 2, "goal": None, "sensory_details": 1})
    assert len(result.errors) == 3


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
