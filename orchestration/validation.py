"""Validation of link metadata in three tiers (003, component 6). Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from orchestration.traversal.graph import NOTHING_KEPT, KeptValues
from schemas.memory import (
    CONDITIONAL,
    IMPORTANT,
    REQUIRED,
    ConsciousnessNode,
    ConsciousnessRelationship,
    Grade,
    GraphKey,
    MetadataValidationReport,
    ResolutionState,
    Source,
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


class GivenMetadata(NamedTuple):
    """What a writer gave of the metadata of a record.

    `share`: of the fields that it can have, in [0, 1]; `inferred`: the fields that the service filled.
    """

    share: float
    inferred: tuple[str, ...] = ()


def given_of_memory(data: Mapping[str, Any]) -> GivenMetadata:
    """What was given of a memory's own metadata; `unset` of the data names the fields that were not."""
    return _given_metadata(data, _NODE_FIELDS)


def given_of_link(data: Mapping[str, Any]) -> GivenMetadata:
    """What was given of a link's metadata: nothing of one that the service made, whose goal is its own."""
    given = _given_metadata(data, tuple(_CHECKS))
    is_made = data.get("source") in _MADE_BY or "goal" in given.inferred
    return given._replace(share=0.0) if is_made else given


_MADE_BY: Final = (Source.INGESTION, Source.UPKEEP)


def _given_metadata(data: Mapping[str, Any], possible: Sequence[str]) -> GivenMetadata:
    unset = data.get("unset") or ()
    names = unset.split(",") if isinstance(unset, str) else unset
    present = [name for name in possible if data.get(name) is not None]
    inferred = tuple(name for name in present if name in names)
    return GivenMetadata((len(present) - len(inferred)) / len(possible), inferred)


class MetadataJudgement(NamedTuple):
    """What the metadata of one record tell by themselves: how it was validated, and what a writer gave."""

    valid: bool
    warned: bool
    completeness: float
    given: GivenMetadata


def judge_memory(node: ConsciousnessNode) -> MetadataJudgement:
    """The judgement of a memory without its links; it follows from the record alone."""
    return _judged(validate_node(node), given_of_memory(vars(node)))


def judge_link(link: ConsciousnessRelationship) -> MetadataJudgement:
    """The judgement of a link; it follows from the record alone."""
    return _judged(validate_consciousness_link(vars(link)), given_of_link(vars(link)))


def _judged(result: ValidationResult, given: GivenMetadata) -> MetadataJudgement:
    return MetadataJudgement(result.valid, bool(result.warnings), result.metadata_completeness, given)


class Verdict(NamedTuple):
    """The validation of one memory together with its links. `completeness` is in [0, 1]."""

    valid: bool
    warned: bool
    completeness: float


type RecordKey = tuple[GraphKey, str, int]
"""A memory record: level, id, version."""
type _LinksOf = Mapping[tuple[GraphKey, str], Sequence[MetadataJudgement]]


def memory_verdicts(
    nodes: Iterable[ConsciousnessNode],
    links: Iterable[ConsciousnessRelationship],
    kept: KeptValues = NOTHING_KEPT,
) -> dict[RecordKey, Verdict]:
    """Each memory, judged by its own metadata and by its links among those given.

    The unit is the memory, as in the report of 003; its metadata live in it and in its links. It is valid when it
    and each of its links are. It has a warning when it or one of its links lacks an IMPORTANT field. Its
    completeness is the mean of its links'; without links, the share of the fields that a memory can have. A memory
    given twice counts once.
    """
    of_links = _judge_links(links, kept)[0]
    return {key: _verdict(own, of_links.get(key[:2], ())) for key, own in _judge_memories(nodes, kept).items()}


def _judge_memories(nodes: Iterable[ConsciousnessNode], kept: KeptValues) -> dict[RecordKey, MetadataJudgement]:
    return {(node.graph_key, node.node_id, node.version): kept.of("judged", node, judge_memory) for node in nodes}


def _judge_links(
    links: Iterable[ConsciousnessRelationship], kept: KeptValues
) -> tuple[_LinksOf, list[MetadataJudgement]]:
    """The links of each memory, a loop once, and all of them."""
    of_links: dict[tuple[GraphKey, str], list[MetadataJudgement]] = {}
    every: list[MetadataJudgement] = []
    for link in links:
        judged = kept.of("judged", link, judge_link)
        every.append(judged)
        graph = link.graph_key
        for end in {link.source_id, link.target_id}:
            of_links.setdefault((graph, end), []).append(judged)
    return of_links, every


def _verdict(own: MetadataJudgement, links: Sequence[MetadataJudgement]) -> Verdict:
    if not links:
        return Verdict(own.valid, own.warned, own.completeness)
    return Verdict(
        own.valid and all(link.valid for link in links),
        own.warned or any(link.warned for link in links),
        math.fsum([link.completeness for link in links]) / len(links),
    )


def metadata_report(
    nodes: Iterable[ConsciousnessNode],
    links: Iterable[ConsciousnessRelationship],
    kept: KeptValues = NOTHING_KEPT,
) -> MetadataValidationReport:
    """The metadata quality of the memories of a stream, judged as by `memory_verdicts` (003, component 6).

    As in 003, a memory with warnings may be fully valid. Graded is what was given: a memory by the mean of its
    links of which a writer gave anything, else by itself. Without memories: zeros, and the grade poor.
    """
    memories = _judge_memories(nodes, kept)
    of_links, every = _judge_links(links, kept)
    faulty: list[str] = []
    warned, total, graded = 0, len(memories), list[float]()
    inferred = Counter(chain.from_iterable(judged.given.inferred for judged in (*every, *memories.values())))
    for key, own in memories.items():
        valid, is_warned, share = own.valid, own.warned, own.given.share
        if own_links := of_links.get(key[:2]):
            valid, is_warned, _ = _verdict(own, own_links)
            shares = [link.given.share for link in own_links if link.given.share]
            share = math.fsum(shares) / len(shares) if shares else share
        warned += is_warned
        if not valid:
            faulty.append(key[1])
        if share:
            graded.append(share)
    average = min(1.0, math.fsum(graded) / (len(graded) or 1))
    return MetadataValidationReport.unchecked(
        {
            "total_memories": total,
            "fully_valid_memories": total - len(faulty),
            "memories_with_warnings": warned,
            "memories_with_errors": len(faulty),
            "average_completeness": average,
            "incomplete_memory_ids": tuple(dict.fromkeys(faulty)),
            "quality_grade": grade(average, len(faulty) / (total or 1)),
            "graded_memories": len(graded),
            "inferred_fields": dict(inferred),
        }
    )


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
