"""Validation of link metadata in three tiers (003, component 6). Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, Level
from schemas.validation import (
    CONDITIONAL,
    IMPORTANT,
    REQUIRED,
    Grade,
    MetadataValidationReport,
    ValidationResult,
)

NODE_REQUIRED: Final = ("energy", "confidence")
NODE_IMPORTANT: Final = ("felt_quality",)
"""What of the tiers a memory must and should carry itself; the rest are metadata of links."""

_STATES = ("resolved", "in_progress", "blocked")


def _unit(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value <= 1.0 and not isinstance(value, bool)


def _emotions(value: Any) -> bool:
    return isinstance(value, (dict, Mapping)) and all(map(_text, value)) and all(map(_unit, value.values()))


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
    "sensory_details": lambda value: isinstance(value, (dict, Mapping)),
}
"""The 13 fields, in the order of their tiers."""
_TIERS: Final = {
    **dict.fromkeys(REQUIRED, "REQUIRED"),
    **dict.fromkeys(IMPORTANT, "IMPORTANT"),
    **dict.fromkeys(CONDITIONAL, "CONDITIONAL"),
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
    return _validated(link_data, REQUIRED, IMPORTANT)


def validate_node(node: ConsciousnessNode) -> ValidationResult:
    """The same for a memory by its own metadata (003, component 6).

    All seven REQUIRED fields are those of a link, because consciousness lives in the links; a memory has no
    mindstate and no transfer. 003 makes energy and confidence of a memory mandatory, so these are required
    here; of the IMPORTANT ones it can carry felt_quality. Whatever else of the 13 it carries is checked when
    present. Completeness is its share of the 13, the one that the ranking takes off for.
    """
    return _validated(vars(node), NODE_REQUIRED, NODE_IMPORTANT)


def _validated(data: Mapping[str, Any], required: Sequence[str], important: Sequence[str]) -> ValidationResult:
    errors = []
    for name, fits in _SPECS.items():
        value = data.get(name)
        if value is None:
            if name in required:
                errors.append(f"REQUIRED field missing: {name}")
        elif not fits(value):
            errors.append(f"{_TIERS[name]} field invalid: {name} (got {type(value).__name__})")
    warnings = [
        f"IMPORTANT field missing: {name}. Recommended for rich consciousness representation."
        for name in important
        if data.get(name) is None
    ]
    return ValidationResult(
        valid=not errors,
        errors=tuple(errors),
        warnings=tuple(warnings),
        metadata_completeness=completeness(data),
    )


def completeness(present: Mapping[str, Any]) -> float:
    """Share of the 13 fields of all tiers that the record carries, in [0, 1] (003, component 6)."""
    return sum(present.get(name) is not None for name in _SPECS) / len(_SPECS)


_ON_NODES: Final = tuple(name for name in _SPECS if name in ConsciousnessNode.model_fields)
_node_metadata = itemgetter(*_ON_NODES)
_link_metadata = itemgetter(*_SPECS)


class Verdict(NamedTuple):
    """What the report keeps of one validation. `completeness` in [0, 1]."""

    valid: bool
    warned: bool
    completeness: float


type RecordKey = tuple[Level, str, int]
"""A memory record: level, id, version."""


def memory_verdicts(
    nodes: Iterable[ConsciousnessNode], links: Iterable[ConsciousnessRelationship]
) -> dict[RecordKey, Verdict]:
    """Each memory shown, judged by its own metadata and by the links shown that are attached to it.

    The unit is the memory, as in 003's report; what is judged is where its metadata live. A memory is fully
    valid when what it carries itself is valid and so is each of its links; it has a warning when it or one of
    its links lacks an IMPORTANT field. Its completeness is the mean of its links', or its own share of the
    13 fields when no link of it is shown. A memory that is given twice counts once.
    """
    attached: dict[tuple[Level, str], list[Verdict]] = {}
    for link in links:
        verdict = _link_verdict(link)
        for end in {link.source_id, link.target_id}:
            attached.setdefault((link.level, end), []).append(verdict)
    verdicts: dict[RecordKey, Verdict] = {}
    for node in nodes:
        key = (node.level, node.node_id, node.version)
        if key not in verdicts:
            own = _node_verdict(node)
            beside = attached.get(key[:2])
            verdicts[key] = own if beside is None else _together(own, beside)
    return verdicts


def _link_verdict(link: ConsciousnessRelationship) -> Verdict:
    """What `validate_consciousness_link` says of a record, whose types are known: only ranges are asked."""
    felt = link.emotion_vector
    valid = (
        felt is not None
        and len(link.goal) > 0 < len(link.mindstate)
        and 0.0 <= link.energy <= 1.0
        and 0.0 <= link.confidence <= 1.0
        and 0.0 <= link.energy_transfer_coefficient <= 1.0
        and _units(felt)
    )
    warned = link.formation_trigger is None or link.felt_quality is None or link.emotion_description is None
    return Verdict(valid, warned, 1.0 - _link_metadata(vars(link)).count(None) / len(_SPECS))


def _units(felt: Mapping[str, float]) -> bool:
    return len([much for much in felt.values() if 0.0 <= much <= 1.0]) == len(felt)


def _node_verdict(node: ConsciousnessNode) -> Verdict:
    """What `validate_node` says."""
    valid = (
        0.0 <= node.energy <= 1.0
        and 0.0 <= node.confidence <= 1.0
        and node.goal != ""
        and (node.emotion_vector is None or _units(node.emotion_vector))
    )
    present = len(_ON_NODES) - _node_metadata(vars(node)).count(None)
    return Verdict(valid, node.felt_quality is None, present / len(_SPECS))


def _together(own: Verdict, links: Sequence[Verdict]) -> Verdict:
    valid, warned, completeness = zip(*links, strict=True)
    return Verdict(own.valid and all(valid), own.warned or any(warned), math.fsum(completeness) / len(links))


def metadata_report(
    nodes: Iterable[ConsciousnessNode], links: Iterable[ConsciousnessRelationship]
) -> MetadataValidationReport:
    """Metadata quality over the memories of a stream, judged by `memory_verdicts` (003, component 6).

    As in 003 a memory may be fully valid and have warnings: a warning is not an error. No memories: zeros and
    the grade of zero completeness, poor.
    """
    verdicts = memory_verdicts(nodes, links)
    faulty = [key[1] for key, verdict in verdicts.items() if not verdict.valid]
    total = len(verdicts)
    average = math.fsum(verdict.completeness for verdict in verdicts.values()) / (total or 1)
    return MetadataValidationReport(
        total_memories=total,
        fully_valid_memories=total - len(faulty),
        memories_with_warnings=sum(verdict.warned for verdict in verdicts.values()),
        memories_with_errors=len(faulty),
        average_completeness=min(1.0, average),
        incomplete_memory_ids=tuple(dict.fromkeys(faulty)),
        quality_grade=grade(average, len(faulty) / (total or 1)),
    )


def assess_metadata_quality(results: Sequence[ValidationResult]) -> Grade:
    """The grade of a set of validations (003, component 6); poor for none, whose completeness is zero."""
    if not results:
        return "poor"
    average = math.fsum(result.metadata_completeness for result in results) / len(results)
    return grade(average, sum(not result.valid for result in results) / len(results))


def grade(average_completeness: float, error_rate: float) -> Grade:
    """003, component 6. Both in [0, 1].

    excellent: completeness above 0.9 and no errors; good: above 0.75 and errors below 0.1; acceptable: above
    0.6 and errors below 0.25; else poor.
    """
    if average_completeness > 0.9 and error_rate == 0:
        return "excellent"
    if average_completeness > 0.75 and error_rate < 0.1:
        return "good"
    if average_completeness > 0.6 and error_rate < 0.25:
        return "acceptable"
    return "poor"
