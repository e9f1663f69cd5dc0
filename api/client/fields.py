"""The fields that the methods of the clients take by name, for editors and type checkers.

Each stands for the fields of one value of `schemas`, under all their names. The service checks them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from schemas.intention import Filters, Form, Part, Plurality, Prefer, QueryMode, Rerank
from schemas.memory import Abstraction, InvalidationReason, Level, ResolutionState, Severity, Source, Step
from schemas.mind.state import Drive, Sense
from schemas.temporal import TemporalMode
from schemas.upkeep import RepairTask
from schemas.wave_signal import Channel, Relation, Weights, WindowItem

type Time = datetime | str
"""A moment: a `datetime`, or a text such as `2025-07-20T14:30:00Z`."""
type Felt = Mapping[str, float]
"""Emotions by name, each from 0 to 1."""
type Words = Sequence[str]
type Json = Mapping[str, Any]
type AnyLevel = Level | Literal["N1", "N2", "N3"]
type AnyState = ResolutionState | Literal["resolved", "in_progress", "blocked"]
type AnySource = Source | Literal["citizen", "tool", "system", "ingestion", "upkeep"]
type AnyTemporalMode = TemporalMode | Literal["current", "point_in_time", "evolution", "full_history"]
type AnyQueryMode = (
    QueryMode
    | Literal["find_related_unresolved", "find_similar_state", "find_what_i_was_doing", "find_resolution_patterns"]
)


class CitizenFields(TypedDict, total=False):
    citizen_id: str | None


class MomentFields(TypedDict, total=False):
    as_of_time: Time | None
    known_at: Time | None


class PageFields(TypedDict, total=False):
    limit: int
    cursor: str | None


class LearningFields(PageFields, total=False):
    known_at: Time | None


class LevelFields(TypedDict, total=False):
    level: AnyLevel
    collective: str | None


class RecordFields(CitizenFields, MomentFields, LevelFields, total=False):
    pass


class HistoryFields(CitizenFields, LearningFields, LevelFields, total=False):
    pass


class ListFields(RecordFields, PageFields, total=False):
    source: AnySource | None
    key_id: str | None


class MemoryListFields(ListFields, total=False):
    """A `MemoryListRequest`: a page of `Filters`; `node_type`, `tag`, `bucket` and `source` take one value."""

    node_type: str | None
    tag: str | None
    bucket: str | None
    node_types: Words
    tags: Words
    buckets: Words
    speakers: Words
    episodes: Words
    sources: Sequence[AnySource]
    valid_from: Time | None
    valid_to: Time | None


class LinkListFields(ListFields, total=False):
    relation_type: str | None
    relation: str | None


class QuestionFields(CitizenFields, MomentFields, total=False):
    query_levels: Sequence[AnyLevel]
    collectives: Words | None
    max_results_per_level: int
    plurality: Plurality | Json | None
    filters: Filters | Json | None


class StreamFields(QuestionFields, total=False):
    explain: bool
    max_tokens: int | None
    form: Form
    parts: Sequence[Part] | None
    require_valid: bool
    apply_feedback: bool
    reality_pressure: float | None
    current_emotions: Felt | None
    emotions: Felt | None
    current_energy: float | None
    energy: float | None
    current_goal: str | None
    goal: str | None
    generated_at: Time


class RetrieveFields(StreamFields, total=False):
    """A `RetrievalIntention`; `query` is `query_text`, `emotions` are `current_emotions`."""

    query_text: str
    query: str
    temporal_mode: AnyTemporalMode
    time_range_start: Time | None
    time_range_end: Time | None
    min_energy: float | None
    min_confidence: float | None
    required_emotions: Words | None
    emotions_match: Literal["any", "all"]
    time_zone: str
    rerank: Rerank | None
    prefer: Prefer | None
    conversation: str | None
    message_id: str | None
    intention_id: str
    generated_by: str


class WakeFields(StreamFields, total=False):
    """A `StateBasedRetrieval`; `mode` is `query_mode`, `emotions` are `current_emotions`."""

    query_mode: AnyQueryMode
    mode: AnyQueryMode
    include_only_unresolved: bool
    temporal_scope: Literal["recent", "all_time"]
    state_id: str


class ResonateFields(QuestionFields, total=False):
    by: Literal["signal", "shape"]
    id: str | None
    nodes: Words
    relations: Sequence[Relation | Json | str]
    emotion: str | None
    intensity: float | None
    result: str | None
    max_level: Abstraction | int
    drive_bias: Felt
    query_text: str | None
    query: str | None
    query_embedding: Sequence[float] | None
    window: Sequence[WindowItem | Json | str]
    focus: str | None
    weights: Weights | Mapping[Channel, float]
    overlap: Literal["signal", "memory"]
    suppress_recent: bool
    rerank: Rerank | None


class AssociateFields(CitizenFields, MomentFields, total=False):
    query_text: str
    query: str
    max_chars: int
    query_levels: Sequence[AnyLevel]
    collectives: Words | None
    plurality: Plurality | Json | None
    filters: Filters | Json | None


class IdentityFields(CitizenFields, MomentFields, PageFields, total=False):
    """A `WhoIs`."""


class StateFields(TypedDict, total=False):
    """A `StateChange`; `emotions` are `emotion_vector`."""

    energy: float | None
    emotion_vector: Felt | None
    emotions: Felt | None
    goal: str | None
    drives: Mapping[str, Drive | Json] | None
    window: Sequence[WindowItem | Json | str] | None
    focus: str | None
    senses: Mapping[str, Sense | Json | str | float] | None
    reality_pressure: float | None
    valid_at: Time | None
    source: AnySource


class FeedbackFields(MomentFields, total=False):
    """A `Feedback`; `query` is `query_text`."""

    query_text: str
    query: str
    used: Words
    wrong: Words
    not_changed: Sequence[Mapping[str, str] | Json]
    query_levels: Sequence[AnyLevel]
    collectives: Words | None
    feedback_id: str | None


class CommandFields(CitizenFields, LevelFields, total=False):
    command_id: str | None


class ChangeFields(CommandFields, total=False):
    id: str
    expected_version: int | None
    source: AnySource


class StretchFields(ChangeFields, total=False):
    valid_from: Time | None
    valid_to: Time | None


class EndFields(StretchFields, total=False):
    """A `Retract` or an `Unrelate`."""

    effective_at: Time | None
    reason: InvalidationReason


class ResolveFields(StretchFields, total=False):
    """A `Resolve` or a `ResolveLink`."""

    effective_at: Time | None
    resolution_state: AnyState
    cascade: bool


class OffersFields(CitizenFields, LevelFields, total=False):
    limit: int


class OfferReplyFields(CitizenFields, LevelFields, total=False):
    answer: Literal["take", "decline"]


class UndoFields(ChangeFields, total=False):
    undoes: str | None
    undoes_source: AnySource | None
    undoes_key: str | None


class MemoryFields(TypedDict, total=False):
    """The content of a memory; `text` is `description`, `emotions` are `emotion_vector`."""

    node_type: str
    name: str
    description: str
    text: str
    energy: float
    confidence: float
    emotion_vector: Felt | None
    emotions: Felt | None
    felt_quality: str | None
    body_sensation: str | None
    goal: str | None
    resolution_state: AnyState | None
    tags: Words | None
    buckets: Words | None
    aliases: Words | None
    importance: float | None
    intensity: float | None
    result: str | None
    rule: str | None
    severity: Severity | None
    abstraction: Abstraction | None
    step: Step | None
    correction_pattern_id: str | None
    discovery_energy: float | None
    extra: Json | None


class RememberFields(CommandFields, MemoryFields, total=False):
    """A `Remember`; `text` is `description`, `emotions` are `emotion_vector`."""

    id: str | None
    valid_at: Time | None
    invalid_at: Time | None
    source: AnySource
    episode_id: str | None
    speaker: str | None
    about: Words
    restate: bool


class SupersedeFields(StretchFields, MemoryFields, total=False):
    """A `Supersede`: of the content only what changes."""

    effective_at: Time | None


class CorrectFields(StretchFields, MemoryFields, total=False):
    """A `Correct`: of the content only what changes."""

    valid_at: Time | None
    invalid_at: Time | None


class LinkFields(TypedDict, total=False):
    """The content of a link; `emotions` are `emotion_vector`."""

    energy: float
    confidence: float
    emotion_vector: Felt
    emotions: Felt
    goal: str
    mindstate: str
    energy_transfer_coefficient: float
    resolution_state: AnyState
    formation_trigger: str | None
    felt_quality: str | None
    emotion_description: str | None
    body_sensation: str | None
    spatial_context: str | None
    sensory_details: Json | None


class RelateFields(CommandFields, LinkFields, total=False):
    """A `Relate`; `emotions` are `emotion_vector`, `relation` is `relation_type`."""

    id: str | None
    source_id: str
    target_id: str
    relation_type: str
    relation: str
    valid_at: Time | None
    invalid_at: Time | None
    source: AnySource
    episode_id: str | None
    extra: Json


class SupersedeLinkFields(StretchFields, LinkFields, total=False):
    """A `SupersedeLink`: of the content only what changes."""

    effective_at: Time | None


class CorrectLinkFields(StretchFields, LinkFields, total=False):
    """A `CorrectLink`: of the content only what changes."""

    valid_at: Time | None
    invalid_at: Time | None


class EraseMemoryFields(CommandFields, total=False):
    id: str
    also: Sequence[str]
    dry_run: bool
    with_copies: bool


class EraseCitizenFields(CitizenFields, total=False):
    command_id: str | None
    with_copies: bool


class EraseEpisodeFields(EraseCitizenFields, LevelFields, total=False):
    episode_id: str


class SweepFields(CitizenFields, total=False):
    levels: Sequence[AnyLevel] | None
    collective: str | None
    findings_per_kind: int
    limit: int | None
    after: str | None


class QualityFields(CitizenFields, total=False):
    level: AnyLevel | None
    collective: str | None
    limit: int


class RepairFields(TypedDict, total=False):
    task: RepairTask | Json


class KeyFields(TypedDict, total=False):
    name: str
    scopes: Words
    highest_source: AnySource | None
    expires_at: Time | None


class KeyChangeFields(TypedDict, total=False):
    highest_source: AnySource
