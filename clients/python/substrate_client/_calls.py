"""The calls of the clients, and the fields that they take by name. Written by `scripts/client.py`."""
# mypy: disable-error-code="no-any-return"
# ruff: noqa: E501, I001
# fmt: off

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from typing_extensions import Unpack

from substrate_client.transport import Sender, SyncSender, block_on
from substrate_client.transport import collect_command, collect_fields, pop_level, with_form

Time: TypeAlias = "datetime | str"
"""A moment: a `datetime`, or a text such as `2025-07-20T14:30:00Z`."""
Json: TypeAlias = Mapping[str, Any]

if TYPE_CHECKING:
    from substrate_client.models import AgentLog, AgentNote, Agreement, Alive, Appetite, ApplyCommand, Associations, Calibration, ChangePage, CitizenPage, CitizenState, CitizenUsage, CloseRecord, CollectivePage, ConsciousnessNode, ConsciousnessRelationship, ConsciousnessStream, ContestRequest, ContestedPage, ContextReceipt, Correct, CorrectLink, DeliveriesAnswer, Draw, Drive, EmotionsMatch, EnergySeries, EraseCitizen, EraseEpisode, EraseMemory, ErasureReport, Feedback, FeedbackPage, FeedbackRecord, FeedbackTakenBack, Filters, Form, GivenEdge, GivenNode, GivenStimulus, Identity, IdentityDiff, Imagination, Imagine, IntendRequest, Intended, Judgement, JudgementsAnswer, KeyChange, KeyInfo, KeyList, KeyRequest, LearningMoments, Level, Life, LinkHistory, LinkPage, Look, MemoryHistory, MemoryPage, MemoryToolAnswer, MemoryToolCall, NewKey, NewWebhook, NotChanged, OfferOutcome, OfferReply, OffersAnswer, OffersRequest, OwnUpkeep, Part, Perspectives, Plurality, PoliciesAnswer, Policy, PolicyReach, PredictionPage, Prefer, QualityAnswer, Quarantine, QuarantineChange, QuarantineRequest, QuarantinesAnswer, QueryMode, ReEmbed, Ready, Relate, Relation, Remember, RepairOutcome, RepairRequest, Replay, Rerank, ResolutionState, Resolve, ResolveLink, Resonances, Resonate, Retract, RetractLink, RetrievalIntention, ReviseLink, RulesAnswer, RulesCheck, RulesVerdict, Run, RunRequest, RunsAnswer, SendAgain, Sense, SetPolicy, Share, Shared, Situation, SituationRequest, Source, StateBasedRetrieval, StateChange, StateHistory, StreamPage, StreamRecord, Supersede, SupersedeLink, SweepAnswer, SweepRequest, TagWalk, TemporalMode, Undo, UndoLink, Unrelate, Webhook, WebhookRequest, WebhooksAnswer, Weights, WhoIs, WindowItem, Withdraw, WriteContext, WriteReceipt

    AnyTemporalMode: TypeAlias = "TemporalMode | Literal['current', 'point_in_time', 'evolution', 'full_history']"
    AnyLevel: TypeAlias = "Level | Literal['N1', 'N2', 'N3']"
    AnyQueryMode: TypeAlias = "QueryMode | Literal['find_related_unresolved', 'find_similar_state', 'find_what_i_was_doing', 'find_resolution_patterns']"
    AnySource: TypeAlias = "Source | Literal['citizen', 'tool', 'system', 'ingestion', 'upkeep']"
    AnyResolutionState: TypeAlias = "ResolutionState | Literal['resolved', 'in_progress', 'blocked']"


class AsOfFields(TypedDict, total=False):
    as_of_time: Time | None
    known_at: Time | None

class PluralFields(TypedDict, total=False):
    plurality: Plurality | Json | None

class FilteredFields(TypedDict, total=False):
    filters: Filters | Json | None

class AsksGraphsFields(TypedDict, total=False):
    collectives: Sequence[str] | None

class StreamRequestFields(PluralFields, FilteredFields, AsksGraphsFields, total=False):
    citizen_id: str
    explain: bool
    max_tokens: int | None
    form: Form
    parts: Sequence[Part] | None
    require_valid: bool
    apply_feedback: bool
    reality_pressure: float | None

class RetrievalIntentionFields(StreamRequestFields, AsOfFields, total=False):
    query_text: str
    temporal_mode: AnyTemporalMode
    time_range_start: Time | None
    time_range_end: Time | None
    query_levels: Sequence[AnyLevel]
    max_results_per_level: int
    time_zone: str
    min_energy: float | None
    min_confidence: float | None
    required_emotions: Sequence[str] | None
    emotions_match: EmotionsMatch
    current_goal: str | None
    current_emotions: Mapping[str, float] | None
    current_energy: float | None
    rerank: Rerank | None
    prefer: Prefer | None
    conversation: str | None
    message_id: str | None
    intention_id: str
    generated_at: Time
    generated_by: str
    query: str
    emotions: Mapping[str, float] | None
    energy: float | None
    goal: str | None

class StateBasedRetrievalFields(StreamRequestFields, AsOfFields, total=False):
    current_energy: float | None
    current_emotions: Mapping[str, float] | None
    current_goal: str | None
    query_mode: AnyQueryMode
    include_only_unresolved: bool
    temporal_scope: Literal['recent', 'all_time']
    query_levels: Sequence[AnyLevel]
    max_results_per_level: int
    state_id: str
    generated_at: Time
    emotions: Mapping[str, float] | None
    energy: float | None
    goal: str | None
    mode: AnyQueryMode

class ResonateFields(PluralFields, FilteredFields, AsksGraphsFields, AsOfFields, total=False):
    nodes: Sequence[str]
    relations: Sequence[Relation | Json | str]
    emotion: str | None
    intensity: float | None
    result: str | None
    max_level: Literal['L0', 'L1', 'L2', 'L3']
    drive_bias: Mapping[str, float]
    query_text: str | None
    query_embedding: Sequence[float] | None
    window: Sequence[WindowItem | Json | str]
    focus: str | None
    weights: Weights | Json
    citizen_id: str
    by: Literal['signal', 'shape']
    id: str | None
    overlap: Literal['signal', 'memory']
    query_levels: Sequence[AnyLevel]
    max_results_per_level: int
    suppress_recent: bool
    rerank: Rerank | None
    query: str | None

class GraphRequestFields(TypedDict, total=False):
    level: AnyLevel
    citizen_id: str | None
    collective: str | None

class QuarantineChangeFields(GraphRequestFields, total=False):
    by: AnySource

class QuarantineRequestFields(QuarantineChangeFields, total=False):
    source: AnySource | None
    episode_id: str | None
    key_id: str | None
    speaker: str | None
    tag: str | None
    since: Time | None
    until: Time | None
    note: str
    dry_run: bool

class SetPolicyFields(GraphRequestFields, total=False):
    source: AnySource | None
    tag: str | None
    node_type: str | None
    keep_days: float | None
    keep_newest: int | None
    keep_until_resolved: bool
    age: Literal['written', 'happened']
    action: Literal['retract', 'erase']
    by: AnySource
    confirm: int | None
    dry_run: bool

class DrawRequestFields(TypedDict, total=False):
    count: int
    seed: int

class WriteContextFields(TypedDict, total=False):
    citizen_id: str
    command_id: str | None
    id: str | None
    description: str
    action: str | None
    nodes: Sequence[GivenNode | Json | str]
    edges: Sequence[GivenEdge | Json | str]
    emotion: str | None
    intensity: float | None
    result: str | None
    rule: str | None
    severity: Literal['block', 'warn', 'note'] | None
    goal: str | None
    certainty: float | None
    importance: float | None
    abstraction: Literal['L0', 'L1', 'L2', 'L3']
    tags: Sequence[str]
    outcome_of: str | None
    agent_log: Sequence[AgentNote | Json]
    valid_at: Time | None
    source: AnySource
    restate: bool
    text: str

class PagedFields(TypedDict, total=False):
    limit: int
    cursor: str | None

class AgentLogQueryFields(PagedFields, total=False):
    context_id: str | None

class FeedbackFields(AsksGraphsFields, AsOfFields, total=False):
    query_text: str | None
    used: Sequence[str]
    wrong: Sequence[str]
    not_changed: Sequence[NotChanged | Json]
    query_levels: Sequence[AnyLevel]
    feedback_id: str | None
    query: str | None

class ImagineFields(AsksGraphsFields, AsOfFields, total=False):
    citizen_id: str
    action: str
    nodes: Sequence[str]
    emotion: str | None
    query_levels: Sequence[AnyLevel]
    keep: bool

class PredictionQueryFields(PagedFields, total=False):
    open: bool

class RulesCheckFields(AsksGraphsFields, AsOfFields, total=False):
    citizen_id: str
    action: str
    nodes: Sequence[str]
    emotion: str | None
    result: str | None
    query_levels: Sequence[AnyLevel]

class RulesPageFields(PagedFields, AsksGraphsFields, AsOfFields, total=False):
    query_levels: Sequence[AnyLevel]

class OfferReplyFields(GraphRequestFields, total=False):
    answer: Literal['take', 'decline']

class OffersRequestFields(GraphRequestFields, total=False):
    limit: int

class AppetiteRequestFields(AsksGraphsFields, total=False):
    query_levels: Sequence[AnyLevel]
    time_zone: str

class IntendRequestFields(AppetiteRequestFields, total=False):
    run: bool
    apply_feedback: bool
    explain: bool
    max_tokens: int | None
    form: Form
    parts: Sequence[Part] | None

class OfCollectiveFields(TypedDict, total=False):
    collective: str | None

class ShareFields(TypedDict, total=False):
    command_id: str | None
    citizen_id: str
    from_level: Level | Literal['N1', 'N2']
    from_collective: str | None
    id: str
    level: Level | Literal['N2', 'N3']
    collective: str | None
    with_links: bool

class OnSharedLevelFields(TypedDict, total=False):
    level: Level | Literal['N2', 'N3']
    collective: str | None

class WithdrawFields(OnSharedLevelFields, total=False):
    command_id: str | None
    citizen_id: str
    id: str

class ContestRequestFields(WithdrawFields, total=False):
    reason: str

class ContestedQueryFields(OnSharedLevelFields, PagedFields, total=False):
    by: str | None
    author: str | None

class LookFields(FilteredFields, AsOfFields, total=False):
    citizen_id: str
    query_text: str
    id: str | None
    emotion: str | None
    query_levels: Sequence[AnyLevel]
    each: int
    query: str

class SituationRequestFields(AsksGraphsFields, AsOfFields, total=False):
    stimuli: Sequence[GivenStimulus | Json | str]
    window: Sequence[WindowItem | Json | str] | None
    focus: str | None
    since: Time | None
    query_levels: Sequence[AnyLevel]
    time_zone: str
    max_tokens: int

class TagWalkFields(PluralFields, FilteredFields, AsksGraphsFields, AsOfFields, total=False):
    citizen_id: str
    query_text: str
    max_chars: int
    query_levels: Sequence[AnyLevel]
    query: str

class WhoIsFields(AsOfFields, total=False):
    limit: int
    cursor: str | None
    citizen_id: str

class LearningPageFields(PagedFields, total=False):
    known_at: Time | None

class BetweenFields(TypedDict, total=False):
    from_time: Time
    to_time: Time | None
    known_at: Time | None

class ChangeFilterFields(GraphRequestFields, total=False):
    commands: Sequence[str]
    types: Sequence[str]
    sources: Sequence[AnySource]
    author: str | None

class WebhookRequestFields(ChangeFilterFields, total=False):
    url: str

class DeliveriesRequestFields(GraphRequestFields, total=False):
    status: Literal['delivered', 'waiting', 'dead', 'gone'] | None

class SendAgainFields(GraphRequestFields, total=False):
    delivery_id: str | None

class MemoryToolCallFields(GraphRequestFields, total=False):
    path: str
    view_range: Sequence[int] | None
    file_text: str | None
    old_str: str | None
    new_str: str | None
    insert_line: int | None
    insert_text: str | None
    old_path: str | None
    new_path: str | None

class CommandFields(GraphRequestFields, total=False):
    command_id: str | None

class RememberFields(CommandFields, total=False):
    id: str | None
    node_type: str
    name: str
    description: str
    valid_at: Time | None
    invalid_at: Time | None
    energy: float
    confidence: float
    emotion_vector: Mapping[str, float] | None
    felt_quality: str | None
    body_sensation: str | None
    goal: str | None
    resolution_state: AnyResolutionState | None
    tags: Sequence[str]
    buckets: Sequence[str]
    aliases: Sequence[str]
    importance: float | None
    intensity: float | None
    result: str | None
    rule: str | None
    severity: Literal['block', 'warn', 'note'] | None
    abstraction: Literal['L0', 'L1', 'L2', 'L3'] | None
    step: Literal['Decision', 'Action', 'Learning', 'Question', 'Courtesy', 'Echo'] | None
    correction_pattern_id: str | None
    discovery_energy: float | None
    source: AnySource
    episode_id: str | None
    speaker: str | None
    about: Sequence[str]
    restate: bool
    extra: Json
    text: str
    emotions: Mapping[str, float] | None

class CitizenRequestFields(OfCollectiveFields, total=False):
    citizen_id: str | None

class MomentRequestFields(AsOfFields, CitizenRequestFields, total=False):
    pass

class ListRequestFields(MomentRequestFields, PagedFields, total=False):
    level: AnyLevel
    source: AnySource | None
    key_id: str | None

class MemoryListRequestFields(ListRequestFields, total=False):
    node_types: Sequence[str]
    tags: Sequence[str]
    buckets: Sequence[str]
    speakers: Sequence[str]
    episodes: Sequence[str]
    sources: Sequence[AnySource]
    valid_from: Time | None
    valid_to: Time | None
    node_type: str | None
    tag: str | None
    bucket: str | None

class HistoryRequestFields(CitizenRequestFields, PagedFields, total=False):
    known_at: Time | None

class HistoryRequestOnLevelFields(HistoryRequestFields, total=False):
    level: AnyLevel

class MomentRequestOnLevelFields(MomentRequestFields, total=False):
    level: AnyLevel

class ChangeCommandFields(CommandFields, total=False):
    id: str
    expected_version: int | None
    source: AnySource

class StretchCommandFields(ChangeCommandFields, total=False):
    valid_from: Time | None
    valid_to: Time | None

class RevisionFields(StretchCommandFields, total=False):
    node_type: str | None
    name: str | None
    description: str | None
    energy: float | None
    confidence: float | None
    emotion_vector: Mapping[str, float] | None
    felt_quality: str | None
    body_sensation: str | None
    goal: str | None
    resolution_state: AnyResolutionState | None
    tags: Sequence[str] | None
    buckets: Sequence[str] | None
    aliases: Sequence[str] | None
    importance: float | None
    intensity: float | None
    result: str | None
    rule: str | None
    severity: Literal['block', 'warn', 'note'] | None
    abstraction: Literal['L0', 'L1', 'L2', 'L3'] | None
    step: Literal['Decision', 'Action', 'Learning', 'Question', 'Courtesy', 'Echo'] | None
    correction_pattern_id: str | None
    discovery_energy: float | None
    extra: Json | None
    text: str | None
    emotions: Mapping[str, float] | None

class SupersedeFields(RevisionFields, total=False):
    effective_at: Time | None

class CorrectingFields(StretchCommandFields, total=False):
    valid_at: Time | None
    invalid_at: Time | None

class CorrectFields(CorrectingFields, RevisionFields, total=False):
    pass

class RetractingFields(StretchCommandFields, total=False):
    effective_at: Time | None
    reason: Literal['reality_changed', 'discovered_false']

class ResolvingFields(StretchCommandFields, total=False):
    effective_at: Time | None
    resolution_state: AnyResolutionState
    cascade: bool

class UndoingFields(ChangeCommandFields, total=False):
    undoes: str | None
    undoes_source: AnySource | None
    undoes_key: str | None

class EraseMemoryFields(CommandFields, total=False):
    id: str
    dry_run: bool
    also: Sequence[str]
    with_copies: bool

class RelateFields(CommandFields, total=False):
    id: str | None
    source_id: str
    target_id: str
    relation_type: str
    energy: float
    confidence: float
    emotion_vector: Mapping[str, float]
    goal: str
    mindstate: str
    energy_transfer_coefficient: float
    resolution_state: AnyResolutionState
    formation_trigger: str | None
    felt_quality: str | None
    emotion_description: str | None
    body_sensation: str | None
    spatial_context: str | None
    sensory_details: Json | None
    valid_at: Time | None
    invalid_at: Time | None
    source: AnySource
    episode_id: str | None
    extra: Json
    emotions: Mapping[str, float]
    relation: str

class LinkListRequestFields(ListRequestFields, total=False):
    relation_type: str | None
    relation: str | None

class LinkRevisionFields(StretchCommandFields, total=False):
    energy: float | None
    confidence: float | None
    emotion_vector: Mapping[str, float] | None
    goal: str | None
    mindstate: str | None
    energy_transfer_coefficient: float | None
    resolution_state: AnyResolutionState | None
    formation_trigger: str | None
    felt_quality: str | None
    emotion_description: str | None
    body_sensation: str | None
    spatial_context: str | None
    sensory_details: Json | None
    emotions: Mapping[str, float] | None

class SupersedeLinkFields(LinkRevisionFields, total=False):
    effective_at: Time | None

class CorrectLinkFields(CorrectingFields, LinkRevisionFields, total=False):
    pass

class ReceiptRequestFields(CitizenRequestFields, total=False):
    level: AnyLevel | None

class ChangesRequestFields(ChangeFilterFields, total=False):
    after: str | None
    limit: int
    wait: float

class EraseEpisodeFields(CommandFields, total=False):
    episode_id: str
    with_copies: bool

class StateChangeFields(TypedDict, total=False):
    energy: float | None
    emotion_vector: Mapping[str, float] | None
    goal: str | None
    drives: Mapping[str, Drive | Json] | None
    window: Sequence[WindowItem | Json | str] | None
    focus: str | None
    senses: Mapping[str, Sense | Json | str | float] | None
    reality_pressure: float | None
    valid_at: Time | None
    source: AnySource
    emotions: Mapping[str, float] | None

class EraseCitizenFields(TypedDict, total=False):
    command_id: str | None
    citizen_id: str
    with_copies: bool

class ErasureRequestFields(TypedDict, total=False):
    command_id: str | None

class GraphsRequestFields(TypedDict, total=False):
    citizen_id: str | None
    levels: Sequence[AnyLevel] | None
    collective: str | None

class SweepRequestFields(GraphsRequestFields, total=False):
    findings_per_kind: int
    limit: int | None
    after: str | None

class AnyGraphRequestFields(TypedDict, total=False):
    citizen_id: str | None
    level: AnyLevel | None
    collective: str | None

class QualityRequestFields(AnyGraphRequestFields, total=False):
    limit: int

class RepairRequestFields(TypedDict, total=False):
    task: ApplyCommand | Json | ReEmbed | RetractLink | ReviseLink | CloseRecord

class RunsQueryFields(AnyGraphRequestFields, total=False):
    job: Literal['sweep', 'tags', 'consolidation', 'mirror', 'revaluation', 'retention', 'erasure'] | None
    limit: int

class RunRequestFields(GraphsRequestFields, total=False):
    jobs: Sequence[Literal['sweep', 'tags', 'consolidation', 'mirror', 'revaluation', 'retention', 'erasure']] | None
    dry_run: bool

class OwnUpkeepFields(TypedDict, total=False):
    mode: Literal['idle', 'off'] | None
    jobs: Sequence[Literal['sweep', 'tags', 'consolidation', 'mirror', 'revaluation', 'retention', 'erasure']] | None

class KeyRequestFields(TypedDict, total=False):
    name: str
    scopes: Sequence[str]
    highest_source: AnySource | None
    expires_at: Time | None

class KeyChangeFields(TypedDict, total=False):
    highest_source: AnySource

class Calls(Sender):
    """A method for each operation."""

    async def retrieve(self, request: RetrievalIntention | None = None, /, **given: Unpack[RetrievalIntentionFields]) -> ConsciousnessStream:
        """The part of a citizen's memory that matters now, over all three levels."""
        body = with_form(collect_fields(request, given))
        return await self._call("StreamAnswer", "POST /v1/retrieve", body=body, repeatable=not body.get("apply_feedback"), reads="stream_of")

    async def wake(self, request: StateBasedRetrieval | None = None, /, **given: Unpack[StateBasedRetrievalFields]) -> ConsciousnessStream:
        """The part of a citizen's memory that fits its state: the given one, else the kept or derived one."""
        body = with_form(collect_fields(request, given))
        return await self._call("StreamAnswer", "POST /v1/wake", body=body, repeatable=not body.get("apply_feedback"), reads="stream_of")

    async def resonate(self, request: Resonate | None = None, /, **given: Unpack[ResonateFields]) -> Resonances:
        """The memories that resonate with a signal, with the score of each channel."""
        return await self._call("Resonances", "POST /v1/resonate", body=collect_fields(request, given))

    async def quarantine(self, request: QuarantineRequest | None = None, /, **given: Unpack[QuarantineRequestFields]) -> Quarantine:
        """Hide what came from a source, an episode or a key, and what follows from it; `dry_run` only lists it."""
        return await self._call("Quarantine", "POST /v1/upkeep/quarantine", body=collect_fields(request, given), repeatable=False)

    async def list_quarantines(self, **given: Unpack[GraphRequestFields]) -> QuarantinesAnswer:
        """The quarantines of a graph, the newest first."""
        return await self._call("QuarantinesAnswer", "GET /v1/upkeep/quarantine", params=given)

    async def get_quarantine(self, quarantine_id: str, **given: Unpack[GraphRequestFields]) -> Quarantine:
        """A quarantine with the first things that it hid."""
        return await self._call("Quarantine", "GET /v1/upkeep/quarantine/{}", quarantine_id, params=given)

    async def release_quarantine(self, quarantine_id: str, request: QuarantineChange | None = None, /, **given: Unpack[QuarantineChangeFields]) -> Quarantine:
        """Bring back everything that it hid, but what was changed since."""
        return await self._call("Quarantine", "POST /v1/upkeep/quarantine/{}/release", quarantine_id, body=collect_fields(request, given))

    async def retract_quarantine(self, quarantine_id: str, request: QuarantineChange | None = None, /, **given: Unpack[QuarantineChangeFields]) -> Quarantine:
        """Make it final: what it hid stays retracted."""
        return await self._call("Quarantine", "POST /v1/upkeep/quarantine/{}/retract", quarantine_id, body=collect_fields(request, given))

    async def list_policies(self, **given: Unpack[GraphRequestFields]) -> PoliciesAnswer:
        """The policies of retention of a graph, by name."""
        return await self._call("PoliciesAnswer", "GET /v1/upkeep/policies", params=given)

    async def get_policy(self, name: str, **given: Unpack[GraphRequestFields]) -> PolicyReach:
        """A policy and what it reaches now."""
        return await self._call("PolicyReach", "GET /v1/upkeep/policies/{}", name, params=given)

    async def set_policy(self, name: str, request: SetPolicy | None = None, /, **given: Unpack[SetPolicyFields]) -> PolicyReach:
        """Store a policy, or with `dry_run` count what it reaches.

        Raises Conflict when it reaches more than half of the graph and `confirm` is not that count.
        """
        return await self._call("PolicyReach", "PUT /v1/upkeep/policies/{}", name, body=collect_fields(request, given))

    async def remove_policy(self, name: str, **given: Unpack[GraphRequestFields]) -> Policy:
        """Remove a policy. What it reached before stays as it is."""
        return await self._call("Policy", "DELETE /v1/upkeep/policies/{}", name, params=given, repeatable=False)

    async def revaluations(self, citizen_id: str, **given: Unpack[DrawRequestFields]) -> Draw:
        """Memories of low or no importance to judge anew; the same seed draws the same until one is judged."""
        return await self._call("Draw", "GET /v1/citizens/{}/revaluations", citizen_id, params=given)

    async def revaluate(self, citizen_id: str, judgements: Sequence[Judgement | Json]) -> JudgementsAnswer:
        """Give memories a new `importance`, or `leave` them as they are; each judgement counts on its own."""
        return await self._call("JudgementsAnswer", "POST /v1/citizens/{}/revaluations", citizen_id, body={"judgements": list(judgements)})

    async def write_context(self, request: WriteContext | None = None, /, **given: Unpack[WriteContextFields]) -> ContextReceipt:
        """Write an episode with its nodes, edges, feeling, result and rule, as a whole or not at all."""
        return await self._call("ContextReceipt", "POST /v1/contexts", body=collect_command(request, given))

    async def agent_log(self, citizen_id: str, **given: Unpack[AgentLogQueryFields]) -> AgentLog:
        """The notes that agents left with contexts, the newest first; `context_id` for those of one."""
        return await self._call("AgentLog", "GET /v1/citizens/{}/agent-log", citizen_id, params=given)

    async def tell_feedback(self, citizen_id: str, request: Feedback | None = None, /, **given: Unpack[FeedbackFields]) -> FeedbackRecord:
        """Say which memories answered a question (`used`), which did not (`wrong`), and what is `not_changed`."""
        return await self._call("FeedbackRecord", "POST /v1/citizens/{}/feedback", citizen_id, body=collect_command(request, given, "feedback_id"))

    async def list_feedback(self, citizen_id: str, **given: Unpack[PagedFields]) -> FeedbackPage:
        """One page of what the citizen told, and the factors now; `cursor` is the `next` of the page before."""
        return await self._call("FeedbackPage", "GET /v1/citizens/{}/feedback", citizen_id, params=given)

    async def take_back_feedback(self, citizen_id: str, feedback_id: str | None = None) -> FeedbackTakenBack:
        """Take one feedback back, or without an id all: from now on it is as if it had never been told."""
        if feedback_id is None:
            return await self._call("FeedbackTakenBack", "DELETE /v1/citizens/{}/feedback", citizen_id)
        return await self._call("FeedbackTakenBack", "DELETE /v1/citizens/{}/feedback/{}", citizen_id, feedback_id, repeatable=False)

    async def imagine(self, request: Imagine | None = None, /, **given: Unpack[ImagineFields]) -> Imagination:
        """What came of an action before; with `keep` the prediction is kept, to be compared with its outcome."""
        body = collect_fields(request, given)
        return await self._call("Imagination", "POST /v1/imagine", body=body, repeatable=not body.get("keep"))

    async def predictions(self, citizen_id: str, **given: Unpack[PredictionQueryFields]) -> PredictionPage:
        """The kept predictions and what came of them, the newest first."""
        return await self._call("PredictionPage", "GET /v1/citizens/{}/predictions", citizen_id, params=given)

    async def calibration(self, citizen_id: str) -> Calibration:
        """How right the kept predictions were: the Brier score, over time and by bins of shares."""
        return await self._call("Calibration", "GET /v1/citizens/{}/calibration", citizen_id)

    async def check_rules(self, request: RulesCheck | None = None, /, **given: Unpack[RulesCheckFields]) -> RulesVerdict:
        """Whether an action may be done by the citizen's rules: `allow`, `warn`, `block` or `unchecked`."""
        return await self._call("RulesVerdict", "POST /v1/rules/check", body=collect_fields(request, given), repeatable=False)

    async def rules(self, citizen_id: str, **given: Unpack[RulesPageFields]) -> RulesAnswer:
        """The rules that hold, the newest first, each with how often it held, failed and was checked."""
        return await self._call("RulesAnswer", "GET /v1/citizens/{}/rules", citizen_id, params=given)

    async def answer_offer(self, offer_id: str, request: OfferReply | None = None, /, **given: Unpack[OfferReplyFields]) -> OfferOutcome:
        """Take an offer up, which applies its command, or decline it, so that it does not come back."""
        return await self._call("OfferOutcome", "POST /v1/upkeep/offers/{}", offer_id, body=collect_fields(request, given), repeatable=False)

    async def offers(self, request: OffersRequest | None = None, /, **given: Unpack[OffersRequestFields]) -> OffersAnswer:
        """What could be resolved or unblocked and nobody took up, each with its ready-made command."""
        return await self._call("OffersAnswer", "GET /v1/upkeep/offers", params=collect_fields(request, given))

    async def intend(self, citizen_id: str, request: IntendRequest | None = None, /, **given: Unpack[IntendRequestFields]) -> Intended:
        """Decide what the appetite leads to, and ask it; with `run=False` only the decision is told."""
        body = with_form(collect_fields(request, given))
        return await self._call("SentIntended", "POST /v1/citizens/{}/intend", citizen_id, body=body, repeatable=not body.get("apply_feedback"), reads="expand_intended")

    async def appetite(self, citizen_id: str, **given: Unpack[AppetiteRequestFields]) -> Appetite:
        """What the citizen has to wake for: readings from 0 to 1, each with its reason and its memories."""
        return await self._call("Appetite", "GET /v1/citizens/{}/appetite", citizen_id, params=given)

    async def agreement(self, memory_id: str, level: Literal["N2", "N3"] = "N2", **given: Unpack[OfCollectiveFields]) -> Agreement:
        """How far the citizens agree on a shared memory: who holds it, who has a copy, who contests it."""
        return await self._call("Agreement", "GET /v1/memories/{}/{}/agreement", level, memory_id, params=given)

    async def share(self, request: Share | None = None, /, **given: Unpack[ShareFields]) -> Shared:
        """Copy a memory with its links to N2 or N3; sent again, it brings the copy up to date."""
        return await self._call("Shared", "POST /v1/share", body=collect_command(request, given))

    async def contest(self, request: ContestRequest | None = None, /, **given: Unpack[ContestRequestFields]) -> WriteReceipt:
        """Say that a shared memory of another is wrong, and why; sent again, it changes the reason."""
        return await self._call("WriteReceipt", "POST /v1/contests", body=collect_command(request, given))

    async def withdraw_contest(self, request: Withdraw | None = None, /, **given: Unpack[WithdrawFields]) -> WriteReceipt:
        """Take a contest back from now on."""
        return await self._call("WriteReceipt", "POST /v1/contests/withdraw", body=collect_command(request, given))

    async def list_contested(self, **given: Unpack[ContestedQueryFields]) -> ContestedPage:
        """One page of the shared memories that somebody contests, with who does and why."""
        return await self._call("ContestedPage", "GET /v1/contested", params=given)

    async def perspectives(self, request: Look | None = None, /, **given: Unpack[LookFields]) -> Perspectives:
        """A question looked at by meaning, by shape and by feeling; no memory stands in two of them."""
        return await self._call("Perspectives", "POST /v1/perspectives", body=collect_fields(request, given))

    async def situation(self, citizen_id: str, request: SituationRequest | None = None, /, **given: Unpack[SituationRequestFields]) -> Situation:
        """All that an agent of a cycle begins with: state, stimuli, window, contexts, rules, changes, a text."""
        return await self._call("Situation", "POST /v1/citizens/{}/situation", citizen_id, body=collect_fields(request, given))

    async def stream(self, stream_id: str) -> StreamRecord:
        """What a stream was asked and showed. Raises NotFound for one that is not noted."""
        return await self._call("StreamRecord", "GET /v1/streams/{}", stream_id)

    async def streams(self, citizen_id: str, **given: Unpack[PagedFields]) -> StreamPage:
        """A page of the streams of a citizen, the newest first."""
        return await self._call("StreamPage", "GET /v1/citizens/{}/streams", citizen_id, params=given)

    async def replay(self, stream_id: str) -> Replay:
        """Ask the same again, as of then and known then. Raises NotFound for a stream that is not noted."""
        return await self._call("Replay", "POST /v1/streams/{}/replay", stream_id)

    async def associate(self, request: TagWalk | None = None, /, **given: Unpack[TagWalkFields]) -> Associations:
        """Memories that match the words of a question, and others that their tags and links lead to."""
        return await self._call("Associations", "POST /v1/associate", body=collect_fields(request, given))

    async def identity(self, request: WhoIs | None = None, /, **given: Unpack[WhoIsFields]) -> Identity:
        """Who the citizen is, or was: the entities that most of its memories point to."""
        body = collect_fields(request, given)
        return await self._call("Identity", "GET /v1/citizens/{}/identity", body.pop('citizen_id', None), params=body)

    async def dissonances(self, citizen_id: str, **given: Unpack[LearningPageFields]) -> LearningMoments:
        """Every belief that changed, and how often each correction pattern recurs.

        With `limit` or `cursor` only one page; with `known_at` as it was known then.
        """
        return await self._call("LearningMoments", "GET /v1/citizens/{}/dissonances", citizen_id, params=given, pages="dissonances", reads="count_again")

    async def identity_diff(self, citizen_id: str, **given: Unpack[BetweenFields]) -> IdentityDiff:
        """What changed in the citizen between `from_time` and `to_time`, which is now if it is left out."""
        return await self._call("IdentityDiff", "GET /v1/citizens/{}/identity/diff", citizen_id, params=given)

    async def life(self, citizen_id: str, **given: Unpack[AsOfFields]) -> Life:
        """How much the citizen lived in each week, with which energy and feelings."""
        return await self._call("Life", "GET /v1/citizens/{}/life", citizen_id, params=given)

    async def create_webhook(self, request: WebhookRequest | None = None, /, **given: Unpack[WebhookRequestFields]) -> NewWebhook:
        """Send each change of a graph to an address from now on. The secret is shown only once."""
        return await self._call("NewWebhook", "POST /v1/webhooks", body=collect_fields(request, given), repeatable=False)

    async def list_webhooks(self, **given: Unpack[GraphRequestFields]) -> WebhooksAnswer:
        """The webhooks of a graph, without their secrets."""
        return await self._call("WebhooksAnswer", "GET /v1/webhooks", params=given)

    async def remove_webhook(self, webhook_id: str, **given: Unpack[GraphRequestFields]) -> Webhook:
        """Remove a webhook: nothing is sent any more."""
        return await self._call("Webhook", "DELETE /v1/webhooks/{}", webhook_id, params=given, repeatable=False)

    async def list_deliveries(self, webhook_id: str, **given: Unpack[DeliveriesRequestFields]) -> DeliveriesAnswer:
        """What became of the messages of a webhook, the newest first; with `status: dead` its dead letters."""
        return await self._call("DeliveriesAnswer", "GET /v1/webhooks/{}/deliveries", webhook_id, params=given)

    async def send_again(self, webhook_id: str, request: SendAgain | None = None, /, **given: Unpack[SendAgainFields]) -> DeliveriesAnswer:
        """Send dead messages again, one or all, at once and with five more tries. A webhook that ended goes on."""
        return await self._call("DeliveriesAnswer", "POST /v1/webhooks/{}/deliveries", webhook_id, body=collect_fields(request, given))

    async def memory_tool(self, request: MemoryToolCall | None = None, /, **given: Unpack[MemoryToolCallFields]) -> MemoryToolAnswer:
        """Answer a call of the memory tool of Anthropic's API over `/memories`, with the texts of its documentation."""
        return await self._call("MemoryToolAnswer", "POST /v1/memory_tool", body=collect_fields(request, given))

    async def remember(self, request: Remember | None = None, /, **given: Unpack[RememberFields]) -> WriteReceipt:
        """Store one memory."""
        return await self._call("WriteReceipt", "POST /v1/memories", body=collect_command(request, given))

    async def list_memories(self, **given: Unpack[MemoryListRequestFields]) -> MemoryPage:
        """One page of a graph, now or at a moment; `cursor` is the `next` of the page before."""
        return await self._call("MemoryPage", "GET /v1/memories", params=given)

    async def history(self, memory_id: str, **given: Unpack[HistoryRequestOnLevelFields]) -> MemoryHistory:
        """All records of the memory in the order they became known; with `limit` or `cursor` one page."""
        body = collect_fields(None, given)
        return await self._call("MemoryHistory", "GET /v1/memories/{}/{}/history", pop_level(body), memory_id, params=body, pages="records")

    async def get(self, memory_id: str, **given: Unpack[MomentRequestOnLevelFields]) -> ConsciousnessNode:
        """The memory as it is now, or at `as_of_time` as known at `known_at`."""
        body = collect_fields(None, given)
        return await self._call("ConsciousnessNode", "GET /v1/memories/{}/{}", pop_level(body), memory_id, params=body)

    async def supersede(self, request: Supersede | None = None, /, **given: Unpack[SupersedeFields]) -> WriteReceipt:
        """The world changed: the old content ends at `effective_at`, the new begins there."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/memories/{}/{}/supersede", pop_level(body), body.pop('id', None), body=body)

    async def correct(self, request: Correct | None = None, /, **given: Unpack[CorrectFields]) -> WriteReceipt:
        """We were wrong: the corrected content holds over the same valid time."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/memories/{}/{}/correct", pop_level(body), body.pop('id', None), body=body)

    async def retract(self, request: Retract | None = None, /, **given: Unpack[RetractingFields]) -> WriteReceipt:
        """The memory no longer holds from `effective_at` on; without `effective_at` it never held."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/memories/{}/{}/retract", pop_level(body), body.pop('id', None), body=body)

    async def resolve(self, request: Resolve | None = None, /, **given: Unpack[ResolvingFields]) -> WriteReceipt:
        """Set the resolution state of a memory: resolved, unless another state is named."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/memories/{}/{}/resolve", pop_level(body), body.pop('id', None), body=body)

    async def undo(self, request: Undo | None = None, /, **given: Unpack[UndoingFields]) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/memories/{}/{}/undo", pop_level(body), body.pop('id', None), body=body)

    async def erase_memory(self, request: EraseMemory | None = None, /, **given: Unpack[EraseMemoryFields]) -> ErasureReport:
        """Remove the memory for good, from the past too. This cannot be undone."""
        body = collect_command(request, given)
        return await self._call("ErasureReport", "POST /v1/memories/{}/{}/erase", pop_level(body), body.pop('id', None), body=body)

    async def relate(self, request: Relate | None = None, /, **given: Unpack[RelateFields]) -> WriteReceipt:
        """Store one link between two memories."""
        return await self._call("WriteReceipt", "POST /v1/links", body=collect_command(request, given))

    async def list_links(self, **given: Unpack[LinkListRequestFields]) -> LinkPage:
        """One page of a graph, now or at a moment; `cursor` is the `next` of the page before."""
        return await self._call("LinkPage", "GET /v1/links", params=given)

    async def link_history(self, link_id: str, **given: Unpack[HistoryRequestOnLevelFields]) -> LinkHistory:
        """All records of the link in the order they became known; with `limit` or `cursor` one page."""
        body = collect_fields(None, given)
        return await self._call("LinkHistory", "GET /v1/links/{}/{}/history", pop_level(body), link_id, params=body, pages="records")

    async def get_link(self, link_id: str, **given: Unpack[MomentRequestOnLevelFields]) -> ConsciousnessRelationship:
        """The link as it is now, or at `as_of_time` as known at `known_at`."""
        body = collect_fields(None, given)
        return await self._call("ConsciousnessRelationship", "GET /v1/links/{}/{}", pop_level(body), link_id, params=body)

    async def supersede_link(self, request: SupersedeLink | None = None, /, **given: Unpack[SupersedeLinkFields]) -> WriteReceipt:
        """The world changed: the old metadata end at `effective_at`, the new begin there."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/links/{}/{}/supersede", pop_level(body), body.pop('id', None), body=body)

    async def correct_link(self, request: CorrectLink | None = None, /, **given: Unpack[CorrectLinkFields]) -> WriteReceipt:
        """We were wrong: the corrected metadata hold over the same valid time."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/links/{}/{}/correct", pop_level(body), body.pop('id', None), body=body)

    async def unrelate(self, request: Unrelate | None = None, /, **given: Unpack[RetractingFields]) -> WriteReceipt:
        """The link no longer holds from `effective_at` on; without `effective_at` it never held."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/links/{}/{}/retract", pop_level(body), body.pop('id', None), body=body)

    async def resolve_link(self, request: ResolveLink | None = None, /, **given: Unpack[ResolvingFields]) -> WriteReceipt:
        """Set the resolution state of a link: resolved, unless another state is named."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/links/{}/{}/resolve", pop_level(body), body.pop('id', None), body=body)

    async def undo_link(self, request: UndoLink | None = None, /, **given: Unpack[UndoingFields]) -> WriteReceipt:
        """Revert the last change by new records; the mistake stays visible in the past."""
        body = collect_command(request, given)
        return await self._call("WriteReceipt", "POST /v1/links/{}/{}/undo", pop_level(body), body.pop('id', None), body=body)

    async def receipt(self, command_id: str, **given: Unpack[ReceiptRequestFields]) -> WriteReceipt:
        """The receipt of an applied command. Raises NotFound if there is none: a refused command leaves none."""
        return await self._call("WriteReceipt", "GET /v1/receipts/{}", command_id, params=given)

    async def changes(self, **given: Unpack[ChangesRequestFields]) -> ChangePage:
        """What changed in a graph after a cursor, in the order in which it was applied; go on with its `next`."""
        return await self._call("ChangePage", "GET /v1/changes", params=given)

    async def erase_episode(self, request: EraseEpisode | None = None, /, **given: Unpack[EraseEpisodeFields]) -> ErasureReport:
        """Remove a conversation for good: its memories, its links, and the people whom only it knew."""
        body = collect_command(request, given)
        return await self._call("ErasureReport", "DELETE /v1/episodes/{}", body.pop('episode_id', None), params=body)

    async def list_citizens(self, **given: Unpack[PagedFields]) -> CitizenPage:
        """One page of the citizens that the key may read; `cursor` is the `next` of the page before."""
        return await self._call("CitizenPage", "GET /v1/citizens", params=given)

    async def state(self, citizen_id: str, **given: Unpack[AsOfFields]) -> CitizenState:
        """The energy, emotions, goal and drives of the citizen, now or at `as_of_time` as known at `known_at`."""
        return await self._call("CitizenState", "GET /v1/citizens/{}/state", citizen_id, params=given)

    async def usage(self, citizen_id: str) -> CitizenUsage:
        """The memories, links, bytes and requests of the citizen, with its quotas."""
        return await self._call("CitizenUsage", "GET /v1/citizens/{}/usage", citizen_id)

    async def state_history(self, citizen_id: str, **given: Unpack[PagedFields]) -> StateHistory:
        """One page of the records of the state; `cursor` is the `next` of the page before."""
        return await self._call("StateHistory", "GET /v1/citizens/{}/state/history", citizen_id, params=given)

    async def energy(self, citizen_id: str, **given: Unpack[PagedFields]) -> EnergySeries:
        """The energy now, and one page of what set it; `cursor` is the `next` of the page before."""
        return await self._call("EnergySeries", "GET /v1/citizens/{}/energy", citizen_id, params=given)

    async def set_state(self, citizen_id: str, request: StateChange | None = None, /, **given: Unpack[StateChangeFields]) -> CitizenState:
        """Set the fields given, from `valid_at` or now on; the others stay."""
        return await self._call("CitizenState", "PUT /v1/citizens/{}/state", citizen_id, body=collect_fields(request, given))

    async def erase_citizen(self, request: EraseCitizen | None = None, /, **given: Unpack[EraseCitizenFields]) -> ErasureReport:
        """Remove the whole personal memory for good."""
        body = collect_command(request, given)
        return await self._call("ErasureReport", "DELETE /v1/citizens/{}", body.pop('citizen_id', None), params=body)

    async def list_collectives(self, **given: Unpack[PagedFields]) -> CollectivePage:
        """One page of the collectives that the key may read; `cursor` is the `next` of the page before."""
        return await self._call("CollectivePage", "GET /v1/collectives", params=given)

    async def erase_collective(self, collective: str, **given: Unpack[ErasureRequestFields]) -> ErasureReport:
        """Remove a whole collective for good, with all that anybody wrote there."""
        return await self._call("ErasureReport", "DELETE /v1/collectives/{}", collective, params=collect_command(None, given))

    async def sweep(self, request: SweepRequest | None = None, /, **given: Unpack[SweepRequestFields]) -> SweepAnswer:
        """Check whole graphs and report their state; with `limit` one batch, and `next` for the following one."""
        return await self._call("SweepAnswer", "POST /v1/upkeep/sweep", body=collect_fields(request, given))

    async def quality(self, **given: Unpack[QualityRequestFields]) -> QualityAnswer:
        """What sweeps of each whole graph found, oldest first; `fallen_from` is set where the grade fell."""
        return await self._call("QualityAnswer", "GET /v1/upkeep/quality", params=given)

    async def repair(self, request: RepairRequest | None = None, /, **given: Unpack[RepairRequestFields]) -> RepairOutcome:
        """Run the repair task of a finding. `gone`: the record changed since, and nothing was done."""
        return await self._call("RepairOutcome", "POST /v1/upkeep/repair", body=collect_fields(request, given))

    async def upkeep_runs(self, **given: Unpack[RunsQueryFields]) -> RunsAnswer:
        """The runs of upkeep, the newest first, who does the upkeep now, and which jobs there are."""
        return await self._call("RunsAnswer", "GET /v1/upkeep/runs", params=given)

    async def upkeep_run(self, run_id: str) -> Run:
        """One run, by its id."""
        return await self._call("Run", "GET /v1/upkeep/runs/{}", run_id)

    async def run_upkeep(self, request: RunRequest | None = None, /, **given: Unpack[RunRequestFields]) -> RunsAnswer:
        """Run jobs now; with `dry_run` only say what they would do. Raises Conflict when another run goes on."""
        return await self._call("RunsAnswer", "POST /v1/upkeep/run", body=collect_fields(request, given), repeatable=False)

    async def undo_upkeep(self, run_id: str) -> Run:
        """Take a whole run back; `errors` names what somebody else has changed since, and was left."""
        return await self._call("Run", "POST /v1/upkeep/runs/{}/undo", run_id)

    async def own_upkeep(self, citizen_id: str) -> OwnUpkeep:
        """Which upkeep the citizen asks for itself."""
        return await self._call("OwnUpkeep", "GET /v1/citizens/{}/upkeep", citizen_id)

    async def set_own_upkeep(self, citizen_id: str, request: OwnUpkeep | None = None, /, **given: Unpack[OwnUpkeepFields]) -> OwnUpkeep:
        """Say which upkeep the citizen wants: `mode="off"` for none in idle time, or `jobs` of its own."""
        return await self._call("OwnUpkeep", "PUT /v1/citizens/{}/upkeep", citizen_id, body=collect_fields(request, given))

    async def create_key(self, request: KeyRequest | None = None, /, **given: Unpack[KeyRequestFields]) -> NewKey:
        """Make a key. It is shown only once."""
        return await self._call("NewKey", "POST /v1/keys", body=collect_fields(request, given), repeatable=False)

    async def list_keys(self) -> KeyList:
        """All keys, oldest first, including revoked and expired ones."""
        return await self._call("KeyList", "GET /v1/keys")

    async def change_key(self, key_id: str, request: KeyChange | None = None, /, **given: Unpack[KeyChangeFields]) -> KeyInfo:
        """Change the highest source that the key may claim."""
        return await self._call("KeyInfo", "PATCH /v1/keys/{}", key_id, body=collect_fields(request, given))

    async def revoke_key(self, key_id: str) -> KeyInfo:
        """Revoke the key: it is refused from now on."""
        return await self._call("KeyInfo", "DELETE /v1/keys/{}", key_id)

    async def live(self) -> Alive:
        """Check that the process answers. Raises Unavailable at once when it does not."""
        return await self._call("Alive", "GET /health/live", repeatable=False)

    async def health(self) -> Ready:
        """Check that every request can be served. Raises Unavailable at once when not."""
        return await self._call("Ready", "GET /health/ready", repeatable=False)
# fmt: on


class SyncCalls(SyncSender):
    """The same methods; each waits for its answer."""

    retrieve = block_on(Calls.retrieve)
    wake = block_on(Calls.wake)
    resonate = block_on(Calls.resonate)
    quarantine = block_on(Calls.quarantine)
    list_quarantines = block_on(Calls.list_quarantines)
    get_quarantine = block_on(Calls.get_quarantine)
    release_quarantine = block_on(Calls.release_quarantine)
    retract_quarantine = block_on(Calls.retract_quarantine)
    list_policies = block_on(Calls.list_policies)
    get_policy = block_on(Calls.get_policy)
    set_policy = block_on(Calls.set_policy)
    remove_policy = block_on(Calls.remove_policy)
    revaluations = block_on(Calls.revaluations)
    revaluate = block_on(Calls.revaluate)
    write_context = block_on(Calls.write_context)
    agent_log = block_on(Calls.agent_log)
    tell_feedback = block_on(Calls.tell_feedback)
    list_feedback = block_on(Calls.list_feedback)
    take_back_feedback = block_on(Calls.take_back_feedback)
    imagine = block_on(Calls.imagine)
    predictions = block_on(Calls.predictions)
    calibration = block_on(Calls.calibration)
    check_rules = block_on(Calls.check_rules)
    rules = block_on(Calls.rules)
    answer_offer = block_on(Calls.answer_offer)
    offers = block_on(Calls.offers)
    intend = block_on(Calls.intend)
    appetite = block_on(Calls.appetite)
    agreement = block_on(Calls.agreement)
    share = block_on(Calls.share)
    contest = block_on(Calls.contest)
    withdraw_contest = block_on(Calls.withdraw_contest)
    list_contested = block_on(Calls.list_contested)
    perspectives = block_on(Calls.perspectives)
    situation = block_on(Calls.situation)
    stream = block_on(Calls.stream)
    streams = block_on(Calls.streams)
    replay = block_on(Calls.replay)
    associate = block_on(Calls.associate)
    identity = block_on(Calls.identity)
    dissonances = block_on(Calls.dissonances)
    identity_diff = block_on(Calls.identity_diff)
    life = block_on(Calls.life)
    create_webhook = block_on(Calls.create_webhook)
    list_webhooks = block_on(Calls.list_webhooks)
    remove_webhook = block_on(Calls.remove_webhook)
    list_deliveries = block_on(Calls.list_deliveries)
    send_again = block_on(Calls.send_again)
    memory_tool = block_on(Calls.memory_tool)
    remember = block_on(Calls.remember)
    list_memories = block_on(Calls.list_memories)
    history = block_on(Calls.history)
    get = block_on(Calls.get)
    supersede = block_on(Calls.supersede)
    correct = block_on(Calls.correct)
    retract = block_on(Calls.retract)
    resolve = block_on(Calls.resolve)
    undo = block_on(Calls.undo)
    erase_memory = block_on(Calls.erase_memory)
    relate = block_on(Calls.relate)
    list_links = block_on(Calls.list_links)
    link_history = block_on(Calls.link_history)
    get_link = block_on(Calls.get_link)
    supersede_link = block_on(Calls.supersede_link)
    correct_link = block_on(Calls.correct_link)
    unrelate = block_on(Calls.unrelate)
    resolve_link = block_on(Calls.resolve_link)
    undo_link = block_on(Calls.undo_link)
    receipt = block_on(Calls.receipt)
    changes = block_on(Calls.changes)
    erase_episode = block_on(Calls.erase_episode)
    list_citizens = block_on(Calls.list_citizens)
    state = block_on(Calls.state)
    usage = block_on(Calls.usage)
    state_history = block_on(Calls.state_history)
    energy = block_on(Calls.energy)
    set_state = block_on(Calls.set_state)
    erase_citizen = block_on(Calls.erase_citizen)
    list_collectives = block_on(Calls.list_collectives)
    erase_collective = block_on(Calls.erase_collective)
    sweep = block_on(Calls.sweep)
    quality = block_on(Calls.quality)
    repair = block_on(Calls.repair)
    upkeep_runs = block_on(Calls.upkeep_runs)
    upkeep_run = block_on(Calls.upkeep_run)
    run_upkeep = block_on(Calls.run_upkeep)
    undo_upkeep = block_on(Calls.undo_upkeep)
    own_upkeep = block_on(Calls.own_upkeep)
    set_own_upkeep = block_on(Calls.set_own_upkeep)
    create_key = block_on(Calls.create_key)
    list_keys = block_on(Calls.list_keys)
    change_key = block_on(Calls.change_key)
    revoke_key = block_on(Calls.revoke_key)
    live = block_on(Calls.live)
    health = block_on(Calls.health)
