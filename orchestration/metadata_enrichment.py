"""Candidates → memories and links with all their metadata, as the stream shows them (003, task 4). Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from orchestration.mind.energy import FOR_DECAY, NO_DECAY, Decay
from orchestration.ranking.activation import Activation
from orchestration.ranking.candidates import Candidate, CandidateLink, Candidates, Key, column_of, memory_column
from orchestration.ranking.consciousness_score import Score
from orchestration.traversal.graph import KeptValues
from schemas.memory import (
    ConsciousnessNode,
    ConsciousnessRelationship,
    Contest,
    GraphKey,
    Passage,
    graph_fields,
)
from schemas.temporal import AFTER_ALL, END_OF_TIME, Instant, to_datetime
from substrate.store import rows

type Contests = Mapping[tuple[GraphKey, str], tuple[Contest, ...]]
"""Who contests shared memories, by graph and id."""
NO_CONTESTS: Final[Contests] = MappingProxyType({})
_AS_OPEN: Final = "as_open"
"""What follows from a closed record where the question sees it as it was before."""


def enrich_memories(
    scores: Sequence[Score],
    candidates: Candidates,
    activation: Activation,
    *,
    explain: bool,
    decay: Decay = NO_DECAY,
    contested: Contests = NO_CONTESTS,
    kept: KeptValues | None = None,
) -> dict[Key, ConsciousnessNode]:
    """The memories of the scores, in their order; with `explain` also each part and term of each score.

    `kept` learns where values of each are kept.
    """
    memories = [candidates.memories[score.key] for score in scores]
    energies = decay.column(*(memory_column(memories, name) for name in FOR_DECAY)) or [None] * len(memories)
    known_to = candidates.known_to
    held_before, duplicates = activation.held_before, activation.duplicates
    nodes: dict[Key, ConsciousnessNode] = {}
    for score, memory, energy in zip(scores, memories, energies, strict=True):
        key, likeness = score.key, memory.likeness
        values = _shown_values(memory, known_to)
        fields = _stored_fields(values, memory, known_to)
        fields |= graph_fields(key[0])
        fields["retrieval_source"] = f"{key[0]}_{'graph' if likeness is None else 'vector'}"
        fields["relevance_score"] = round(score.activation, 6)
        fields["likeness"] = None if likeness is None else round(likeness, 6)
        fields["consciousness_adjusted_score"] = round(score.total, 6)
        fields["effective_energy"] = energy
        if memory.shown:
            fields["passage"] = Passage(**memory.shown._asdict())
        if key in held_before:
            later = held_before[key]
            began = to_datetime(int(candidates.memories[later].get("valid_at")))
            fields["overtaken_by"], fields["overtaken_at"] = later[1], began
        if key in duplicates:
            fields["duplicates"] = duplicates[key]
        if contested:
            fields["contested"] = contested.get(key[:2], ())
        if explain:
            terms = {**activation.parts[key], **score.terms}
            fields["score_terms"] = {name: round(value, 6) for name, value in terms.items()}
        node = nodes[key] = ConsciousnessNode.of_fields(fields)
        if kept is not None:
            kept.add(node, values)
    return nodes


def _shown_values(record: Candidate | CandidateLink, known_to: Instant) -> dict[str, Any]:
    """Where the values of a record are kept as the question sees it."""
    if known_to <= record.get("expired_at") < END_OF_TIME:
        values: dict[str, Any] = record.derived.setdefault(_AS_OPEN, {})
        return values
    return record.derived


def _stored_fields(values: dict[str, Any], record: Candidate | CandidateLink, known_to: Instant) -> dict[str, Any]:
    """The fields that follow from the record alone; the dictionary is a copy."""
    fields: dict[str, Any] | None = values.get("fields")
    if fields is None:
        if isinstance(record, Candidate):
            fields = rows.node_fields(record.row, known_to)
        else:
            fields = rows.link_fields(record.row, known_to)
        values["fields"] = fields
    return fields.copy()


def enrich_links(
    links: Sequence[CandidateLink],
    known_to: Instant = AFTER_ALL,
    decay: Decay = NO_DECAY,
    kept: KeptValues | None = None,
) -> list[ConsciousnessRelationship]:
    """The links as they were known at `known_to`: one that was closed then or later is still open.

    `kept` learns where values of each are kept.
    """
    energies = decay.column(*(column_of(links, name) for name in FOR_DECAY)) or [None] * len(links)
    shown = []
    for link, energy in zip(links, energies, strict=True):
        values = _shown_values(link, known_to)
        fields = _stored_fields(values, link, known_to)
        fields |= graph_fields(link.graph_key)
        fields["source_id"], fields["target_id"] = link.source, link.target
        fields["effective_energy"] = energy
        relationship = ConsciousnessRelationship.of_fields(fields)
        if kept is not None:
            kept.add(relationship, values)
        shown.append(relationship)
    return shown
