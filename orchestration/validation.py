"""Validation of link metadata in three tiers (003, component 6). Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from schemas.base import to_columns
from schemas.memory import ConsciousnessNode, ConsciousnessRelationship, GraphKey, ResolutionState, Source
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
"""The fields of the two tiers that a memory itself must or should have; the others are metadata of links."""

_STATES = tuple(state.value for state in ResolutionState)


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and 0.0 <= value <= 1.0 and not isinstance(value, bool)


def _is_emotions(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value)) and all(map(_is_share, value.values()))


def _is_filled_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) > 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


_CHECKS: Mapping[str, Callable[[Any], bool]] = {
    "energy": _is_share,
    "confidence": _is_share,
    "emotion_vector": _is_emotions,
    "goal": _is_filled_text,
    "mindstate": _is_filled_text,
    "energy_transfer_coefficient": _is_share,
    "resolution_state": lambda value: value in _STATES,
    "formation_trigger": _is_text,
    "felt_quality": _is_text,
    "emotion_description": _is_text,
    "body_sensation": _is_text,
    "spatial_context": _is_text,
    "sensory_details": lambda value: isinstance(value, Mapping),
}
"""The 13 metadata fields of 003, in the order of their tiers."""
_TIERS: Final = {
    **dict.fromkeys(REQUIRED, "REQUIRED"),
    **dict.fromkeys(IMPORTANT, "IMPORTANT"),
    **dict.fromkeys(CONDITIONAL, "CONDITIONAL"),
}


def validate_field_type(field_name: str, value: Any) -> bool:
    """Whether the value fits the field; an unknown field may hold anything (003, component 6)."""
    fits = _CHECKS.get(field_name)
    return fits is None or fits(value)


def validate_consciousness_link(link_data: Mapping[str, Any]) -> ValidationResult:
    """Errors, warnings and completeness of the metadata of one link (003, component 6).

    An error: a REQUIRED field that is missing, or any field with an invalid value. A warning: an IMPORTANT field
    that is missing. Completeness is the share of the 13 fields that are present.
    """
    return _validate(link_data, REQUIRED, IMPORTANT, tuple(_CHECKS))


def validate_node(node: ConsciousnessNode) -> ValidationResult:
    """The same for the memory's own metadata (003, component 6).

    003 makes energy and confidence of a memory mandatory: these two are required. The only IMPORTANT field that a
    memory can have is felt_quality. Completeness is the share of the seven fields that a memory can have; the
    other six live in its links.
    """
    return _validate(vars(node), NODE_REQUIRED, NODE_IMPORTANT, _NODE_FIELDS)


def _validate(
    data: Mapping[str, Any], required: Sequence[str], important: Sequence[str], possible: Sequence[str]
) -> ValidationResult:
    errors = []
    for name, fits in _CHECKS.items():
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
        metadata_completeness=completeness(data, possible),
    )


def completeness(data: Mapping[str, Any], possible: Sequence[str] = tuple(_CHECKS)) -> float:
    """The share of the possible fields, for a link all 13, that the record has; in [0, 1] (003, component 6)."""
    return sum(data.get(name) is not None for name in possible) / len(possible)


_NODE_FIELDS: Final = tuple(name for name in _CHECKS if name in ConsciousnessNode.model_fields)
_SHARES: Final = ("energy", "confidence", "energy_transfer_coefficient")


class Verdict(NamedTuple):
    """The validation of one memory together with its links. `completeness` is in [0, 1]."""

    valid: bool
    warned: bool
    completeness: float


type RecordKey = tuple[GraphKey, str, int]
"""A memory record: level, id, version."""
type Columns = Mapping[str, Sequence[Any]]
type Flags = np.ndarray[Any, np.dtype[np.bool_]]
type Places = np.ndarray[Any, np.dtype[np.intp]]
type Shares = np.ndarray[Any, np.dtype[np.float64]]


def memory_verdicts(
    nodes: Iterable[ConsciousnessNode], links: Sequence[ConsciousnessRelationship]
) -> dict[RecordKey, Verdict]:
    """Each memory, judged by its own metadata and by its links among those given.

    The unit is the memory, as in the report of 003; its metadata live in it and in its links. It is valid when it
    and each of its links are. It has a warning when it or one of its links lacks an IMPORTANT field. Its
    completeness is the mean of its links'; without links, the share of the fields that a memory can have. A memory
    given twice counts once.
    """
    distinct: dict[RecordKey, ConsciousnessNode] = {}
    for node in nodes:
        distinct.setdefault((node.graph_key, node.node_id, node.version), node)
    of_nodes, of_links = _judge_nodes(list(distinct.values())), _judge_links(links)
    number: dict[tuple[GraphKey, str], int] = {}
    numbers = [number.setdefault(key[:2], len(number)) for key in distinct]
    ends = _link_ends(links, number)

    def sum_of_links(values: Flags | Shares) -> Shares:
        """The sum over the links of each memory."""
        return np.bincount(ends.memory, values[ends.link], len(number))[numbers]

    count = np.bincount(ends.memory, minlength=len(number))[numbers]
    mean_completeness = sum_of_links(of_links.completeness) / np.maximum(count, 1)
    verdicts = zip(
        (of_nodes.valid & (sum_of_links(~of_links.valid) == 0)).tolist(),
        (of_nodes.warned | (sum_of_links(of_links.warned) > 0)).tolist(),
        np.where(count, mean_completeness, of_nodes.completeness).tolist(),
        strict=True,
    )
    return dict(zip(distinct, map(Verdict._make, verdicts), strict=True))


class _LinkEnds(NamedTuple):
    """The ends of links at a memory: the numbers of the memories, and the places of the links."""

    memory: Places
    link: Places


def _link_ends(
    links: Sequence[ConsciousnessRelationship], number: Mapping[tuple[GraphKey, str], int]
) -> _LinkEnds:
    """The ends at the numbered memories; a loop has one end."""
    sources = np.array([number.get((link.graph_key, link.source_id), -1) for link in links], np.intp)
    targets = np.array([number.get((link.graph_key, link.target_id), -1) for link in links], np.intp)
    ends = np.concatenate((sources, np.where(targets == sources, -1, targets)))
    return _LinkEnds(ends[ends >= 0], np.tile(np.arange(len(links)), 2)[ends >= 0])


class _Verdicts(NamedTuple):
    """The verdicts on many records, as columns."""

    valid: Flags
    warned: Flags
    completeness: Shares


def _judge_links(links: Sequence[ConsciousnessRelationship]) -> _Verdicts:
    """As `validate_consciousness_link`, for models: their types fit, so only ranges and presence are checked."""
    columns = to_columns(links, tuple(_CHECKS))
    required = zip(columns["goal"], columns["mindstate"], columns["emotion_vector"], strict=True)
    filled = np.array([bool(goal and mind) and felt is not None for goal, mind, felt in required], bool)
    return _Verdicts(filled & _in_range(columns, _SHARES), _lacking(columns, IMPORTANT), _completeness(columns))


def _judge_nodes(nodes: Sequence[ConsciousnessNode]) -> _Verdicts:
    """As `validate_node`, for models."""
    columns = to_columns(nodes, _NODE_FIELDS)
    filled = np.array([goal != "" for goal in columns["goal"]], bool)
    in_range = _in_range(columns, NODE_REQUIRED)
    return _Verdicts(filled & in_range, _lacking(columns, NODE_IMPORTANT), _completeness(columns))


def _in_range(columns: Columns, names: Sequence[str]) -> Flags:
    """Whether the numbers in these columns and all intensities of emotions are in [0, 1]."""
    numbers = np.array([columns[name] for name in names], np.float64)
    vectors = [vector or {} for vector in columns["emotion_vector"]]
    intensities = np.fromiter(chain.from_iterable(vector.values() for vector in vectors), np.float64)
    outside = ~((intensities >= 0.0) & (intensities <= 1.0))
    record = np.repeat(np.arange(len(vectors)), [len(vector) for vector in vectors])
    numbers_fit: Flags = ((numbers >= 0.0) & (numbers <= 1.0)).all(axis=0)
    emotions_fit: Flags = np.bincount(record, outside, len(vectors)) == 0
    return numbers_fit & emotions_fit


def _lacking(columns: Columns, names: Sequence[str]) -> Flags:
    lists = [columns[name] for name in names]
    return np.array([None in row for row in zip(*lists, strict=True)], bool)


def _completeness(columns: Columns) -> Shares:
    rows = zip(*columns.values(), strict=True)
    return np.array([1.0 - row.count(None) / len(columns) for row in rows], np.float64)


class Given(NamedTuple):
    """What a writer gave of the metadata of a record.

    `share`: of the fields that it can have, in [0, 1]; `inferred`: the fields that the service filled.
    """

    share: float
    inferred: tuple[str, ...] = ()


def given_of_memory(data: Mapping[str, Any]) -> Given:
    """What was given of a memory's own metadata; `unset` of the data names the fields that were not."""
    return _given(data, _NODE_FIELDS)


def given_of_link(data: Mapping[str, Any]) -> Given:
    """What was given of a link's metadata: nothing of one that the service made, whose goal is its own."""
    given = _given(data, tuple(_CHECKS))
    is_made = data.get("source") in _MADE_BY or "goal" in given.inferred
    return given._replace(share=0.0) if is_made else given


_MADE_BY: Final = (Source.INGESTION, Source.UPKEEP)


def _given(data: Mapping[str, Any], possible: Sequence[str]) -> Given:
    unset = data.get("unset") or ()
    names = unset.split(",") if isinstance(unset, str) else unset
    present = [name for name in possible if data.get(name) is not None]
    inferred = tuple(name for name in present if name in names)
    return Given((len(present) - len(inferred)) / len(possible), inferred)


def metadata_report(
    nodes: Iterable[ConsciousnessNode], links: Sequence[ConsciousnessRelationship]
) -> MetadataValidationReport:
    """The metadata quality of the memories of a stream, by `memory_verdicts` (003, component 6).

    As in 003, a memory with warnings may be fully valid. Graded is what was given: a memory by the mean of its
    links of which a writer gave anything, else by itself. Without memories: zeros, and the grade poor.
    """
    distinct = {(node.graph_key, node.node_id, node.version): node for node in nodes}
    verdicts = memory_verdicts(distinct.values(), links)
    faulty = [key[1] for key, verdict in verdicts.items() if not verdict.valid]
    total = len(verdicts)
    inferred: Counter[str] = Counter()
    of_links: dict[tuple[GraphKey, str], list[float]] = {}
    for link in links:
        given = given_of_link(vars(link))
        inferred.update(given.inferred)
        for end in {link.source_id, link.target_id} if given.share else ():
            of_links.setdefault((link.graph_key, end), []).append(given.share)
    shares: list[float] = []
    for key, node in distinct.items():
        own = given_of_memory(vars(node))
        inferred.update(own.inferred)
        of_its_links = of_links.get(key[:2])
        shares.append(math.fsum(of_its_links) / len(of_its_links) if of_its_links else own.share)
    graded = [share for share in shares if share]
    average = min(1.0, math.fsum(graded) / (len(graded) or 1))
    return MetadataValidationReport(
        total_memories=total,
        fully_valid_memories=total - len(faulty),
        memories_with_warnings=sum(verdict.warned for verdict in verdicts.values()),
        memories_with_errors=len(faulty),
        average_completeness=average,
        incomplete_memory_ids=tuple(dict.fromkeys(faulty)),
        quality_grade=grade_given(average, faulty=len(faulty), graded=len(graded), total=total),
        graded_memories=len(graded),
        inferred_fields=dict(inferred),
    )


def grade_given(average: float, *, faulty: int, graded: int, total: int) -> Grade | None:
    """The grade of what was given; None when there are memories and nothing was given of any."""
    if total and not graded and not faulty:
        return None
    return grade(average, faulty / (total or 1))


def assess_metadata_quality(results: Sequence[ValidationResult]) -> Grade:
    """The grade of many validations (003, component 6); poor for none."""
    if not results:
        return "poor"
    average = math.fsum(result.metadata_completeness for result in results) / len(results)
    return grade(average, sum(not result.valid for result in results) / len(results))


def grade(average_completeness: float, error_rate: float) -> Grade:
    """The grade of a mean completeness and a share of records with errors, both in [0, 1] (003, component 6).

    excellent: completeness above 0.9, no errors. good: above 0.75, errors below 0.1. acceptable: above 0.6, errors
    below 0.25. Otherwise poor.
    """
    if average_completeness > 0.9 and error_rate == 0:
        return "excellent"
    if average_completeness > 0.75 and error_rate < 0.1:
        return "good"
    if average_completeness > 0.6 and error_rate < 0.25:
        return "acceptable"
    return "poor"
