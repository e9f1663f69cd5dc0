"""Validation of link metadata in three tiers (003, component 6). Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from schemas.validation import CONDITIONAL, IMPORTANT, REQUIRED, ValidationResult

_STATES = ("resolved", "in_progress", "blocked")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _unit(value: Any) -> bool:
    return _is_number(value) and 0.0 <= value <= 1.0


def _emotions(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(k, str) and _unit(v) for k, v in value.items())


def _said(value: Any) -> bool:
    return isinstance(value, str) and len(value) > 0


def _text(value: Any) -> bool:
    return isinstance(value, str)


_SPECS: Mapping[str, Callable[[Any], bool]] = {
    "energy": _unit,
    "confidence": _unit,
    "emotion_vector": _emotions,
    "goal": _said,
    "mindstate": _said,
    "energy_transfer_coefficient": _unit,
    "resolution_state": lambda value: value in _STATES,
    "formation_trigger": _text,
    "felt_quality": _text,
    "emotion_description": _text,
    "body_sensation": _text,
    "spatial_context": _text,
    "sensory_details": lambda value: isinstance(value, Mapping),
}


def validate_field_type(field_name: str, value: Any) -> bool:
    """Whether the value fits the field; a field that we do not know is allowed (003, 6)."""
    spec = _SPECS.get(field_name)
    return spec is None or spec(value)


def validate_consciousness_link(link_data: Mapping[str, Any]) -> ValidationResult:
    """Errors, warnings and completeness of one link's metadata (003, component 6).

    A REQUIRED field that is missing or invalid is an error; an IMPORTANT one that is missing a warning; a
    CONDITIONAL one is checked only when present. Completeness is the share of all 13 fields that are present.
    """
    present = {name: value for name, value in link_data.items() if value is not None}
    errors = []
    for name in REQUIRED:
        if name not in present:
            errors.append(f"REQUIRED field missing: {name}")
        elif not validate_field_type(name, present[name]):
            errors.append(f"REQUIRED field invalid: {name} (got {type(present[name]).__name__})")
    for name in (*IMPORTANT, *CONDITIONAL):
        if name in present and not validate_field_type(name, present[name]):
            tier = "IMPORTANT" if name in IMPORTANT else "CONDITIONAL"
            errors.append(f"{tier} field invalid: {name} (got {type(present[name]).__name__})")
    warnings = [
        f"IMPORTANT field missing: {name}. Recommended for rich consciousness representation."
        for name in IMPORTANT
        if name not in present
    ]
    return ValidationResult(
        valid=not errors,
        errors=tuple(errors),
        warnings=tuple(warnings),
        metadata_completeness=completeness(present),
    )


def completeness(present: Mapping[str, Any]) -> float:
    """Share of the 13 fields of all tiers that the record carries, in [0, 1] (003, component 6)."""
    fields = (*REQUIRED, *IMPORTANT, *CONDITIONAL)
    return sum(present.get(name) is not None for name in fields) / len(fields)
