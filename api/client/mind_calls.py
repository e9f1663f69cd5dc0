"""The calls on the mind of a citizen: where it stands, what it lived and imagines, what it has to wake for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict, Unpack

from api.client import fields
from api.client.stream_calls import with_form
from api.client.transport import Call, Sender, collect_command, collect_fields, quote_segment
from orchestration.features.contexts.values import (
    AgentLog,
    AgentNote,
    ContextReceipt,
    GivenEdge,
    GivenNode,
    WriteContext,
)
from orchestration.features.imagination.values import Calibration, Imagination, Imagine, PredictionPage
from orchestration.features.rules.values import RulesAnswer, RulesCheck, RulesVerdict
from orchestration.features.situation.values import GivenStimulus, Situation, SituationRequest
from schemas.intention import Form, Part
from schemas.memory import Abstraction, Severity
from schemas.mind.appetite import Appetite, IntendRequest
from schemas.responses import Intended, SentIntended
from schemas.stream_forms import as_stream
from schemas.wave_signal import WindowItem


class ContextFields(fields.CitizenFields, total=False):
    command_id: str | None
    id: str | None
    description: str
    action: str | None
    nodes: Sequence[GivenNode | fields.Json | str]
    edges: Sequence[GivenEdge | fields.Json | str]
    emotion: str | None
    intensity: float | None
    result: str | None
    rule: str | None
    severity: Severity | None
    goal: str | None
    certainty: float | None
    importance: float | None
    abstraction: Abstraction
    tags: fields.Words
    outcome_of: str | None
    agent_log: Sequence[AgentNote | fields.Json]
    valid_at: fields.Time | None
    source: fields.AnySource
    restate: bool


class AgentLogFields(fields.PageFields, total=False):
    context_id: str | None


class ImagineFields(fields.CitizenFields, fields.MomentFields, total=False):
    action: str
    nodes: fields.Words
    emotion: str | None
    query_levels: Sequence[fields.AnyLevel]
    collectives: fields.Words | None
    keep: bool


class RulesCheckFields(fields.CitizenFields, fields.MomentFields, total=False):
    action: str
    nodes: fields.Words
    emotion: str | None
    result: str | None
    query_levels: Sequence[fields.AnyLevel]
    collectives: fields.Words | None


class RulesFields(fields.PageFields, fields.MomentFields, total=False):
    query_levels: Sequence[fields.AnyLevel]
    collectives: fields.Words | None


class PredictionFields(fields.PageFields, total=False):
    open: bool


class AppetiteFields(TypedDict, total=False):
    """An `AppetiteRequest`."""

    query_levels: Sequence[fields.AnyLevel]
    collectives: fields.Words | None
    time_zone: str


class IntendFields(AppetiteFields, total=False):
    """An `IntendRequest`."""

    run: bool
    apply_feedback: bool
    explain: bool
    max_tokens: int | None
    form: Form
    parts: Sequence[Part] | None


class SituationFields(fields.MomentFields, total=False):
    """A `SituationRequest`."""

    stimuli: Sequence[GivenStimulus | fields.Json | str]
    window: Sequence[WindowItem | fields.Json | str] | None
    focus: str | None
    since: fields.Time | None
    query_levels: Sequence[fields.AnyLevel]
    collectives: fields.Words | None
    time_zone: str
    max_tokens: int


class MindCalls(Sender):
    """The calls of a client on the mind of a citizen."""

    async def situation(
        self, citizen_id: str, request: SituationRequest | None = None, /, **given: Unpack[SituationFields]
    ) -> Situation:
        """All that an agent of a cycle begins with: state, stimuli, window, contexts, rules, changes, a text."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/situation"
        return await self._request(Situation, Call("POST", path, collect_fields(request, given)))

    async def write_context(
        self, context: WriteContext | None = None, /, **given: Unpack[ContextFields]
    ) -> ContextReceipt:
        """Write an episode with its nodes, edges, feeling, result and rule, as a whole or not at all."""
        call = Call("POST", "/v1/contexts", collect_command(context, given))
        return await self._request(ContextReceipt, call)

    async def agent_log(self, citizen_id: str, /, **page: Unpack[AgentLogFields]) -> AgentLog:
        """The notes that agents left with contexts, the newest first; `context_id` for those of one."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/agent-log"
        return await self._request(AgentLog, Call("GET", path, params=page))

    async def imagine(self, request: Imagine | None = None, /, **given: Unpack[ImagineFields]) -> Imagination:
        """What came of an action before; with `keep` the prediction is kept, to be compared with its outcome."""
        body = collect_fields(request, given)
        return await self._request(Imagination, Call("POST", "/v1/imagine", body, repeatable=not body.get("keep")))

    async def predictions(self, citizen_id: str, /, **page: Unpack[PredictionFields]) -> PredictionPage:
        """The kept predictions and what came of them, the newest first."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/predictions"
        return await self._request(PredictionPage, Call("GET", path, params=page))

    async def calibration(self, citizen_id: str) -> Calibration:
        """How right the kept predictions were: the Brier score, over time and by bins of shares."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/calibration"
        return await self._request(Calibration, Call("GET", path))

    async def appetite(self, citizen_id: str, /, **given: Unpack[AppetiteFields]) -> Appetite:
        """What the citizen has to wake for: readings from 0 to 1, each with its reason and its memories."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/appetite"
        return await self._request(Appetite, Call("GET", path, params=given))

    async def intend(
        self, citizen_id: str, request: IntendRequest | None = None, /, **given: Unpack[IntendFields]
    ) -> Intended:
        """Decide what the appetite leads to, and ask it; with `run=False` only the decision is told."""
        body = with_form(collect_fields(request, given))
        path = f"/v1/citizens/{quote_segment(citizen_id)}/intend"
        call = Call("POST", path, body, repeatable=not body.get("apply_feedback"))
        sent = await self._request(SentIntended, call)
        stream = None if sent.stream is None else as_stream(sent.stream)
        return Intended(citizen_id=sent.citizen_id, appetite=sent.appetite, decision=sent.decision, stream=stream)

    async def check_rules(
        self, request: RulesCheck | None = None, /, **given: Unpack[RulesCheckFields]
    ) -> RulesVerdict:
        """Whether an action may be done by the citizen's rules: `allow`, `warn`, `block` or `unchecked`."""
        body = collect_fields(request, given)
        return await self._request(RulesVerdict, Call("POST", "/v1/rules/check", body, repeatable=False))

    async def rules(self, citizen_id: str, /, **page: Unpack[RulesFields]) -> RulesAnswer:
        """The rules that hold, the newest first, each with how often it held, failed and was checked."""
        path = f"/v1/citizens/{quote_segment(citizen_id)}/rules"
        return await self._request(RulesAnswer, Call("GET", path, params=page))
