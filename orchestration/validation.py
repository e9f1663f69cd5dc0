"""Validation of link metadata in three tiers (003, component 6). Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from schemas.base import to_columns
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
    return _validated(link_data, REQUIRED, IMPORTANT, tuple(_SPECS))


def validate_node(node: ConsciousnessNode) -> ValidationResult:
    """The same for a memory by its own metadata (003, component 6).

    All seven REQUIRED fields are those of a link, because consciousness lives in the links; a memory has no
    mindstate and no transfer. 003 makes energy and confidence of a memory mandatory, so these are required
    here; of the IMPORTANT ones it can carry felt_quality. Whatever else of the 13 it carries is checked when
    present. Completeness is its share of the seven that a memory can carry: what has no place in a memory is not
    missing from it.
    """
    return _validated(vars(node), NODE_REQUIRED, NODE_IMPORTANT, _ON_NODES)


def _validated(
    data: Mapping[str, Any], required: Sequence[str], important: Sequence[str], carried: Sequence[str]
) -> ValidationResult:
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
        metadata_completeness=completeness(data, carried),
    )


def completeness(present: Mapping[str, Any], carried: Sequence[str] = tuple(_SPECS)) -> float:
    """Share of the fields `carried`, for a link all 13, that the record has, in [0, 1] (003, component 6)."""
    return sum(present.get(name) is not None for name in carried) / len(carried)


_ON_NODES: Final = tuple(name for name in _SPECS if name in ConsciousnessNode.model_fields)
_UNITS: Final = ("energy", "confidence", "energy_transfer_coefficient")


class Verdict(NamedTuple):
    """What the report keeps of one validation. `completeness` in [0, 1]."""

    valid: bool
    warned: bool
    completeness: float


type RecordKey = tuple[Level, str, int]
"""A memory record: level, id, version."""
type Columns = Mapping[str, Sequence[Any]]
type Flags = np.ndarray[Any, np.dtype[np.bool_]]
type Places = np.ndarray[Any, np.dtype[np.intp]]
type Shares = np.ndarray[Any, np.dtype[np.float64]]


def memory_verdicts(
    nodes: Iterable[ConsciousnessNode], links: Sequence[ConsciousnessRelationship]
) -> dict[RecordKey, Verdict]:
    """Each memory shown, judged by its own metadata and by the links shown that are attached to it.

    The unit is the memory, as in 003's report; what is judged is where its metadata live. A memory is fully
    valid when what it carries itself is valid and so is each of its links; it has a warning when it or one of
    its links lacks an IMPORTANT field. Its completeness is the mean of its links', or its own share of the
    fields that a memory can carry when no link of it is shown. A memory that is given twice counts once.
    """
    distinct: dict[RecordKey, ConsciousnessNode] = {}
    for node in nodes:
        distinct.setdefault((node.level, node.node_id, node.version), node)
    own, beside = _judged_nodes(list(distinct.values())), _judged_links(links)
    place: dict[tuple[Level, str], int] = {}
    at = [place.setdefault(key[:2], len(place)) for key in distinct]
    of, link = _attached(links, place)
    count = np.bincount(of, minlength=len(place))[at]
    faulty, warned, present = (
        np.bincount(of, each[link], len(place))[at] for each in (~beside.valid, beside.warned, beside.present)
    )
    verdicts = zip(
        (own.valid & (faulty == 0)).tolist(),
        (own.warned | (warned > 0)).tolist(),
        np.where(count, present / np.maximum(count, 1), own.present).tolist(),
        strict=True,
    )
    return dict(zip(distinct, map(Verdict._make, verdicts), strict=True))


def _attached(
    links: Sequence[ConsciousnessRelationship], place: Mapping[tuple[Level, str], int]
) -> tuple[Places, Places]:
    """Each end of a link that is among the memories: the memory's place and the link's; a loop has one end."""
    sources = np.array([place.get((link.level, link.source_id), -1) for link in links], np.intp)
    targets = np.array([place.get((link.level, link.target_id), -1) for link in links], np.intp)
    of = np.concatenate((sources, np.where(targets == sources, -1, targets)))
    return of[of >= 0], np.tile(np.arange(len(links)), 2)[of >= 0]


class _Judged(NamedTuple):
    """Many records: whether each is valid, lacks an IMPORTANT field, and its share of the fields it can carry."""

    valid: Flags
    warned: Flags
    present: Shares


def _judged_links(links: Sequence[ConsciousnessRelationship]) -> _Judged:
    """What `validate_consciousness_link` says of records, whose types are known: only ranges are asked."""
    columns = to_columns(links, tuple(_SPECS))
    said = zip(columns["goal"], columns["mindstate"], columns["emotion_vector"], strict=True)
    whole = np.array([bool(goal and mind) and felt is not None for goal, mind, felt in said], bool)
    return _Judged(whole & _within(columns, _UNITS), _lacking(columns, IMPORTANT), _present(columns))


def _judged_nodes(nodes: Sequence[ConsciousnessNode]) -> _Judged:
    """What `validate_node` says of records, likewise."""
    columns = to_columns(nodes, _ON_NODES)
    whole = np.array([goal != "" for goal in columns["goal"]], bool)
    within = _within(columns, NODE_REQUIRED)
    return _Judged(whole & within, _lacking(columns, NODE_IMPORTANT), _present(columns))


def _within(columns: Columns, names: Sequence[str]) -> Flags:
    """Whether the numbers of these names and all intensities of emotions are in [0, 1]."""
    numbers = np.array([columns[name] for name in names], np.float64)
    felt = [one or {} for one in columns["emotion_vector"]]
    much = np.fromiter(chain.from_iterable(one.values() for one in felt), np.float64)
    outside = ~((much >= 0.0) & (much <= 1.0))
    of = np.repeat(np.arange(len(felt)), [len(one) for one in felt])
    within: Flags = ((numbers >= 0.0) & (numbers <= 1.0)).all(axis=0)
    unfelt: Flags = np.bincount(of, outside, len(felt)) == 0
    return within & unfelt


def _lacking(columns: Columns, names: Sequence[str]) -> Flags:
    return np.array([None in row for row in zip(*(columns[name] for name in names), strict=True)], bool)


def _present(columns: Columns) -> Shares:
    rows = zip(*columns.values(), strict=True)
    return np.array([1.0 - row.count(None) / len(columns) for row in rows], np.float64)


def metadata_report(
    nodes: Iterable[ConsciousnessNode], links: Sequence[ConsciousnessRelationship]
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
