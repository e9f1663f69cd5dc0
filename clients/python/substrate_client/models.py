"""The values that the clients take and give. Written by `scripts/client.py`."""
# ruff: noqa

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Mapping
from collections.abc import Sequence
from datetime import datetime
from enum import Enum
from html import escape
from json import dumps
from operator import itemgetter
from re import sub
from typing import Annotated, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from pydantic import ConfigDict, Field, RootModel

from substrate_client.errors import SubstrateError, refusal_error
from substrate_client.values import AnswerPart, RequestPart


class LoggedNote(AnswerPart):
    """A note of an agent, and the context with which it was written."""

    context_id: str
    written_at: datetime
    agent: str
    said: str = ""
    decision: str | None = None
    tokens: int | None = None


class AgentLog(AnswerPart):
    """The notes of agents, the newest context first, within it in their order; `next` is the next page's cursor.

    `tokens` adds up those of this page.
    """

    citizen_id: str
    notes: tuple[LoggedNote, ...] = ()
    tokens: int = 0
    next: str | None = None


class AgentNote(RequestPart):
    """What one agent of the cycle said and decided. `tokens`: how many its call took."""

    agent: str
    said: str = ""
    decision: str | None = None
    tokens: int | None = None


GraphKey: TypeAlias = str


class Level(str, Enum):
    """The three graphs: personal, collective, ecosystem."""

    N1 = "N1"
    N2 = "N2"
    N3 = "N3"

    __str__ = str.__str__


class NamesGraph(Protocol):
    """Says which graph it is of."""

    @property
    def level(self) -> Level: ...
    @property
    def collective(self) -> str | None: ...


def graph_key(level: Level, collective: str | None) -> GraphKey:
    """The key of a graph of this level, in N2 of a collective; the level itself where it is the default one."""
    return level if collective is None else f"{level}:{collective}"


class InGraph:
    """A value that says by `level` and `collective` which graph it is of."""

    @property
    def graph_key(self: NamesGraph) -> GraphKey:
        """The key of its graph."""
        collective = self.collective
        return self.level if collective is None else graph_key(self.level, collective)


class Agreement(InGraph, AnswerPart):
    """How far the citizens agree on a shared memory: those who hold it among all who spoke, in [0, 1].

    A citizen holds it who wrote these words there, as its own or as a copy; `shared_by` are those with a copy.
    Who holds and contests counts as contesting. Null where nobody spoke.
    """

    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    agreement: float | None
    held_by: tuple[str, ...] = ()
    contested_by: tuple[str, ...] = ()
    shared_by: tuple[str, ...] = ()


class Alive(AnswerPart):
    """The process answers."""

    status: Literal["alive"] = "alive"
    open: bool = False
    """True when no key is needed."""


class LastAsked(AnswerPart):
    """The last stream of the citizen: when it was asked for, what for, and at which levels."""

    stream_id: str
    at: datetime
    goal: str | None = None
    levels: tuple[Level, ...] = ()


ReadingName: TypeAlias = Literal[
    "context_hunger", "unresolved_tension", "pain", "drives", "due", "context", "revaluations"
]


class AppetiteSource(AnswerPart):
    """A memory that a reading comes from. `amount`, in [0, 1]: what it would give alone."""

    id: str
    level: Level
    collective: str | None = None
    name: str
    amount: float


class Reading(AnswerPart):
    """One thing that may wake a citizen. `amount`: 0 is nothing, 1 the most. `reason`: why, in one clause.

    `sources`: the memories that it comes from, the strongest first, 8 at most; `further` counts the others.
    """

    name: ReadingName
    amount: float
    reason: str
    sources: tuple[AppetiteSource, ...] = ()
    further: int = 0


PressureOrigin: TypeAlias = Literal["kept", "due", "default"]


class Appetite(AnswerPart):
    """What a citizen has to wake for at the moment `at`.

    `readings`: one of each name, the strongest first. `tension_source`: the words of the open work that pulls
    most. `dominant_emotions`: those that the state has most of. `active_contexts`: what its work and its talk are
    about. `reality_pressure`: how much presses from outside, as the state keeps it or as what is due makes it.
    """

    citizen_id: str
    at: datetime
    last_stream: LastAsked | None = None
    readings: tuple[Reading, ...]
    tension_source: str | None = None
    dominant_emotions: tuple[str, ...] = ()
    active_contexts: tuple[str, ...] = ()
    reality_pressure: float = 0.5
    pressure_from: PressureOrigin = "default"
    notes: tuple[str, ...] = ()

    def reading(self, name: ReadingName) -> Reading:
        """The reading of this name."""
        return next(each for each in self.readings if each.name == name)

    def amount(self, name: ReadingName) -> float:
        """How much of it there is, in [0, 1]."""
        return self.reading(name).amount


class GraphRequest(InGraph, RequestPart):
    """A request about one graph: of a citizen, of a shared level, or of a `collective` beside the default one.

    With a collective and no level the level is N2.
    """

    level: Level = Level.N1
    citizen_id: str | None = None
    collective: str | None = None


class Command(GraphRequest):
    """The fields of all commands.

    `command_id` is chosen by the client and unique in a graph: it identifies a repeated send, and the receipt can
    be read again by it. Without one, each send is a new command. `citizen_id` names the N1 graph and is required
    there; `collective` names a graph of N2 beside the default one. `subject`: what a command of this kind writes.
    """

    command_id: str | None = None


class Source(str, Enum):
    """The origin of a record."""

    CITIZEN = "citizen"
    TOOL = "tool"
    SYSTEM = "system"
    INGESTION = "ingestion"
    UPKEEP = "upkeep"

    __str__ = str.__str__


class ChangeCommand(Command):
    """A change of a memory or a link, by its id.

    `expected_version` guards against a lost update: the change is refused when the record valid at the beginning
    of the stretch (else now) has another version. `source` is the source of the change; the rule of trust refuses
    one that weighs less than the source of the record.
    """

    id: str
    expected_version: int | None = None
    source: Source = Source.CITIZEN


class StretchCommand(ChangeCommand):
    """A change of a stretch of valid time: `[valid_from, valid_to)`.

    Without `valid_from` it begins now; without `valid_to` it reaches to the end of what is known, and a gap on the
    way stays one. An empty stretch, or one that begins where nothing is known or ends beyond a gap, is refused.
    Each command defines what it changes when neither is given.
    """

    valid_from: datetime | None = None
    valid_to: datetime | None = None


class Retracting(StretchCommand):
    """Something no longer holds, or never held."""

    command: str
    effective_at: datetime | None = None
    reason: Literal["reality_changed", "discovered_false"] = "discovered_false"


class Retract(Retracting):
    """The memory does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`.

    Without `valid_to` it ends for good. With none of the three, the record that holds now never held. Where none
    holds now, it is the last one before, else the first one after, and the receipt says so.
    """

    command: Literal["retract"] = "retract"
    id: str


class Correcting(StretchCommand):
    """What is believed to have held is another than it was."""

    command: str
    valid_at: datetime | None = None
    invalid_at: datetime | None = None


class Revising(StretchCommand):
    """New values for fields of the `subject`; it is never without the fields of `_never_absent`."""

    pass


class ResolutionState(str, Enum):
    """The state of a piece of work; it decides how much energy a memory gives back."""

    RESOLVED = "resolved"
    IN_PROGRESS = "in_progress"
    BLOCKED = "blocked"

    __str__ = str.__str__


class Revision(Revising):
    """New content for a memory: only the fields given change, null clears a field that may be absent.

    A given `extra` replaces the whole former `extra`.
    """

    id: str
    node_type: str | None = None
    name: str | None = None
    description: str | None = None
    energy: float | None = None
    confidence: float | None = None
    emotion_vector: dict[str, float] | None = None
    felt_quality: str | None = None
    body_sensation: str | None = None
    goal: str | None = None
    resolution_state: ResolutionState | None = None
    tags: tuple[str, ...] | None = None
    buckets: tuple[str, ...] | None = None
    aliases: tuple[str, ...] | None = None
    importance: float | None = None
    intensity: float | None = None
    result: str | None = None
    rule: str | None = None
    severity: Literal["block", "warn", "note"] | None = None
    abstraction: Literal["L0", "L1", "L2", "L3"] | None = None
    step: Literal["Decision", "Action", "Learning", "Question", "Courtesy", "Echo"] | None = None
    correction_pattern_id: str | None = None
    discovery_energy: float | None = None
    extra: dict[str, Any] | None = None


class Correct(Correcting, Revision):
    """We were wrong (`discovered_false`): the corrected content holds over the same valid time.

    This is the valid time of the record that holds now, or the given stretch. Where none holds now, it is the last
    one before, else the first one after, and the receipt says so. `valid_at` and `invalid_at` correct the valid
    time itself; null leaves the end open; over another record they are refused.
    """

    command: Literal["correct"] = "correct"
    id: str


class ApplyCommand(RequestPart):
    """Apply a command; it carries its own level, citizen, expected version and command id."""

    action: Literal["apply"] = "apply"
    command: Retract | Correct


class SharedFrom(InGraph, AnswerPart):
    """Where a copy comes from: the record of a memory of this graph, and on N1 of this citizen."""

    level: Level
    citizen_id: str | None = None
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    version: int


class Passage(AnswerPart):
    """A part of a long text: its characters from `start` to before `end`, counted from 0, of `length` in all."""

    start: int
    end: int
    length: int


class Contest(AnswerPart):
    """A link CONTESTS: who holds that a shared memory is wrong, since when, and why.

    `by` is the author of the link, `statement_id` the memory with the reason.
    """

    by: str | None = None
    reason: str = ""
    statement_id: str
    link_id: str
    since: datetime


class ConsciousnessNode(InGraph, AnswerPart):
    """One record of a memory with all its metadata (003, component 4).

    All scores and felt numbers are in [0, 1]; an open end of time is None. `relevance_score` is the score of the
    query that found it. `likeness` is the cosine of its vector and that of the question (in a waking, that of the
    goal or the feelings), in [−1, 1]; None where no search by likeness returned it. With `explain`, `score_terms`
    holds each part of the final score. `closed_reason` says why the record is no longer believed,
    `invalidation_reason` why its valid time ended, else why it was closed. `author` is the citizen who wrote it,
    if known, in N2 and N3. `effective_energy` is what time has left of `energy` at the moment of the answer.
    """

    node_id: str
    node_type: str
    name: str
    description: str
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    version: int = 1
    invalidation_reason: Literal["reality_changed", "discovered_false"] | None = None
    closed_reason: Literal["reality_changed", "discovered_false", "quarantined", "undone"] | None = None
    correction_pattern_id: str | None = None
    discovery_energy: float | None = None
    energy: float
    confidence: float
    emotion_vector: dict[str, float] | None = None
    felt_quality: str | None = None
    body_sensation: str | None = None
    goal: str | None = None
    resolution_state: ResolutionState | None = None
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    importance: float | None = None
    intensity: float | None = None
    result: str | None = None
    rule: str | None = None
    severity: Literal["block", "warn", "note"] | None = None
    abstraction: Literal["L0", "L1", "L2", "L3"] | None = None
    step: Literal["Decision", "Action", "Learning", "Question", "Courtesy", "Echo"] | None = None
    source: Source = Source.CITIZEN
    author: str | None = None
    shared_from: SharedFrom | None = None
    """Of a copy in N2 or N3: what it was shared from."""
    episode_id: str | None = None
    speaker: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    unset: tuple[str, ...] = ()
    """Fields that the writer left out. What their words say was read from the text; energy, confidence and
    emotions that it does not tell have their defaults; `tags` were made at ingestion.
    `middle_of_description`: only its first and last part, 100,000 characters, were read for names."""
    unreadable: tuple[str, ...] = ()
    """Fields whose stored form cannot be shown; they are left out of the answer."""
    passage: Passage | None = None
    """Set where a question shows only a part of a long text: `description` is then this part, the one that
    answers. The whole text is read by the id of the memory."""
    shortened: tuple[str, ...] = ()
    """Fields that were left out or cut for `max_tokens`; of `description` see `passage`."""
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    retrieval_source: str = ""
    relevance_score: float = 0.0
    likeness: float | None = None
    overtaken_by: str | None = None
    """Inferred: the id of a later memory of the same voice that seems to tell what holds instead. Nobody
    superseded this one."""
    overtaken_at: datetime | None = None
    """Inferred: since when the later memory holds, and so until when this one did."""
    duplicates: tuple[str, ...] = ()
    """The ids of other memories found with the same words, which are shown as this one."""
    contested: tuple[Contest, ...] = ()
    """Of a memory of N2 or N3: who contests it; filled in by streams."""
    effective_energy: float | None = None
    consciousness_adjusted_score: float | None = None
    score_terms: dict[str, float] | None = None


class Associated(AnswerPart):
    """A memory that was found, and why.

    `words` is its BM25 score, doubled when `boosted`: a word of the question is in a tag, a bucket or the name of
    the speaker. `score` is `words` divided by that of the best hit, plus `support` by the hits around it, plus
    `plurality` (importance times recency) if it was requested. `bridges` are the tags shared with hits; `made`
    those of them that upkeep made for this memory; `around` the hits that link to it, nearest first.
    """

    memory: ConsciousnessNode
    score: float
    words: float = 0.0
    boosted: bool = False
    support: float = 0.0
    plurality: float = 0.0
    bridges: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    around: tuple[str, ...] = ()


class Bridge(InGraph, AnswerPart):
    """A tag (`#tag`), a bucket (`@bucket`) or a made tag (`~tag`) of the direct hits that the walk follows.

    `memories`: how many have it, given or made. `weight`, in [0, 1]: the mean relevance of these memories, damped
    by how common the tag is.
    """

    name: str
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    memories: int
    weight: float


class Associations(AnswerPart):
    """The answer of a walk: direct hits, their tags, and memories that share the tags but not the words.

    Both lists are ordered by score, and the scores are comparable; with plurality at most `per_week` memories of
    one week come first. `omitted` counts memories that did not fit.
    """

    citizen_id: str
    keywords: tuple[str, ...]
    anchors: tuple[Associated, ...] = ()
    tags: tuple[Bridge, ...] = ()
    neighbours: tuple[Associated, ...] = ()
    anchor_chars: int = 0
    neighbour_chars: int = 0
    omitted: int = 0
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class CalibrationScore(AnswerPart):
    """How right the predictions of a citizen were: the mean Brier score of those `answered`, in [0, 2].

    `usual_brier`: that of always telling how often each result came, known only afterwards. `brier` below it says
    that the predictions tell the cases apart.
    """

    answered: int = 0
    brier: float | None = None
    usual_brier: float | None = None


class ReliabilityBin(AnswerPart):
    """All shares from `from_share` to `to_share` that predictions gave to a result.

    `predicted` is their mean, `happened` how often the result came.
    """

    from_share: float
    to_share: float
    count: int
    predicted: float
    happened: float


class CalibrationPeriod(AnswerPart):
    """The predictions answered in one month, `month` as 2026-01, and their mean Brier score."""

    month: str
    answered: int
    brier: float


class Calibration(CalibrationScore):
    """How right the kept predictions of a citizen were, as the score of Brier (1950) over all results.

    `kept` predictions in all, `waiting` without an outcome, `unsaid`: answered, but there was too little to say.
    """

    citizen_id: str
    kept: int = 0
    waiting: int = 0
    unsaid: int = 0
    reliability: tuple[ReliabilityBin, ...] = ()
    over_time: tuple[CalibrationPeriod, ...] = ()


class AppliedChange(InGraph, AnswerPart):
    """A command that was applied, or an event: which memory or link it changed, since when that is known, by whom.

    `version` is the record that it wrote or closed, `type` that of the memory or link. All are null for a
    conversation, whose `command` is `ingest`; it comes again when more of it is stored, and `part` counts that.
    Events have the commands `state`, `learn`, `run`, `quarantine` and ids that begin with `event-`.
    """

    cursor: str
    command_id: str
    command: str
    known_at: datetime
    level: Level
    collective: str | None | None = None
    citizen_id: str | None = None
    subject: Literal["memory", "link"] | None = None
    id: str | None = None
    version: int | None = None
    type: str | None = None
    of: str | None = None
    name: str | None = None
    source: Source | None = None
    author: str | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    part: int = 1


class ChangePage(AnswerPart):
    """The next changes of a graph, in the order in which they were applied; `next` is the cursor behind them.

    `more`: there are more already. `erased`: something was erased since the cursor; nothing says what, so read
    anew what you keep of the graph. `epoch` rises when the graph has another past, as after a restore; cursors of
    an earlier one are refused.
    """

    changes: tuple[AppliedChange, ...] = ()
    next: str
    more: bool = False
    erased: bool = False
    epoch: int


class CitizenPage(AnswerPart):
    """Ids of citizens of whom something is stored, in their order; `next` is the cursor of the next page."""

    citizens: tuple[str, ...]
    next: str | None = None


class Drive(RequestPart):
    """A drive of a citizen: its satisfaction, its nodes, and its effect on channels.

    Below a satisfaction of 0.3 its nodes are added to every signal that is built (002), and `bias` multiplies the
    weights of channels (000).
    """

    satisfaction: float = 1.0
    nodes: tuple[str, ...] = ()
    bias: dict[
        Literal["nodes", "relations", "emotion", "result", "likeness", "words", "beside", "importance", "recency"],
        float,
    ] = Field(default_factory=dict)


class WindowItem(RequestPart):
    """An item that the citizen sees: a memory, a text, or both. `shown_at` defaults to now."""

    id: str | None = None
    text: str | None = None
    shown_at: datetime | None = None


class Sense(RequestPart):
    """What a citizen senses: a text, a strength, or both. A text or a number alone stands for either."""

    text: str | None = None
    intensity: float = 1.0


def is_pain(sense: str) -> bool:
    """Whether the sense of this name is pain (002)."""
    return sense.strip().lower() == "pain"


class Felt(AnswerPart):
    """The content of a state. The defaults are the state of a citizen that has none.

    `window` and `focus` are what the citizen saw and thought of in its last cycle, which ended at `last_cycle_at`;
    `senses`: what it senses, by name; `pain` is one of them (002).
    `reality_pressure`, in [0, 1]: how much presses from outside, where the citizen said so; null where it did not,
    and then what is due says it.
    """

    energy: float = 0.5
    emotion_vector: dict[str, float] = Field(default_factory=dict)
    goal: str | None = None
    drives: dict[str, Drive] = Field(default_factory=dict)
    window: tuple[WindowItem, ...] = ()
    focus: str | None = None
    senses: dict[str, Sense] = Field(default_factory=dict)
    last_cycle_at: datetime | None = None
    reality_pressure: float | None = None
    last_stream_id: str | None = None

    @property
    def pain(self) -> float:
        """How strong the sense `pain` is, in [0, 1]; 0 without one."""
        return max((sense.intensity for name, sense in self.senses.items() if is_pain(name)), default=0.0)


class StateSource(AnswerPart):
    """Where a derived part of a state comes from: the memories `memory_ids`, newest first.

    `name`: the emotion, the goal, or `energy`. `amount`, in [0, 1]: the derived value of an emotion or of energy;
    of a goal, how present it is. Open goals that did not become the goal of the state have a source too.
    """

    field: Literal["emotion_vector", "energy", "goal"]
    name: str
    amount: float
    memory_ids: tuple[str, ...]


class CitizenState(Felt):
    """The state at one moment: valid from `valid_at`, known since `updated_at`; both null when none was set.

    What nobody set is derived from the memories of the last days that say it: then `derived` is true, and
    `sources` names them. What no memory says has its default.

    `energy` is that of the moment. `baseline` is the ordinary energy to which it returns after feedback: the one
    that the citizen set, else the derived one; null where all of the state was given with a request.

    `writers`: by name of a field that was set, the source of that change.
    """

    citizen_id: str
    baseline: float | None = None
    valid_at: datetime | None = None
    updated_at: datetime | None = None
    derived: bool = False
    sources: tuple[StateSource, ...] = ()
    writers: dict[str, Source] = Field(default_factory=dict)


class CitizenUsage(AnswerPart):
    """What a citizen has, and its quotas, null where there is none."""

    citizen_id: str
    memories: int
    """Also those that hold no longer, until they are erased."""
    links: int
    bytes: int
    """About what they take in the engine; a graph is counted in whole mebibytes."""
    requests: int
    """Requests about the citizen since this process of the service started."""
    most_memories: int | None = None
    most_bytes: int | None = None


class Task(GraphRequest):
    """The graph of a repair task. A task names the record that was checked, so that it undoes no later change."""

    pass


class CloseRecord(Task):
    """Close a past version that was left open when another record replaced it at the instant `at`."""

    action: Literal["close-record"] = "close-record"
    id: str
    version: int
    seen: int
    at: int


class CollectivePage(AnswerPart):
    """Ids of collectives in their order; `next` is the cursor of the next page."""

    collectives: tuple[str, ...]
    next: str | None = None


class ConsciousnessRelationship(InGraph, AnswerPart):
    """One record of a link with all its metadata (003, component 4).

    `effective_energy` is what time has left of `energy` at the moment of the answer.
    """

    link_id: str
    source_id: str
    target_id: str
    relation_type: str
    goal: str
    mindstate: str
    energy: float
    confidence: float
    formation_trigger: str | None = None
    emotion_vector: dict[str, float] | None = None
    energy_transfer_coefficient: float
    resolution_state: ResolutionState
    felt_quality: str | None = None
    emotion_description: str | None = None
    body_sensation: str | None = None
    spatial_context: str | None = None
    sensory_details: dict[str, Any] | None = None
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    version: int = 1
    invalidation_reason: Literal["reality_changed", "discovered_false"] | None = None
    closed_reason: Literal["reality_changed", "discovered_false", "quarantined", "undone"] | None = None
    source: Source = Source.CITIZEN
    author: str | None = None
    episode_id: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)
    unset: tuple[str, ...] = ()
    """Fields that were taken from the memories at its ends, not given by the writer."""
    unreadable: tuple[str, ...] = ()
    """Fields whose stored form cannot be shown; they are left out of the answer."""
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    effective_energy: float | None = None


class TemporalMode(str, Enum):
    """How a question looks at time (003, component 1)."""

    CURRENT = "current"
    POINT_IN_TIME = "point_in_time"
    EVOLUTION = "evolution"
    FULL_HISTORY = "full_history"

    __str__ = str.__str__


class EnergyShare(AnswerPart):
    """The part of one link in the energy feedback potential, before the sum is normalised."""

    link_id: str
    transfer: float


class EnergyFeedback(AnswerPart):
    """A citizen's energy before and after a stream, and the ordinary one to which it returns, all in [0, 1].

    (003, component 5c)
    """

    before: float
    after: float
    baseline: float


class TemporalDissonance(InGraph, AnswerPart):
    """A learning moment: a belief that changed, why, and how it felt (003, component 2)."""

    node_id: str
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    node_name: str
    original_belief: str
    corrected_belief: str
    dissonance_type: Literal["reality_changed", "discovered_false"]
    correction_trigger: str
    correction_pattern_id: str | None = None
    discovery_energy: float
    discovery_emotions: dict[str, float] | None = None
    belief_held_from: datetime
    belief_held_until: datetime
    corrected_at: datetime
    held_seconds: float
    inferred: bool = False
    """Nobody superseded it: a later memory, `corrected_by`, seems to tell what holds instead."""
    corrected_by: str | None = None
    """The id of the later memory, where the change was inferred."""


class MetadataValidationReport(AnswerPart):
    """Metadata quality over the memories (and links) of a stream (003, component 6).

    What was given is graded: `average_completeness` and `quality_grade` are of the `graded_memories`, of which a
    writer gave metadata, in the memory or in one of its links; without any the grade is poor, and `nothing_given`.
    `inferred_fields`: how many memories and links have each field as the service filled it.
    """

    total_memories: int = 0
    fully_valid_memories: int = 0
    memories_with_warnings: int = 0
    memories_with_errors: int = 0
    average_completeness: float = 0.0
    incomplete_memory_ids: tuple[str, ...] = ()
    quality_grade: Literal["excellent", "good", "acceptable", "poor"] = "poor"
    graded_memories: int = 0
    inferred_fields: dict[str, int] = Field(default_factory=dict)

    @property
    def nothing_given(self) -> bool:
        """Whether there are memories, and all that they have was inferred."""
        return bool(self.total_memories) and not self.graded_memories and not self.memories_with_errors


class ResolutionPattern(InGraph, AnswerPart):
    """How a similar blockage was resolved: the blockage, its resolution, the steps beside it."""

    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    blockage_id: str
    blockage: str
    resolution_id: str
    resolution: str
    steps: tuple[str, ...] = ()
    step_ids: tuple[str, ...] = ()
    link_id: str
    emotional_likeness: float
    discovery_energy: float


class Offer(AnswerPart):
    """Something that could be done. `command` does it when it is sent as it is.

    `resolve`: a problem whose solution is known or done. `unblock`: what waits for nothing any more. `close`: a
    resolved problem that left links of work open. `erase`: what somebody asked to forget; `memory_id` is what
    asks, and the command names what goes for good when the offer is taken by its id. `id` stays the same as long
    as the offer is about the same.
    """

    id: str
    kind: Literal["resolve", "unblock", "close", "erase"]
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    memory_id: str
    name: str
    reason: str
    command: dict[str, Any]


class StreamRule(InGraph, AnswerPart):
    """A rule in force, and the newest memory that holds it. `severity`: what breaking it leads to."""

    rule: str
    severity: Literal["block", "warn", "note"]
    memory_id: str
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""


class ConsciousnessSummary(AnswerPart):
    """A few numbers about all memories found. An empty stream has zeros and no times."""

    dominant_energy: float = 0.0
    emotional_themes: tuple[str, ...] = ()
    confidence_average: float = 0.0
    earliest_memory: datetime | None = None
    latest_memory: datetime | None = None
    n1_result_count: int = 0
    n2_result_count: int = 0
    n3_result_count: int = 0
    total_results: int = 0
    active_vs_historical_ratio: float = 0.0


class QueryTiming(AnswerPart):
    """The course of one of the six queries. `milliseconds` is wall time in the service."""

    query: str
    milliseconds: float
    rows: int = 0
    asked_again: bool = False
    failure: str | None = None


class Degradation(AnswerPart):
    """A missing part of the stream, and why."""

    query: str
    reason: str


class ModelCall(AnswerPart):
    """One call of a language model or reranker, its repair included.

    `requests` counts the requests sent. Tokens are as the provider counted them, None if it did not. `cost` is in
    the currency of the configured prices, None without prices or tokens. `failure` says why there was no usable
    answer; the result is then the one without a model.
    """

    purpose: Literal["entities", "facts", "rerank", "appraisal", "revaluation", "generalisation"]
    model: str
    milliseconds: float
    requests: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    failure: str | None = None


class LearnedFactors(AnswerPart):
    """What a citizen's feedback does to its questions: `told` is how many feedbacks stand.

    `factors`: by family of channels what their weights are multiplied by, in [0.5, 2]; empty without feedback.
    """

    told: int = 0
    factors: dict[str, float] = Field(default_factory=dict)


class TokenCounts(AnswerPart):
    """What a stream costs a language model: as it was `sent`, and in each form that carries its memories.

    `counter`: `estimate` is one token for every 3.3 bytes; another name is that of the vocabulary that counted
    what was `sent`. A form that was not sent is always estimated. The compact form has `sent` and `text`, which is
    that of its text, always counted by the vocabulary.
    """

    sent: int
    text: int | None = None
    full: int | None = None
    references: int | None = None
    counter: str = "estimate"


class StreamFrame(AnswerPart):
    """What every form of a stream has beside its memories and links."""

    stream_id: str = ""
    intention_id: str
    citizen_id: str
    temporal_mode: TemporalMode
    retrieved_at: datetime
    answer_confidence: float | None = None
    nothing_fits: bool = False
    energy_feedback_potential: float = 0.0
    relative_potential: float = 0.5
    energy_shares: tuple[EnergyShare, ...] = ()
    energy_feedback: EnergyFeedback | None = None
    citizen_energy: float | None = None
    temporal_dissonances: tuple[TemporalDissonance, ...] = ()
    metadata_validation: MetadataValidationReport = Field(default_factory=lambda: MetadataValidationReport())
    resolution_patterns: tuple[ResolutionPattern, ...] = ()
    offers: tuple[Offer, ...] = ()
    rules: tuple[StreamRule, ...] = ()
    consciousness_summary: ConsciousnessSummary = Field(default_factory=lambda: ConsciousnessSummary())
    text: str | None = None
    retrieval_latency_ms: float = 0.0
    behind_ms: float | None = None
    query_count: int = 0
    timings: tuple[QueryTiming, ...] = ()
    stage_ms: dict[str, float] = Field(default_factory=dict)
    degraded: tuple[Degradation, ...] = ()
    notes: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    omitted: int = 0
    model_calls: tuple[ModelCall, ...] = ()
    state: CitizenState | None = None
    learned: LearnedFactors | None = None
    token_counts: TokenCounts | None = None


class ConsciousnessLevelResults(AnswerPart):
    """The memories found on one level.

    `vector_results` are nearest to the query, nearest first; `graph_results` were reached by name, by word or over
    links, most active first. `relationships` connect memories in the stream, strongest first.
    `omitted`: how many more entries each of the three lists has, where the stream is too large to show all.
    """

    vector_results: tuple[ConsciousnessNode, ...] = ()
    graph_results: tuple[ConsciousnessNode, ...] = ()
    relationships: tuple[ConsciousnessRelationship, ...] = ()
    omitted: dict[str, int] | None = None


class ActivationTiers(AnswerPart):
    """Memories by activation: up to 5 in focus, 20 peripheral, 50 in the background.

    Where nothing fits a question, at most standing instructions for its answer are in focus, and the periphery
    begins with what is nearest to it.
    A memory that does not fit leaves its place empty; others keep their tier.
    """

    focus: tuple[ConsciousnessNode, ...] = ()
    peripheral: tuple[ConsciousnessNode, ...] = ()
    background: tuple[ConsciousnessNode, ...] = ()

    def ordered(self) -> tuple[ConsciousnessNode, ...]:
        """All nodes, most active first."""
        return self.focus + self.peripheral + self.background


class TraversalPath(AnswerPart):
    """A likely progression of thought. All scores but `total_activation` are in [0, 1].

    `path_nodes` has one more entry than `path_edges`. `traversal_probability` is the product of the edges'
    weights.
    """

    path_id: str
    path_nodes: tuple[str, ...]
    path_edges: tuple[str, ...]
    total_activation: float
    semantic_coherence: float
    emotional_consistency: float
    path_narrative: str
    traversal_probability: float


class GraphFigures(AnswerPart):
    """What a graph tells beside its nodes and edges. It covers all that was found, not only what is sent."""

    suggested_paths: tuple[TraversalPath, ...] = ()
    hub_nodes: tuple[str, ...] = ()
    central_themes: tuple[str, ...] = ()
    node_count: int = 0
    edge_count: int = 0
    path_count: int = 0
    graph_density: float = 0.0


class GraphNode(InGraph, AnswerPart):
    """A memory in the traversal graph. `activation_score` in [0, 1]; `node_id` is unique within its graph."""

    node_id: str
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    node_type: str
    content: str
    activation_score: float
    activation_tier: Literal["focus", "peripheral", "background"]
    energy: float
    confidence: float
    emotion_vector: dict[str, float] | None = None
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None


class GraphEdge(InGraph, AnswerPart):
    """A link in the traversal graph. `traversal_weight` in [0, 1] (003, 5b)."""

    edge_id: str
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    source_id: str
    target_id: str
    relation_type: str
    goal: str
    mindstate: str
    energy: float
    confidence: float
    emotion_vector: dict[str, float] | None = None
    energy_transfer_coefficient: float
    resolution_state: ResolutionState
    traversal_weight: float


def xml_text(value: Any) -> str:
    """A value as text that XML can hold: without control characters, escaped."""
    return escape(sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", str(value)))


def graphml(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> str:
    """Nodes with an `id` and edges with `source` and `target` as GraphML; all else they say is an attribute."""
    keys: dict[str, str] = {}
    body = ""
    for kind, things, own in (("node", nodes, ("id",)), ("edge", edges, ("source", "target"))):
        for thing in things:
            body += f"<{kind}"
            for name in own:
                body += f' {name}="{xml_text(thing[name])}"'
            body += ">"
            for name, value in thing.items():
                if name not in own:
                    keys[f'id="{kind}-{name}" for="{kind}" attr.name="{name}"'] = (
                        "double" if isinstance(value, int | float) else "string"
                    )
                    text = dumps(value) if isinstance(value, dict) else value
                    body += f'<data key="{kind}-{name}">{xml_text(text)}</data>'
            body += f"</{kind}>\n"
    declared = ""
    for key, kind in keys.items():
        declared += f'<key {key} attr.type="{kind}"/>\n'
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f'{head}\n{declared}<graph edgedefault="directed">\n{body}</graph>\n</graphml>\n'


GraphForm = Literal["graphml", "node-link"]


class TraversalGraph(GraphFigures):
    """The memories found as a graph. `graph_density` is edges / possible edges, 0 below two nodes.

    `nodes` and `edges` are those in the stream: fewer than found with `max_tokens`. All else covers all that was
    found: a path may lead over a memory that did not fit.
    """

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()

    def node_link(self) -> dict[str, Any]:
        """The graph in NetworkX's form: `networkx.node_link_graph(graph.node_link(), edges="edges")`."""
        nodes, edges = list[dict[str, Any]](), list[dict[str, Any]]()
        for node in self.nodes:
            nodes.append(
                {"id": f"{node.graph_key}|{node.node_id}", **node.model_dump(mode="json", exclude_none=True)}
            )
        for edge in self.edges:
            source, target = f"{edge.graph_key}|{edge.source_id}", f"{edge.graph_key}|{edge.target_id}"
            ends = {"source": source, "target": target, "key": edge.edge_id}
            edges.append({**ends, **edge.model_dump(mode="json", exclude_none=True)})
        return {"directed": True, "multigraph": True, "graph": {}, "nodes": nodes, "edges": edges}

    def graphml(self) -> str:
        """The graph as GraphML, which Gephi, yEd, Cytoscape and NetworkX read."""
        linked = self.node_link()
        return graphml(linked["nodes"], linked["edges"])

    def written(self, form: GraphForm) -> str:
        """The graph as a text: GraphML, or its node-link form as JSON."""
        return self.graphml() if form == "graphml" else dumps(self.node_link(), ensure_ascii=False)


def stream_html(rows: Sequence[tuple[bool, datetime, str, str]]) -> str:
    """The memories of a stream on a line of time, and those in focus, which `rows` says first, as a list.

    Each row goes on with when the memory began, its name and its text.
    """
    if not rows:
        return "<p>Nothing came to mind.</p>"
    _, first, *_ = min(rows, key=itemgetter(1))
    _, last, *_ = max(rows, key=itemgetter(1))
    length = (last - first).total_seconds() or 1.0
    dots = listed = ""
    for focus, began, name, text in rows:
        title = f"{xml_text(name)}, {began:%Y-%m-%d}"
        place = f'cx="{20 + 560 * (began - first).total_seconds() / length:.0f}" cy="20" r="{6 if focus else 4}"'
        dots += f'<circle {place} fill="#5b6bd0" opacity="{0.9 if focus else 0.4}"><title>{title}</title></circle>'
        listed += f"<li><b>{title}</b><br>{xml_text(text)}</li>" if focus else ""
    line = '<line x1="20" x2="580" y1="20" y2="20" stroke="#9a9a9a"/>'
    drawing = f'<svg width="600" height="40" role="img" aria-label="When they began">{line}{dots}</svg>'
    return f"<div>{drawing}<ol>{listed}</ol></div>"


class ConsciousnessStream(StreamFrame):
    """The answer to a citizen (003, component 4).

    A field that is null is left out, and of a memory, a link, a node or an edge each optional field that has its
    default. A section that `parts` does not name is left out.

    `stream_id` is the service's own: under it the stream can be asked again; `intention_id` is the asker's.

    `answer_confidence` is the probability, in [0, 1], that the memories found answer the question; a waking, which
    asks nothing, has none. `nothing_fits`: it is so low that the focus holds at most standing instructions.

    `energy_feedback_potential` in [0, 1] says how much energy the links might re-activate; with `explain`,
    `energy_shares` gives the part of each link. `relative_potential` is the share, in [0, 1], of the most that
    these very links could give: above 0.5 they wake, below they calm; 0.5 without links that tell of work.
    `energy_feedback` is what it did to the citizen's own energy, if requested. `citizen_energy`, that energy, and
    `rules`, those in force, are read for the compact form, and where `parts` names `energy` or `rules`.

    `text` is the compact form, which is sent as a `ReferencedStream`.

    `degraded` names queries that failed or were late, whose results are missing, and as `fields` the fields that
    cannot be shown. `notes` says what was assumed or left out. `omitted` counts memories that stand nowhere: they
    did not fit; energy, dissonances, metadata report, summary, paths, hubs, themes and density include them.
    `model_calls` lists the calls of a language model. `state` is the state that a waking began with, with the
    memories from which what was neither given nor kept was derived; a question has none. With `explain`, `learned`
    is what the feedback of the citizen did to its question. `offers`: a few open offers of upkeep, in the waking
    of a citizen now. `token_counts`: what the stream costs. `behind_ms`: how old at most what it tells may be,
    where replicas are asked as well; 0 when the primary alone answered.
    """

    form: Literal["full"] = "full"
    levels: dict[str, ConsciousnessLevelResults] = Field(default_factory=dict)
    activation_tiers: ActivationTiers = Field(default_factory=lambda: ActivationTiers())
    traversal_graph: TraversalGraph = Field(default_factory=lambda: TraversalGraph())

    def _repr_html_(self) -> str:
        """The stream as a notebook shows it."""
        tiers = self.activation_tiers
        rows = list[tuple[bool, datetime, str, str]]()
        for tier in (tiers.focus, tiers.peripheral, tiers.background):
            for node in tier:
                rows.append((tier is tiers.focus, node.valid_at, node.name, node.description))
        return stream_html(rows)


class OnSharedLevel(InGraph, RequestPart):
    """A request about a shared level, or a collective of N2."""

    level: Literal[Level.N2, Level.N3] = Level.N2
    collective: str | None = None


class Withdraw(OnSharedLevel):
    """Take back what the citizen said against a shared memory."""

    command_id: str | None = None
    citizen_id: str
    id: str


class ContestRequest(Withdraw):
    """Contest a shared memory of another in the name of the citizen; sent again, it gives another reason."""

    reason: str


class Contested(InGraph, AnswerPart):
    """A shared memory that somebody contests now."""

    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    name: str
    author: str | None = None
    contested: tuple[Contest, ...] = ()


class ContestedPage(AnswerPart):
    """`next` is the cursor of the next page; null on the last one."""

    memories: tuple[Contested, ...]
    next: str | None = None


class WrittenNode(AnswerPart):
    """A node of a written context; `made`: nothing had this name before."""

    node_id: str
    name: str
    made: bool = False


class WrittenEdge(AnswerPart):
    """An edge of a written context. `filled`: its fields that nobody gave; `found`: read from the description."""

    link_id: str
    source: str
    relation_type: str
    target: str
    filled: tuple[str, ...] = ()
    found: bool = False


class ContextReceipt(AnswerPart):
    """What became of a context, with the id of its memory.

    `duplicate`: it was written before, and this is its first receipt. `filled`: fields that nobody gave and that
    have a default. `result` and `emotion` are those that the memory has, given or read from its words. `answered`
    is the prediction that it answered. `warnings`: what was mended, and how.
    """

    command_id: str
    status: Literal["stored"] = "stored"
    context_id: str
    citizen_id: str
    created_at: datetime
    valid_at: datetime
    duplicate: bool = False
    nodes: tuple[WrittenNode, ...] = ()
    edges: tuple[WrittenEdge, ...] = ()
    result: str | None = None
    emotion: str | None = None
    filled: tuple[str, ...] = ()
    answered: str | None = None
    warnings: tuple[str, ...] = ()


class LinkRevision(Revising):
    """New metadata for a link: only the fields given change, null clears a field that may be absent.

    Its ends and its type never change: a link with other ends is another link.
    """

    id: str
    energy: float | None = None
    confidence: float | None = None
    emotion_vector: dict[str, float] | None = None
    goal: str | None = None
    mindstate: str | None = None
    energy_transfer_coefficient: float | None = None
    resolution_state: ResolutionState | None = None
    formation_trigger: str | None = None
    felt_quality: str | None = None
    emotion_description: str | None = None
    body_sensation: str | None = None
    spatial_context: str | None = None
    sensory_details: dict[str, Any] | None = None


class CorrectLink(Correcting, LinkRevision):
    """We were wrong (`discovered_false`): the corrected metadata hold over the same valid time.

    This is the valid time of the record that holds now, or the given stretch. Where none holds now, it is the last
    one before, else the first one after, and the receipt says so. `valid_at` and `invalid_at` correct the valid
    time itself; null leaves the end open; over another record they are refused.
    """

    command: Literal["correct_link"] = "correct_link"
    id: str


class Delivery(AnswerPart):
    """A message of a webhook: what became of it, and `answer`, the last status or why there was none.

    `id` is the header `webhook-id`, the same each time that it is sent. `waiting`: it is sent again at `next_at`;
    `dead`: not any more, unless you ask for it; `gone`: it came again later. `of`: the memory or link changed.
    """

    id: str
    webhook_id: str
    kind: Literal["change", "erased", "restored"]
    command_id: str | None = None
    command: str | None = None
    of: str | None = None
    cursor: str
    status: Literal["delivered", "waiting", "dead", "gone"]
    attempts: int = 0
    at: datetime
    next_at: datetime | None = None
    answer: str = ""


class DeliveriesAnswer(AnswerPart):
    """All messages that wait or are dead, and the last hundred others."""

    deliveries: tuple[Delivery, ...] = ()


class DrawnMemory(AnswerPart):
    """A memory to judge. A long `description` is cut to 2,000 characters.

    `asked_at`: when the citizen was last asked about it; null for never. `offered`: upkeep offered it, and it
    waits for a judgement. `proposed_importance`: what a language model proposes, `because` of these words.
    """

    id: str
    version: int
    node_type: str
    name: str
    description: str = ""
    speaker: str | None = None
    valid_at: datetime
    importance: float | None = None
    asked_at: datetime | None = None
    offered: bool = False
    proposed_importance: float | None = None
    because: str | None = None


class Draw(AnswerPart):
    """Memories of low or no importance: those that upkeep offered first, then the least recently asked about."""

    citizen_id: str
    seed: int
    memories: tuple[DrawnMemory, ...] = ()


EmotionsMatch: TypeAlias = Literal["any", "all"]


class EnergyPoint(AnswerPart):
    """The energy from `valid_at` on, as one record of the state has it, known from `created_at` on; null: no end.

    `stream_id` and `feedback_at`: the stream whose feedback set it, and when; null where the citizen set it, which
    `energy` null says that it did not. `baseline`: the ordinary energy that the citizen had set before the
    feedback.
    """

    version: int
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None
    energy: float | None = None
    baseline: float | None = None
    stream_id: str | None = None
    feedback_at: datetime | None = None


class EnergySeries(AnswerPart):
    """The energy of a citizen `now`, its `ordinary` one, and a page of the records that set it.

    Between two records the energy returns from what feedback made of it to the ordinary one, half the way in 12
    hours.
    """

    citizen_id: str
    now: float
    ordinary: float
    points: tuple[EnergyPoint, ...]
    next: str | None = None


class IngestReport(AnswerPart):
    """The content of some files, and the results of storing it.

    `formats` are those of the files, as they were named or guessed. The next five fields count what the files
    hold, without repeats. `stored`, `duplicates` and `refused` add up to the number of commands and of parts that
    could not be read; a duplicate was stored before. Of the stored ones, `superseded` changed a memory and
    `retracted` ended one; `findable` memories with words of their own hold now, so that a question can find them.
    `faults` explains the first refused ones; `notes` says what was assumed or left out.
    """

    formats: tuple[str, ...] = ()
    turns: int = 0
    sessions: int = 0
    persons: int = 0
    memories: int = 0
    links: int = 0
    stored: int = 0
    duplicates: int = 0
    refused: int = 0
    superseded: int = 0
    retracted: int = 0
    findable: int = 0
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Supersession(AnswerPart):
    """A link that ended according to the text, because `by` is true from `effective_at` on.

    `applied`: it was ended then. Otherwise `reason` says why not, such as a more trusted source.
    """

    ended: str
    by: str
    effective_at: datetime
    applied: bool
    reason: str = ""


class FactsReport(AnswerPart):
    """Facts that a language model found in a conversation.

    `links` are the ids of new links, `memories` those of the memories made for their ends. `known` counts facts
    that were stored already, `left_out` facts without evidence in the text or refused ones; `notes` says why.
    Every link names its turns in `extra.evidence`.
    """

    links: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    known: int = 0
    left_out: int = 0
    supersessions: tuple[Supersession, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()


class EpisodeReport(IngestReport):
    """The report of a stored conversation; on a shared level `citizen_id` is who told it, if somebody did."""

    citizen_id: str | None = None
    episode_id: str
    level: Level = Level.N1
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    facts: FactsReport | None = None


class EraseCitizen(RequestPart):
    """Remove the whole personal memory of one citizen."""

    command_id: str | None = None
    citizen_id: str
    with_copies: bool = False
    """Erase the copies too that the citizen shared; else the report only names them."""


class EraseEpisode(Command):
    """Remove one conversation: its memories, its links, and the people that only it mentions."""

    episode_id: str
    with_copies: bool = False
    """Erase the copies too that the citizen shared; else the report only names them."""


class EraseMemory(Command):
    """Remove one memory with all its records, its links in both directions, and everything that points to it.

    `also`: other memories of the same graph that go with it, such as those that repeat it. `dry_run`: only name
    these, and the copies.
    """

    id: str
    dry_run: bool = False
    also: tuple[str, ...] = ()
    with_copies: bool = False
    """Erase the copies too that the citizen shared; else the report only names them."""


class Removed(AnswerPart):
    """The number of removed items.

    `records`: past records; `passages`: parts of long texts; `states`: records of the citizen's own state;
    `feedback`: what the citizen told of answers that named such a memory. `context_notes`: what was kept beside
    written contexts, such as the notes of agents. `predictions`: those that named such a memory.
    """

    memories: int = 0
    records: int = 0
    traces: int = 0
    passages: int = 0
    links: int = 0
    past_links: int = 0
    tags: int = 0
    receipts: int = 0
    states: int = 0
    feedback: int = 0
    context_notes: int = 0
    predictions: int = 0


class ErasedCopy(AnswerPart):
    """A copy on a shared level of something that was erased; `erased` where it went too."""

    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    erased: bool = False


class ErasureReport(AnswerPart):
    """The result of an erasure.

    `log_rewritten`: no file of the engine holds the removed data any more. `duplicate`: the same command was
    applied before, and nothing was left to remove. `copies`: what was shared of it, the first 1,000, and
    `further_copies` counts the rest. `repeats`: memories with the rare words or numbers of what was named, which
    stay. After a `dry_run` nothing was removed. Backups and exports are not changed.
    """

    command_id: str
    erased: Literal["memory", "episode", "citizen", "collective"]
    erased_at: datetime
    level: Level = Level.N1
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    removed: Removed = Field(default_factory=lambda: Removed())
    log_rewritten: bool
    duplicate: bool = False
    copies: tuple[ErasedCopy, ...] = ()
    further_copies: int = 0
    repeats: tuple[str, ...] = ()
    dry_run: bool = False
    notes: tuple[str, ...] = ()


class AsksGraphs(RequestPart):
    """`collectives`: further ones to ask, at most 4. Left out: those that the key names one by one."""

    collectives: tuple[str, ...] | None = None


class NotChanged(RequestPart):
    """Two memories, by their ids: the `later` one does not tell what holds instead of the `earlier` one."""

    earlier: str
    later: str


class Feedback(AsksGraphs):
    """Which memories answered a question (`used`), which did not (`wrong`), what was told as a change and is none.

    At least one of these. The question is that of `retrieve`, with what it was asked with; `not_changed` alone
    needs none. Sent again with the same `feedback_id` it counts once.
    """

    query_text: str | None = None
    used: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    not_changed: tuple[NotChanged, ...] = ()
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    feedback_id: str | None = None


class FeedbackRecord(AnswerPart):
    """A feedback as it was told, at `told_at`. `query_levels`, `as_of_time`, `known_at`: what was asked with."""

    feedback_id: str
    told_at: datetime
    query_text: str | None = None
    query_levels: tuple[Level, ...]
    collectives: tuple[str, ...] | None = None
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    used: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    not_changed: tuple[NotChanged, ...] = ()


class FeedbackPage(AnswerPart):
    """Feedback of a citizen, oldest first, and what all of it does now; `next` is the cursor of the next page."""

    citizen_id: str
    feedback: tuple[FeedbackRecord, ...]
    learned: LearnedFactors
    next: str | None = None


class FeedbackTakenBack(AnswerPart):
    """How many feedbacks were taken back, and what the others do now."""

    citizen_id: str
    taken_back: int
    learned: LearnedFactors


class Filters(RequestPart):
    """Only memories of one of `node_types`, `speakers`, `episodes` and `sources`, with all `tags` and `buckets`.

    `valid_from` and `valid_to`: only what began to be true in `[valid_from, valid_to)`; a message began when it
    was said. A field that is left out does not filter. They apply to everything that a question finds: by
    likeness, by words, by name, over links, and past records.
    """

    node_types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    episodes: tuple[str, ...] = ()
    """Ids of conversations and files."""
    sources: tuple[Source, ...] = ()
    valid_from: datetime | None = None
    valid_to: datetime | None = None


Form: TypeAlias = Literal["full", "compact", "references"]


class GivenEdge(RequestPart):
    """What one thing is to another, as the episode has it. Ends are names, or ids that `nodes` names.

    What is left out is filled from the context and named in the receipt.
    """

    source: str
    relation_type: str
    target: str
    goal: str | None = None
    mindstate: str | None = None
    energy: float | None = None
    certainty: float | None = None


class GivenNode(RequestPart):
    """Something that the episode is about: a `name`, found or made; or the `id` of a memory of the citizen."""

    name: str | None = None
    id: str | None = None


class GivenStimulus(RequestPart):
    """What reached the citizen from outside. A text alone stands for one without a speaker."""

    text: str
    speaker: str | None = None


class HeardMessage(AnswerPart):
    """What became of a message: `id` of its turn, `message_id` as the sender named it.

    `stored`; `duplicate`: it was stored before; `superseded`: it was edited, and its new text holds from then on;
    `retracted`: it was taken back; `left_out`: it has no text; `refused`. `reason` explains the last two.
    """

    message_id: str | None = None
    status: Literal["stored", "duplicate", "superseded", "retracted", "left_out", "refused"]
    id: str | None = None
    reason: str | None = None


class HeardReport(AnswerPart):
    """What became of each message of a list, in its order, and how many there are of each kind.

    Of those that were stored or superseded, `findable` hold now, so that a question can find them.
    """

    citizen_id: str | None = None
    episode_id: str
    stored: int = 0
    duplicates: int = 0
    superseded: int = 0
    retracted: int = 0
    left_out: int = 0
    refused: int = 0
    findable: int = 0
    level: Level = Level.N1
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    messages: tuple[HeardMessage, ...] = ()
    notes: tuple[str, ...] = ()


class Told(AnswerPart):
    """What a citizen said of itself, in its own words, and the memories that say it."""

    value: str
    memory_ids: tuple[str, ...]


class SelfEntity(AnswerPart):
    """The memory that stands for the citizen, and how many memories point to it (`appearances`).

    `declared`: the citizen wrote it under the id `self`. Else it was found: by its own name, or by what its texts
    say of "I".
    """

    node_id: str
    name: str
    node_type: str
    appearances: int
    declared: bool


class IdentityPerson(AnswerPart):
    """A person that the citizen's own memories mention. `relation`: what it is to the citizen: "sister"."""

    node_id: str
    name: str
    relation: str | None = None
    appearances: int


class Value(AnswerPart):
    """A rule that memories of the citizen have: how many, since when, and the latest of them."""

    rule: str
    memories: int
    since: datetime
    memory_id: str


class TemperamentPeriod(AnswerPart):
    """How many of the citizen's own memories of a period felt anything (`memories`), and each feeling."""

    start: datetime
    end: datetime
    memories: int
    emotions: dict[str, int]


class Temperament(AnswerPart):
    """What the citizen's own memories felt: the share of each feeling in all of them, 0 to 1, and by period.

    `memories`: how many felt anything. `periods`: twelve of 30 days, the last of which ends with the newest memory
    that felt; those in which nothing was felt are left out.
    """

    memories: int
    emotions: dict[str, float]
    periods: tuple[TemperamentPeriod, ...]


class AttachedRule(AnswerPart):
    """A rule, and how many memories of the entity have it."""

    rule: str
    memories: int


class IdentityEntity(AnswerPart):
    """An entity, and how many memories point to it (`appearances`). `emotions`: how many have each."""

    node_id: str
    name: str
    node_type: str
    appearances: int
    emotions: dict[str, int] = Field(default_factory=dict)
    rules: tuple[AttachedRule, ...] = ()


class Identity(AnswerPart):
    """Who a citizen is at a moment: what it says of itself, its people, and what its memories point to (000).

    `name` and `role` are the latest that it told of itself; `self_entity` stands for it. `people`: those it
    mentions most, first. `values`: the rules of its memories. `temperament`: what it felt, over time. `entities`:
    the most connected entities, most first; the emotions of the first are the personality, its rules the values.
    All but `entities` and `state` come with the first page. `state` is that of the same moment, `next` the cursor
    of the next page.
    `calibration`: how right its kept predictions were, where some were answered.
    """

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    name: Told | None = None
    role: Told | None = None
    self_entity: SelfEntity | None = None
    people: tuple[IdentityPerson, ...] = ()
    values: tuple[Value, ...] = ()
    temperament: Temperament | None = None
    entities: tuple[IdentityEntity, ...] = ()
    state: CitizenState
    calibration: CalibrationScore | None = None
    next: str | None = None
    notes: tuple[str, ...] = ()


class TextChange(AnswerPart):
    """What something was at the first moment and at the second; None where there was nothing."""

    before: str | None = None
    after: str | None = None


class RelationChange(AnswerPart):
    """A person who is something else to the citizen than before."""

    name: str
    before: str | None = None
    after: str | None = None


class AttachmentShift(AnswerPart):
    """How many memories pointed to an entity at each moment."""

    node_id: str
    name: str
    before: int
    after: int


class IdentityDiff(AnswerPart):
    """What changed in a citizen between two moments; what did not is left out.

    `people_come` and `people_gone` are among its people at one of the moments alone. `attachments`: the entities
    to which more or fewer memories point, the largest change first. `values_new` and `values_ended`: rules that
    memories have at one of the moments alone. `temperament`: how much the share of each feeling rose or fell, −1
    to 1, where memories of both moments felt anything.
    """

    citizen_id: str
    from_time: datetime
    to_time: datetime
    name: TextChange | None = None
    role: TextChange | None = None
    people_come: tuple[IdentityPerson, ...] = ()
    people_gone: tuple[IdentityPerson, ...] = ()
    relations: tuple[RelationChange, ...] = ()
    attachments: tuple[AttachmentShift, ...] = ()
    values_new: tuple[Value, ...] = ()
    values_ended: tuple[Value, ...] = ()
    temperament: dict[str, float] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class PastCase(AnswerPart):
    """A past context: what was done, what came of it, and how much it counts.

    `result` is the stored one; where none is stored, what the state of its work or the next turn of the other side
    says. `weight`, in (0, 1]: 1 for a case as near as the nearest one and of today.
    """

    memory_id: str
    level: Level
    name: str
    description: str
    valid_at: datetime
    result: str | None = None
    emotion: str | None = None
    rule: str | None = None
    resonance: float
    weight: float


class Imagination(AnswerPart):
    """What came of an action before.

    `cases`: how many past contexts with a known result count, `evidence`: as how many equally near and recent ones
    they count. Below `needed` that is too few to say: `enough` is false, and both distributions are empty.
    `results` and `emotions` are shares that add up to 1, the largest first; `usual` is the share of results among
    all past contexts that resonate at all, to which few cases are drawn. `nearest`: up to three.
    """

    citizen_id: str
    action: str
    enough: bool
    cases: int = 0
    evidence: float = 0.0
    needed: float
    results: dict[str, float] = Field(default_factory=dict)
    emotions: dict[str, float] = Field(default_factory=dict)
    usual: dict[str, float] = Field(default_factory=dict)
    nearest: tuple[PastCase, ...] = ()
    prediction_id: str | None = None
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Imagine(AsksGraphs):
    """What came of `action` before? `nodes` are names or ids, `emotion` is what the citizen feels now.

    With `keep` the prediction is kept under an id, and a context with `outcome_of` says what came of it.
    """

    citizen_id: str
    action: str
    nodes: tuple[str, ...] = ()
    emotion: str | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    keep: bool = False


class AppetiteRequest(AsksGraphs):
    """In which shared graphs something new counts, and in which zone a planned day begins."""

    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    time_zone: str = "UTC"


Part: TypeAlias = Literal[
    "levels",
    "activation_tiers",
    "traversal_graph",
    "energy",
    "temporal_dissonances",
    "resolution_patterns",
    "offers",
    "rules",
    "state",
    "consciousness_summary",
    "metadata_validation",
    "timings",
]


class IntendRequest(AppetiteRequest):
    """Options of the stream. With `run` false only the decision is told, and nothing is asked."""

    run: bool = True
    apply_feedback: bool = False
    explain: bool = False
    max_tokens: int | None = None
    form: Form = "full"
    parts: tuple[Part, ...] | None = None


DecisionKind: TypeAlias = Literal["broad", "similar", "state", "nothing"]


class Plurality(RequestPart):
    """The number of candidates of each pool, and the spread of the answer over time (004).

    Pool A: the `recent` newest memories of the last `recent_days`. Pool B: of the older ones, the `matching` most
    important that contain words of the question. Pool C: of the older ones, `chance` drawn at random, the same for
    the same request. At most `per_week` memories of one ISO week come first in each tier, then the rest fills it.
    Recency halves after `half_life_days`. `importance_floor` is the least importance that counts.
    """

    recent: int = 30
    matching: int = 15
    chance: int = 5
    recent_days: float = 7.0
    per_week: int = 2
    half_life_days: float = 30.0
    importance_floor: float = 0.3


class Plural(RequestPart):
    """`plurality` adds recent, older and random candidates, and spreads the answer over weeks; `{}`: defaults."""

    plurality: Plurality | None = None


class Filtered(RequestPart):
    """`filters` narrow what is found, whatever the way of asking."""

    filters: Filters | None = None


class StreamRequest(Plural, Filtered, AsksGraphs):
    """Options of the answer that retrieving and waking share.

    `explain` adds each term of each score. `max_tokens` limits what is sent, most active memories first. `form`:
    `references` sends each memory and each link once, `compact` a text for a prompt in place of them, of 1,500
    tokens unless `max_tokens` names others. `parts`: the sections that are sent, default: all, with `compact` the
    text alone. `require_valid` keeps only memories and links with fully valid metadata.
    `apply_feedback` lets the stream change the citizen's own energy (003, component 5c). `reality_pressure`: how
    much presses from outside; without it .5, in a waking what the state keeps or what is due makes it.
    """

    citizen_id: str
    explain: bool = False
    max_tokens: int | None = None
    form: Form = "full"
    parts: tuple[Part, ...] | None = None
    require_valid: bool = False
    apply_feedback: bool = False
    reality_pressure: float | None = None


Rerank: TypeAlias = Literal["mmr", "rrf", "llm", "custom"]


Prefer: TypeAlias = Literal["general", "concrete"]


class RetrievalIntention(StreamRequest):
    """A question in words (003, component 1).

    `as_of_time` sets both time axes, `known_at` the transaction axis alone; without `as_of_time` it asks what
    is true now, as known then. Either makes the mode `point_in_time` where none is named. `time_range_*` limit
    the transaction time of `evolution` and `full_history` (003): a change at the start belongs to the range,
    one at the end does not. `time_zone` is that of the asker ("Europe/Berlin"): "yesterday" ends at midnight
    there. Limits are per query and level. `current_*` is the state that weighs links.
    `rerank` reorders the best: `mmr` by different words, `rrf` by the ranks in each channel, `llm` by the
    language model, `custom` by the reranker of the service.
    `required_emotions`: only memories that feel all of these, or with `emotions_match: any` at least one.
    `prefer`: what upkeep made of several memories is shown too: with `general` first, with `concrete` behind the
    memories that it stands for. Without it only these are shown.
    `conversation`: the one that goes on, in which the question was heard: its message with these words, or with
    the `message_id` that the sender or the service gave it, is not shown.
    """

    query_text: str
    temporal_mode: TemporalMode = TemporalMode.CURRENT
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    time_range_start: datetime | None = None
    time_range_end: datetime | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    max_results_per_level: int = 20
    time_zone: str = "UTC"
    min_energy: float | None = None
    min_confidence: float | None = None
    required_emotions: tuple[str, ...] | None = None
    emotions_match: EmotionsMatch = "all"
    current_goal: str | None = None
    current_emotions: dict[str, float] | None = None
    current_energy: float | None = None
    rerank: Rerank | None = None
    prefer: Prefer | None = None
    conversation: str | None = None
    message_id: str | None = None
    intention_id: str | None = None
    generated_at: datetime | None = None
    generated_by: str = "unknown"


class QueryMode(str, Enum):
    """The kinds of memories that waking looks for (003, component 1)."""

    RELATED_UNRESOLVED = "find_related_unresolved"
    SIMILAR_STATE = "find_similar_state"
    WHAT_I_WAS_DOING = "find_what_i_was_doing"
    RESOLUTION_PATTERNS = "find_resolution_patterns"

    __str__ = str.__str__


class StateBasedRetrieval(StreamRequest):
    """Waking: retrieval by a state, without a question (003, component 1).

    `current_energy`, `current_emotions` and `current_goal` that are left out (or null) are those of the citizen's
    kept state, else derived from its memories of the last days, else the default; a derived goal does not narrow
    the waking. Emotions given as `{}` are none: nothing is compared by emotion then, and a note says so.
    `temporal_scope`: `recent` lets a memory count less the longer ago it last changed, `all_time` does not;
    find_what_i_was_doing looks back 30 days in both.
    """

    current_energy: float | None = None
    current_emotions: dict[str, float] | None = None
    current_goal: str | None = None
    query_mode: QueryMode = QueryMode.RELATED_UNRESOLVED
    include_only_unresolved: bool = True
    temporal_scope: Literal["recent", "all_time"] = "recent"
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    max_results_per_level: int = 20
    state_id: str | None = None
    generated_at: datetime | None = None


class Decision(AnswerPart):
    """What follows from an appetite. `why`: the reading that decided, with its amount and its threshold.

    `broad`: recent developments in the active contexts. `similar`: past experiences similar to the source of the
    tension. Both are an `intention`. `state`: a waking from the `state`. `nothing`: there is nothing to wake for.
    """

    kind: DecisionKind
    why: str
    reading: ReadingName | None = None
    intention: RetrievalIntention | None = None
    state: StateBasedRetrieval | None = None


class _Intended(AnswerPart):
    """"""

    citizen_id: str
    appetite: Appetite
    decision: Decision


class Intended(_Intended):
    """The appetite, the decision, and the stream; null where nothing was asked."""

    stream: ConsciousnessStream | None = None


class Judgement(RequestPart):
    """What the citizen says of a memory: a new `importance`, or `leave`: it stays as it is.

    With `version` the judgement is refused when the memory has changed since it was drawn.
    """

    id: str
    version: int | None = None
    importance: float | None = None
    leave: bool = False


class Consequence(AnswerPart):
    """What follows when something is resolved: a memory or a link, and the state that fits it then.

    `outcome`: it `could` have that state; the cascade gave it that state (`done`); or it was `left` as it is, and
    `reason` says why. `command` is the command that sets it, `through` the link that leads to it.
    """

    outcome: Literal["could", "done", "left"]
    command: Literal["resolve", "resolve_link", "undo", "undo_link"]
    id: str
    resolution_state: ResolutionState | None
    name: str | None = None
    through: str | None = None
    reason: str | None = None


class WriteReceipt(AnswerPart):
    """The result of a command.

    `stored`: it is on disk. `refused`: nothing was changed, `faults` says why. `duplicate`: the same command was
    applied before, and this is its first receipt. `created_at` is the transaction time. `current_version` is the
    version of the record in conflict. `recognised` is the id of a memory with exactly this text; the new one was
    then not stored. `follows`: what follows from a resolution; `further` says of how many more
    at least that is true; they are not listed and were not done.
    """

    command_id: str
    command: str
    status: Literal["stored", "refused"]
    id: str | None = None
    level: Level | None = None
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    version: int | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    created_at: datetime | None = None
    duplicate: bool = False
    recognised: str | None = None
    current_version: int | None = None
    faults: tuple[str, ...] = ()
    problem: (
        Literal[
            "invalid-request", "not-found", "conflict", "forbidden", "not-trusted", "not-author", "not-applied"
        ]
        | None
    ) = None
    warnings: tuple[str, ...] = ()
    follows: tuple[Consequence, ...] = ()
    further: int = 0

    def refusal(self) -> SubstrateError:
        """The error of a refused command."""
        return refusal_error(self.problem, self.faults, self.current_version)


class JudgementOutcome(AnswerPart):
    """What became of a judgement. `left`: nothing was to change. `problem` and `detail`: why it was refused."""

    id: str
    status: Literal["revalued", "left", "refused"]
    problem: str | None = None
    detail: str = ""
    receipt: WriteReceipt | None = None


class JudgementsAnswer(AnswerPart):
    """The outcomes, in the order of the judgements, and how many of each kind."""

    citizen_id: str
    outcomes: tuple[JudgementOutcome, ...]
    revalued: int
    left: int
    refused: int


class KeyChange(RequestPart):
    """The highest source that the key may claim from now on."""

    highest_source: Source


class KeyInfo(AnswerPart):
    """A key as listed, without the key itself. `last_used_at` is exact to a minute.

    A key stored without a highest source may claim any.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    highest_source: Source = Source.SYSTEM
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


class KeyList(AnswerPart):
    """All keys, oldest first, revoked and expired ones included."""

    keys: tuple[KeyInfo, ...]


class KeyRequest(RequestPart):
    """A key to create; without `expires_at` it is valid until it is revoked.

    `highest_source` is the most trusted source that a write with the key may claim; the default is `system` for an
    administrator's key, else `citizen`.
    """

    name: str
    scopes: tuple[str, ...]
    highest_source: Source | None = None
    expires_at: datetime | None = None


class RecurringCorrection(AnswerPart):
    """How often one pattern corrected beliefs (003, component 2: repeated dissonances reveal systematic errors).

    `count` is the number of dissonances; `node_ids` names each memory once.
    """

    correction_pattern_id: str
    count: int
    node_ids: tuple[str, ...]


class LearningMoments(AnswerPart):
    """The beliefs of a citizen that changed, oldest first.

    `recurring` counts each correction pattern among them, `next` is the cursor of the next page.
    """

    citizen_id: str
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
    next: str | None = None


class WeekOfLife(AnswerPart):
    """What began in the week from `start`, a Monday: how many memories, and their mean `energy`.

    `emotions`: how many of them felt each, those felt by most first. `generalisations`: how many of them upkeep
    made of others.
    """

    start: datetime
    memories: int
    energy: float
    emotions: dict[str, int] = Field(default_factory=dict)
    generalisations: int = 0


class Life(AnswerPart):
    """The weeks of a citizen in which anything began, the earliest first; of a very long life the newest 1,040.

    `memories`: how many there are in these weeks. `known_from`: when the first of them was known.
    """

    citizen_id: str
    weeks: tuple[WeekOfLife, ...] = ()
    memories: int = 0
    known_from: datetime | None = None


class _Logged(AnswerPart):
    """"""

    command_id: str | None = None
    key_id: str | None = None
    closed_by: str | None = None
    closed_source: Source | None = None
    closed_key: str | None = None
    known_as_happened: bool = False
    run: str | None = None
    closed_run: str | None = None


class LinkRecord(_Logged, ConsciousnessRelationship):
    """A link record with the commands that opened and closed it, their keys, and the source of the closing.

    `known_as_happened`: an import declared that it was known when it began to be true. `run` and `closed_run`: the
    runs of upkeep that sent these commands, if any.
    """

    pass


class LinkHistory(AnswerPart):
    """Records of one link, in the order they became known; `next` is the cursor of the next page."""

    id: str
    records: tuple[LinkRecord, ...]
    next: str | None = None
    degraded: tuple[str, ...] = ()
    """Memories or links with a field that cannot be shown and was left out."""


class LinkPage(AnswerPart):
    """Links by their source memory, in a stable order; `next` is the cursor of the next page."""

    links: tuple[ConsciousnessRelationship, ...]
    next: str | None = None
    degraded: tuple[str, ...] = ()
    """Memories or links with a field that cannot be shown and was left out."""


class Look(Filtered):
    """A question to be looked at by meaning, by shape and by feeling.

    `id`: the memory whose shape is sought; without it that which is nearest in meaning and has a shape. `emotion`:
    the feeling sought; without it that of the words of the question, else that of this memory. `each`: how many
    memories of each perspective, at most.
    """

    citizen_id: str
    query_text: str
    id: str | None = None
    emotion: str | None = None
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    each: int = 3


class MemoryRecord(_Logged, ConsciousnessNode):
    """A memory record with the commands that opened and closed it, their keys, and the source of the closing.

    `known_as_happened`: an import declared that it was known when it began to be true. `run` and `closed_run`: the
    runs of upkeep that sent these commands, if any.
    """

    pass


class MemoryHistory(AnswerPart):
    """Records of one memory, in the order they became known; `next` is the cursor of the next page."""

    id: str
    records: tuple[MemoryRecord, ...]
    next: str | None = None
    degraded: tuple[str, ...] = ()
    """Memories or links with a field that cannot be shown and was left out."""


class MemoryPage(AnswerPart):
    """Memories in a stable order; `next` is the cursor of the next page.

    `notes`, on the first page, name values of the filters that no memory has.
    """

    memories: tuple[ConsciousnessNode, ...]
    next: str | None = None
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    """Memories or links with a field that cannot be shown and was left out."""


class MemoryToolAnswer(AnswerPart):
    """What goes back to the model: the content of the result of the tool, and whether that is an error."""

    content: str
    is_error: bool = False


class MemoryToolCall(GraphRequest):
    """The input of a call as the model sends it, and whose memory it is for."""

    command: Literal["view", "create", "str_replace", "insert", "delete", "rename"]
    path: str = "/memories"
    view_range: tuple[int, int] | None = None
    file_text: str | None = None
    old_str: str | None = None
    new_str: str | None = None
    insert_line: int | None = None
    insert_text: str | None = None
    old_path: str | None = None
    new_path: str | None = None


class NewKey(KeyInfo):
    """A new key. `key` is shown only this once."""

    key: str


class Webhook(InGraph, AnswerPart):
    """A webhook. `next`: its place in the feed. `ended`: nothing is sent any more; `why` says why."""

    id: str
    url: str
    level: Level
    collective: str | None | None = None
    citizen_id: str | None = None
    commands: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    author: str | None = None
    created_at: datetime
    status: Literal["on", "ended"] = "on"
    why: str | None = None
    next: str


class NewWebhook(Webhook):
    """A new webhook with its `secret`, which is shown only once: with it a receiver checks the signatures."""

    secret: str


class OfferOutcome(AnswerPart):
    """What became of an offer; `receipt` or `erased` is that of its command, if it was taken up."""

    offer: Offer
    answer: Literal["take", "decline"]
    receipt: WriteReceipt | None = None
    erased: ErasureReport | None = None


class OfferReply(GraphRequest):
    """What becomes of an offer: it is taken up, or declined, and then it does not come back."""

    answer: Literal["take", "decline"]


class OffersAnswer(AnswerPart):
    """Open offers, the newest memory first. `further` counts those that are not listed."""

    offers: tuple[Offer, ...] = ()
    further: int = 0


class OffersRequest(GraphRequest):
    """Whose offers: of a citizen, or of a shared level. At most `limit` are listed."""

    limit: int = 20


class OwnUpkeep(RequestPart):
    """What a citizen asks for itself: no upkeep in idle time (`off`), or other jobs than the service runs.

    None: as the service is set. Jobs that erase run only where they are named.
    """

    mode: Literal["idle", "off"] | None = None
    jobs: (
        tuple[Literal["sweep", "tags", "consolidation", "mirror", "revaluation", "retention", "erasure"], ...]
        | None
    ) = None


class ContextNode(AnswerPart):
    """An entity with which a memory is linked."""

    node_id: str
    name: str


class ContextEdge(AnswerPart):
    """A link of a memory, or one that it states between others; `source` and `target` are names."""

    relation_type: str
    source_id: str
    source: str
    target_id: str
    target: str


class Resonance(AnswerPart):
    """One memory that resonates, with its `nodes` and `edges` (002: a context).

    Each channel lies in [0, 1]. `total` is their weighted sum (000), `resonance` the total as a share of all
    weights × `suppression` × `level_boost` (002), in [0, 1.15]. `nodes`, at most 32, by id; `edges`, at most 64.
    """

    memory: ConsciousnessNode
    resonance: float
    total: float
    channels: dict[
        Literal["nodes", "relations", "emotion", "result", "likeness", "words", "beside", "importance", "recency"],
        float,
    ]
    suppression: float
    level_boost: float
    nodes: tuple[ContextNode, ...] = ()
    edges: tuple[ContextEdge, ...] = ()
    shared: tuple[str, ...] = ()
    """By shape: what the two shapes share, that which weighs most first."""


class Perspectives(AnswerPart):
    """What each perspective shows, best first; no memory stands in two of them.

    `probe`: the memory whose shape was sought. `emotion`: the feeling that was sought. `notes` say why a
    perspective shows nothing.
    """

    citizen_id: str
    probe: str | None = None
    emotion: str | None = None
    by_meaning: tuple[Resonance, ...] = ()
    by_shape: tuple[Resonance, ...] = ()
    by_feeling: tuple[Resonance, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class PolicyRule(GraphRequest):
    """Which memories of a graph are kept, and what happens to the others.

    It is about the memories that fit all of `source`, `tag` and `node_type`; without any of them about all but
    names (people, places, things). Of these it keeps what is younger than `keep_days`, the `keep_newest` newest,
    and with `keep_until_resolved` what is not resolved; several of these keep what any of them keeps. `age`: since
    it was last `written`, or since it `happened` (its valid time began). What is not kept is retracted, or with
    `action` erase removed for good. `by`: the source that acts; what it may not change stays.
    """

    source: Source | None = None
    tag: str | None = None
    node_type: str | None = None
    keep_days: float | None = None
    keep_newest: int | None = None
    keep_until_resolved: bool = False
    age: Literal["written", "happened"] = "written"
    action: Literal["retract", "erase"] = "retract"
    by: Source = Source.CITIZEN


class Policy(AnswerPart):
    """A stored policy. `confirmed`: so many memories it may reach without being asked for confirmation again."""

    name: str
    rule: PolicyRule
    confirmed: int = 0


class PoliciesAnswer(AnswerPart):
    """The policies of one graph, by name."""

    policies: tuple[Policy, ...] = ()


class Reached(AnswerPart):
    """A memory that a policy does not keep."""

    id: str
    name: str


class PolicyReach(AnswerPart):
    """What a policy reaches now. `total`: all memories of the graph that hold.

    `asks`: it reaches more than may be reached without confirmation, so the job leaves it out.
    """

    policy: Policy
    stored: bool
    reached: int
    total: int
    asks: bool = False
    shown: tuple[Reached, ...] = ()


class Prediction(AnswerPart):
    """A kept prediction, and what came of it: `result` and `emotion` of the context that answered it, if any.

    `brier` compares the two, in [0, 2]: 0 for a certain and right prediction. Null while nothing came of it, and
    where there was too little to say.
    """

    prediction_id: str
    made_at: datetime
    action: str
    nodes: tuple[str, ...] = ()
    feeling: str | None = None
    enough: bool
    results: dict[str, float] = Field(default_factory=dict)
    emotions: dict[str, float] = Field(default_factory=dict)
    answered_at: datetime | None = None
    context_id: str | None = None
    result: str | None = None
    emotion: str | None = None
    brier: float | None = None


class PredictionPage(AnswerPart):
    """Kept predictions of a citizen, the newest first; `next` is the cursor of the next page."""

    citizen_id: str
    predictions: tuple[Prediction, ...] = ()
    next: str | None = None


class QualitySummary(AnswerPart):
    """What one sweep of a whole graph found. Its figures are those of the sweep's `MetadataValidationReport`.

    `quality_grade` by the thresholds of 003: excellent, above .9 complete and no errors; good, above .75 and fewer
    than 10 % of the memories with errors; acceptable, above .6 and fewer than 25 %; else poor; null when nobody
    gave any metadata.
    """

    swept_at: datetime
    quality_grade: Literal["excellent", "good", "acceptable", "poor"] | None = None
    average_completeness: float = 0.0
    total_memories: int = 0
    graded_memories: int = 0
    fully_valid_memories: int = 0
    memories_with_warnings: int = 0
    memories_with_errors: int = 0
    findings_by_kind: dict[
        Literal[
            "link_invalid",
            "memory_invalid",
            "overlap",
            "embedding_missing",
            "embedding_stale",
            "passages_missing",
            "passages_stray",
            "closed_end",
            "duplicate",
            "junk",
            "essay_emotion",
            "unreadable",
            "unset_default",
        ],
        int,
    ] = Field(default_factory=dict)
    findings_by_severity: dict[Literal["error", "warning", "info"], int] = Field(default_factory=dict)


class QualitySeries(InGraph, AnswerPart):
    """The summaries of one graph, oldest first.

    `fallen_from`: the best grade of the 30 days before the last sweep, when the last grade is lower; else null.
    """

    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    citizen_id: str | None = None
    summaries: tuple[QualitySummary, ...] = ()
    fallen_from: Literal["excellent", "good", "acceptable", "poor"] | None = None


class QualityAnswer(AnswerPart):
    """One series for each graph that exists."""

    series: tuple[QualitySeries, ...] = ()


class QuarantineChange(GraphRequest):
    """Release a quarantine, or make it final. `by`: the source that orders it, which must be trusted enough."""

    by: Source = Source.CITIZEN


class QuarantineRequest(QuarantineChange):
    """Hide what was written by a source, in an episode, with a key, by a speaker, with a tag or in a time.

    `since` and `until`: when it was written (transaction time), from the first to before the second. All that are
    given must fit. `dry_run`: only list what would be hidden. `note`: a reason, for the list of quarantines.
    """

    source: Source | None = None
    episode_id: str | None = None
    key_id: str | None = None
    speaker: str | None = None
    tag: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    note: str = ""
    dry_run: bool = False


class QuarantinedThing(AnswerPart):
    """A memory or a link that a quarantine reached.

    `hidden`: no record of it holds. `taken_back`: it says again what it said before. `kept`: the citizen changed
    it since, so it stays. `refused`: the rule of trust does not allow the change, or another change came first.
    """

    kind: Literal["memory", "link"]
    id: str
    name: str = ""
    fate: Literal["hidden", "taken_back", "kept", "refused"]
    why: Literal["came_from_there", "name", "name_change", "generalisation", "resolution", "link_of_hidden"] = (
        "came_from_there"
    )


class Quarantine(AnswerPart):
    """A quarantine of one graph.

    `known_before`: with this as `known_at`, a question sees the present before it. `memories` and `links`: how
    many are hidden; `taken_back`: how many say again what they said before; `feedback`: how many lessons of the
    citizen are put aside; `kept`, `refused`: how many stay as they are. `state`: the fields of the citizen's state
    that say again what they said before. `id` is None for a dry run, and where nothing was hidden. `things`: the
    first ones.
    """

    id: str | None = None
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    citizen_id: str | None = None
    status: Literal["dry_run", "nothing", "hiding", "hidden", "releasing", "released", "retracted"]
    request: QuarantineRequest
    begun_at: datetime
    known_before: datetime
    ended_at: datetime | None = None
    memories: int = 0
    links: int = 0
    taken_back: int = 0
    feedback: int = 0
    state: tuple[str, ...] = ()
    kept: int = 0
    refused: int = 0
    not_released: int = 0
    """How many were changed since and stayed as they are."""
    things: tuple[QuarantinedThing, ...] = ()


class QuarantinesAnswer(AnswerPart):
    """The quarantines of one graph, the newest first, without their things."""

    quarantines: tuple[Quarantine, ...] = ()


class ReEmbed(Task):
    """Compute the embedding of a memory again; add the missing passages of its text, erase those of no text."""

    action: Literal["re-embed"] = "re-embed"
    id: str
    version: int


class Ready(AnswerPart):
    """The engine answers, and every index of every graph is operational. Only administrators see `graphs`."""

    status: Literal["ready"] = "ready"
    engine: Literal["embedded", "server"]
    ping_ms: float
    graphs: int | None
    embedding: str
    dimension: int
    open: bool = False
    notes: tuple[str, ...] = ()
    """What will need attention soon, such as a disk that is almost full."""


class ReceiptList(AnswerPart):
    """The receipts of many commands, in their order."""

    receipts: tuple[WriteReceipt, ...]
    stored: int
    refused: int


class Relate(Command):
    """A new link. The REQUIRED tier of 003, component 6, has only the defaults that 003 names."""

    command: Literal["relate"] = "relate"
    id: str | None = None
    """Default: `source|TYPE|target`, so that the same link is made only once."""
    source_id: str
    target_id: str
    relation_type: str
    energy: float
    confidence: float
    emotion_vector: dict[str, float]
    goal: str
    mindstate: str
    energy_transfer_coefficient: float = 0.5
    resolution_state: ResolutionState = ResolutionState.IN_PROGRESS
    formation_trigger: str | None = None
    felt_quality: str | None = None
    emotion_description: str | None = None
    body_sensation: str | None = None
    spatial_context: str | None = None
    sensory_details: dict[str, Any] | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    source: Source = Source.CITIZEN
    episode_id: str | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class Relation(RequestPart):
    """A typed triple; an end left out matches anything. Ends are names or ids."""

    relation_type: str
    source: str | None = None
    target: str | None = None


class Remember(Command):
    """A new memory. Fields left out are absent; energy and confidence default to one half (003, task 4).

    A text that repeats a retrieved memory word for word is recognised and not stored again, unless `restate` is
    set.
    """

    command: Literal["remember"] = "remember"
    id: str | None = None
    node_type: str = "Memory"
    name: str
    description: str = ""
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    energy: float = 0.5
    confidence: float = 0.5
    emotion_vector: dict[str, float] | None = None
    felt_quality: str | None = None
    body_sensation: str | None = None
    goal: str | None = None
    resolution_state: ResolutionState | None = None
    tags: tuple[str, ...] = ()
    buckets: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    importance: float | None = None
    intensity: float | None = None
    result: str | None = None
    rule: str | None = None
    severity: Literal["block", "warn", "note"] | None = None
    abstraction: Literal["L0", "L1", "L2", "L3"] | None = None
    step: Literal["Decision", "Action", "Learning", "Question", "Courtesy", "Echo"] | None = None
    correction_pattern_id: str | None = None
    discovery_energy: float | None = None
    source: Source = Source.CITIZEN
    episode_id: str | None = None
    speaker: str | None = None
    about: tuple[str, ...] = ()
    """Names of people, places or projects that it is about: it is linked with each."""
    restate: bool = False
    extra: dict[str, Any] = Field(default_factory=dict)


class RepairOutcome(AnswerPart):
    """The result of a task. `gone`: the record changed since it was seen, and nothing was done."""

    action: str
    status: Literal["done", "gone", "refused"]
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    detail: str = ""
    problem: Literal["invalid-request", "not-found", "conflict", "not-trusted", "not-author"] | None = None
    receipt: WriteReceipt | None = None


class LinkTask(Task):
    """The id and ends of a link, and the transaction time of the record that was seen."""

    id: str
    source_id: str
    target_id: str
    seen: int


class RetractLink(LinkTask):
    """Close the record of a link: it was true until the instant `until`, or never."""

    action: Literal["retract-link"] = "retract-link"
    until: int | None = None


class ReviseLink(LinkTask):
    """Close the record of a link and open one with other metadata; fields left out stay."""

    action: Literal["revise-link"] = "revise-link"
    emotion_vector: dict[str, float] | None = None
    emotion_description: str | None = None
    energy_transfer_coefficient: float | None = None
    resolution_state: ResolutionState | None = None
    extra: dict[str, Any] | None = None
    sensory_details: dict[str, Any] | None = None


class RepairRequest(RequestPart):
    """The task of a finding, to run."""

    task: ApplyCommand | ReEmbed | RetractLink | ReviseLink | CloseRecord


Way: TypeAlias = Literal["retrieve", "wake"]


Cause: TypeAlias = Literal[
    "weights", "model", "erased", "degraded", "reranker", "written_meanwhile", "imported", "unknown"
]


Fate: TypeAlias = Literal["same", "closed", "erased", "only_then", "only_now"]


class Replacement(AnswerPart):
    """The record that a memory has now in place of one that was closed."""

    version: int
    name: str
    description: str


class ReplayedMemory(InGraph, AnswerPart):
    """What has become of a memory that a stream showed, or that it shows only now.

    `fate`: `same`; `closed` since, at `closed_at`, because of `reason`, and `replaced_by` what holds now (null
    where nothing does); `erased` since, of which nothing is shown; found `only_then`, or `only_now`, for one of
    `causes`. `place_then` and `place_now` count from 1, without what was erased.
    """

    level: Level
    collective: str | None | None = None
    id: str
    version: int
    fate: Fate
    name: str | None = None
    place_then: int | None = None
    place_now: int | None = None
    closed_at: datetime | None = None
    reason: str | None = None
    replaced_by: Replacement | None = None
    causes: tuple[Cause, ...] = ()


class Replay(AnswerPart):
    """A stream that was asked again as of then, known then.

    `same`: the memories and their order are those of then, but for what was erased. If not, `causes` says why:
    other `weights` (of the channels, or what feedback taught, which was taken back), another `model` of vectors,
    something `erased` that weighed on the rest, a `degraded` answer then or now, a `reranker` that is a model,
    `written_meanwhile` (while it was asked), `imported` with an earlier date; `unknown`: none of these.
    """

    stream_id: str
    citizen_id: str
    way: Way
    asked: str
    asked_at: datetime
    same: bool
    order_changed: bool = False
    causes: tuple[Cause, ...] = ()
    memories: tuple[ReplayedMemory, ...]
    hidden: int = 0


class Resolving(StretchCommand):
    """Work gets another state."""

    command: str
    effective_at: datetime | None = None
    resolution_state: ResolutionState = ResolutionState.RESOLVED
    cascade: bool = False
    """Do at once what follows: resolve the problem and its open links, and unblock what waited for it
    alone. One command, which an undo takes back as a whole."""


class Resolve(Resolving):
    """Set another resolution state; the other content stays.

    It holds from `effective_at` (default: now) to `valid_to`, by default over every later record to the end of
    what is known.
    """

    command: Literal["resolve"] = "resolve"
    id: str


class ResolveLink(Resolving):
    """Set another resolution state; other metadata stay.

    It holds from `effective_at` (default: now) to `valid_to`, by default over every later record to the end of
    what is known.
    """

    command: Literal["resolve_link"] = "resolve_link"
    id: str


class SentSignal(AnswerPart):
    """The signal that was sent: the fields given, those read from texts, and those added by drives."""

    nodes: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    emotion: str | None = None
    intensity: float = 1.0
    result: str | None = None
    max_level: Literal["L0", "L1", "L2", "L3"] = "L3"
    drives: tuple[str, ...] = ()
    """Drives below a satisfaction of 0.3, which take part."""


class Resonances(AnswerPart):
    """The memories that resonate at each level: the strongest first, then the strongest that differ from those
    before.

    `weights` are those used: 0 for a channel that the signal does not fill; none by shape, where `resonance` and
    `total` are the cosine of the two shapes. `rules`: the rules of the memories
    shown, each once, in their order (002: the active rules). `model_calls`: those that `rerank` made.
    """

    citizen_id: str
    signal: SentSignal
    weights: dict[
        Literal["nodes", "relations", "emotion", "result", "likeness", "words", "beside", "importance", "recency"],
        float,
    ]
    levels: dict[str, tuple[Resonance, ...]]
    rules: tuple[str, ...] = ()
    model_calls: tuple[ModelCall, ...] = ()
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class Weights(RequestPart):
    """The weight of each channel. 002 weighs its channels equally; recency has 0.2 from 000, and importance the
    same, because both count for every memory, whatever the signal. Words and what stands beside a memory only
    complete likeness, and have half its weight.
    """

    nodes: float = 1.0
    relations: float = 1.0
    emotion: float = 1.0
    result: float = 1.0
    likeness: float = 1.0
    words: float = 0.5
    beside: float = 0.5
    importance: float = 0.2
    recency: float = 0.2


class WaveSignal(RequestPart):
    """A signal (002), complete or to be built.

    `nodes` are names or ids. `intensity` scales the weight of emotion. `max_level` is the highest abstraction of
    the answer. `drive_bias` overrides the stored satisfaction of drives, 0 to 1. With a `window` or a `focus`,
    fields left out are read from those texts and from the state of the citizen.

    A signal without any of these is that of the citizen's state: its kept window, senses and focus stand for those
    of the request.
    """

    nodes: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    emotion: str | None = None
    intensity: float | None = None
    result: str | None = None
    max_level: Literal["L0", "L1", "L2", "L3"] = "L3"
    drive_bias: dict[str, float] = Field(default_factory=dict)
    query_text: str | None = None
    query_embedding: tuple[float, ...] | None = None
    window: tuple[WindowItem, ...] = ()
    focus: str | None = None
    weights: Weights = Field(default_factory=lambda: Weights())


class Resonate(WaveSignal, Plural, Filtered, AsksGraphs):
    """A signal to the memory of a citizen at a moment.

    `overlap`: the node channel divides by the nodes of the signal (002) or of the memory (000). With `plurality`,
    recency halves after its half-life instead of a day, and importance has its floor.

    `suppress_recent`: what became true within the last 24 hours resonates less, as what the window shows does: an
    echo of the present is no memory. `rerank` reorders the best, as for a question: `mmr` by different words,
    `rrf` by the ranks in each channel, `llm` by the language model, `custom` by the reranker of the service.

    `by: shape` sends no signal: it finds memories around which the same happened as around the memory `id`, in
    other words (docs/rules.md).
    """

    citizen_id: str
    by: Literal["signal", "shape"] = "signal"
    id: str | None = None
    """With `by: shape`, the memory whose shape is sought."""
    overlap: Literal["signal", "memory"] = "signal"
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    max_results_per_level: int = 7
    suppress_recent: bool = True
    rerank: Rerank | None = None


class RuleMemory(AnswerPart):
    """A memory that holds a rule. `severity` is as it was written: what counts is that of the rule."""

    memory_id: str
    level: Level
    collective: str | None = None
    name: str
    source: Source
    author: str | None = None
    severity: Literal["block", "warn", "note"] | None = None
    result: str | None = None
    valid_at: datetime


class RuleCounts(AnswerPart):
    """How a rule fared. `held`, `failed`: memories with this rule whose result is positive, negative.

    `checked`: checks in which it spoke; of these it `blocked` so many, and `overridden` were only warned of.
    """

    held: int = 0
    failed: int = 0
    checked: int = 0
    blocked: int = 0
    overridden: int = 0


class ListedRule(AnswerPart):
    """A rule with its record. `dissonance`: it failed at least three times, and more often than it held."""

    rule: str
    kind: Literal["never", "always", "order", "only", "unread"]
    severity: Literal["block", "warn", "note"]
    lowered: str | None = None
    memories: tuple[RuleMemory, ...] = ()
    record: RuleCounts = Field(default_factory=lambda: RuleCounts())
    contradicts: tuple[str, ...] = ()
    dissonance: TemporalDissonance | None = None


class RulesAnswer(AnswerPart):
    """A page of rules, the newest first; `next` is the cursor of the next page."""

    citizen_id: str
    rules: tuple[ListedRule, ...] = ()
    next: str | None = None
    notes: tuple[str, ...] = ()


class RulesCheck(AsksGraphs):
    """An action that a citizen is about to do. `nodes`, `emotion` and `result` are of its situation: by them the
    rules are ordered.

    `as_of_time` asks for the rules of another moment; such a check is not recorded and overrides nothing.
    """

    citizen_id: str
    action: str
    """What is about to be done, in words: Deploy on Friday."""
    nodes: tuple[str, ...] = ()
    emotion: str | None = None
    result: str | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    as_of_time: datetime | None = None
    known_at: datetime | None = None


class SpeakingRule(AnswerPart):
    """A rule that an action breaks, may break or keeps.

    `severity`: what it may do at most; `lowered` says why that is less than was written. `likeness`: of the action
    and the matter of the rule, in [0, 1]; `words`: those of the rule that the action has. `resonance`, in [0, 1]:
    the mean of its likeness and of what was asked with (nodes, emotion, result). `contradicts`: other rules that
    bid the opposite.
    """

    rule: str
    outcome: Literal["broken", "doubtful", "kept"]
    severity: Literal["block", "warn", "note"]
    lowered: str | None = None
    overridden: bool = False
    why: str
    words: tuple[str, ...] = ()
    likeness: float = 0.0
    resonance: float = 0.0
    memories: tuple[RuleMemory, ...] = ()
    record: RuleCounts = Field(default_factory=lambda: RuleCounts())
    contradicts: tuple[str, ...] = ()


class UnjudgedRule(AnswerPart):
    """A rule of which nobody can say whether the action breaks it, and why."""

    rule: str
    why: str
    memories: tuple[RuleMemory, ...] = ()


class RulesVerdict(AnswerPart):
    """Whether an action may be done by the rules of a citizen.

    `rules`: those that speak, the gravest first. `judged`: how many rules were compared. `overridden`: it would be
    blocked, but the same action was blocked twice within a day.
    """

    citizen_id: str
    action: str
    verdict: Literal["allow", "warn", "block", "unchecked"]
    why: str
    overridden: bool = False
    rules: tuple[SpeakingRule, ...] = ()
    unjudged: tuple[UnjudgedRule, ...] = ()
    judged: int = 0
    notes: tuple[str, ...] = ()


class Run(InGraph, AnswerPart):
    """One run of a job in one graph.

    `seen`: how many things the job looked at, `changed`: how many changes were stored, `refused`: how many
    commands were refused. `errors`: what went wrong, the last ones only. `attempt`: how often it was tried.
    `next_at`: when the job is due again in this graph. `fence`: the number of the lease under which it last wrote.
    `undone`: how many changes were taken back; `beyond_undo`: how many cannot be, because the job erased.
    """

    id: str
    job: Literal["sweep", "tags", "consolidation", "mirror", "revaluation", "retention", "erasure"]
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    citizen_id: str | None = None
    status: Literal["running", "done", "failed", "undone"]
    begun_at: datetime
    ended_at: datetime | None = None
    next_at: datetime | None = None
    seen: int = 0
    changed: int = 0
    refused: int = 0
    attempt: int = 1
    errors: tuple[str, ...] = ()
    fence: int = 0
    undone: int = 0
    beyond_undo: int = 0
    dry_run: bool = False
    shown: tuple[str, ...] = ()


class GraphsRequest(RequestPart):
    """A request about the graphs of several levels, of the citizen when one is named; or about a collective."""

    citizen_id: str | None = None
    levels: tuple[Level, ...] | None = None
    collective: str | None = None


class RunRequest(GraphsRequest):
    """Run jobs now. Without `jobs`: those that are switched on. Without `levels`: N1 of the citizen when one is
    named, else all levels. With `dry_run` nothing is stored, and the answer shows what would change.
    """

    jobs: (
        tuple[Literal["sweep", "tags", "consolidation", "mirror", "revaluation", "retention", "erasure"], ...]
        | None
    ) = None
    dry_run: bool = False


class JobInfo(AnswerPart):
    """A job. `runs`: it runs in idle time; a citizen may ask for other jobs (`OwnUpkeep`)."""

    name: Literal["sweep", "tags", "consolidation", "mirror", "revaluation", "retention", "erasure"]
    levels: tuple[Level, ...]
    period_s: int
    undoable: bool
    runs: bool


class RunsAnswer(AnswerPart):
    """Runs, the newest first. `holder`: who does the upkeep now; empty when nobody does.

    `upkeep` says whether this service does upkeep in idle time, `jobs` which jobs there are.
    """

    runs: tuple[Run, ...] = ()
    holder: str = ""
    upkeep: Literal["idle", "off"] = "idle"
    jobs: tuple[JobInfo, ...] = ()


class SendAgain(GraphRequest):
    """Send dead messages again, with five more tries: one, or all. A webhook that ended goes on."""

    delivery_id: str | None = None


class LevelReferences(AnswerPart):
    """What was found on one level, by reference; in the order of `ConsciousnessLevelResults`."""

    vector_results: tuple[str, ...] = ()
    graph_results: tuple[str, ...] = ()
    relationships: tuple[str, ...] = ()
    omitted: dict[str, int] | None = None


class TierReferences(AnswerPart):
    """Memories by activation, by reference."""

    focus: tuple[str, ...] = ()
    peripheral: tuple[str, ...] = ()
    background: tuple[str, ...] = ()


class GraphReferences(GraphFigures):
    """The traversal graph by reference: its memories, and the weight of each link in [0, 1] (003, 5b)."""

    nodes: tuple[str, ...] = ()
    edges: dict[str, float] = Field(default_factory=dict)


Reference: TypeAlias = str


Tier = Literal["focus", "peripheral", "background"]


NODE_FIELDS: Final = tuple((name for name in GraphNode.model_fields if name in ConsciousnessNode.model_fields))


def graph_content(node: ConsciousnessNode) -> str:
    """What a memory says in the graph: its speaker or name, and its text."""
    if node.speaker:
        return f"{node.speaker}: {node.description}"
    return f"{node.name}: {node.description}" if node.description else node.name


def activation_score(node: ConsciousnessNode) -> float:
    """Relevance after spreading, in [0, 1]."""
    return max(0.0, min(1.0, node.relevance_score))


def graph_node(node: ConsciousnessNode, tier: Tier) -> GraphNode:
    """The memory as a node of the graph."""
    values: dict[str, Any] = {name: getattr(node, name) for name in NODE_FIELDS}
    own = {"content": graph_content(node), "activation_score": activation_score(node), "activation_tier": tier}
    return GraphNode.unchecked({**values, **own})


EDGE_FIELDS: Final = tuple(
    (name for name in GraphEdge.model_fields if name in ConsciousnessRelationship.model_fields)
)


def _graph_edge(link: ConsciousnessRelationship, weight: float) -> GraphEdge:
    values: dict[str, Any] = {name: getattr(link, name) for name in EDGE_FIELDS}
    return GraphEdge.unchecked({**values, "edge_id": link.link_id, "traversal_weight": weight})


class ReferencedStream(StreamFrame):
    """A `ConsciousnessStream` in which each memory and each link stands once; all else refers to them.

    A reference is `graph|id|version`, such as `N1|tea|2`: an id may stand in several graphs and versions. With the
    form `compact` it has a `text`, which stands for all sections but those that `parts` names.
    """

    form: Literal["references", "compact"] = "references"
    memories: dict[str, ConsciousnessNode] = Field(default_factory=dict)
    links: dict[str, ConsciousnessRelationship] = Field(default_factory=dict)
    levels: dict[str, LevelReferences] = Field(default_factory=dict)
    activation_tiers: TierReferences = Field(default_factory=lambda: TierReferences())
    traversal_graph: GraphReferences = Field(default_factory=lambda: GraphReferences())

    def expanded(self) -> ConsciousnessStream:
        """The stream with each memory and link wherever it belongs. `model_fields_set` names what was sent."""
        frame = {name: getattr(self, name) for name in StreamFrame.model_fields if name in self.model_fields_set}
        tiers = ActivationTiers(
            focus=self._memories(self.activation_tiers.focus),
            peripheral=self._memories(self.activation_tiers.peripheral),
            background=self._memories(self.activation_tiers.background),
        )
        levels = {name: self._level(level) for name, level in self.levels.items()}
        places = {"levels": levels, "activation_tiers": tiers, "traversal_graph": self._graph(tiers)}
        sent = {name: each for name, each in places.items() if name in self.model_fields_set}
        return ConsciousnessStream(**frame, **sent)

    def _memories(self, references: Iterable[Reference]) -> tuple[ConsciousnessNode, ...]:
        return tuple(self.memories[each] for each in references)

    def _level(self, level: LevelReferences) -> ConsciousnessLevelResults:
        return ConsciousnessLevelResults(
            vector_results=self._memories(level.vector_results),
            graph_results=self._memories(level.graph_results),
            relationships=tuple(self.links[each] for each in level.relationships),
            omitted=level.omitted,
        )

    def _graph(self, tiers: ActivationTiers) -> TraversalGraph:
        tier_of: dict[tuple[GraphKey, str], Tier] = {}
        for node in tiers.focus:
            tier_of.setdefault((node.graph_key, node.node_id), "focus")
        for node in tiers.peripheral:
            tier_of.setdefault((node.graph_key, node.node_id), "peripheral")
        graph = self.traversal_graph
        nodes = tuple(
            graph_node(node, tier_of.get((node.graph_key, node.node_id), "background"))
            for node in self._memories(graph.nodes)
        )
        edges = tuple(_graph_edge(self.links[name], weight) for name, weight in graph.edges.items())
        figures = {name: getattr(graph, name) for name in GraphFigures.model_fields}
        return TraversalGraph(nodes=nodes, edges=edges, **figures)


class SentIntended(_Intended):
    """The appetite, the decision, and the stream in the form that was asked for; null where nothing was asked."""

    stream: Annotated[ConsciousnessStream | ReferencedStream, Field(discriminator="form")] | None = None


class SetPolicy(PolicyRule):
    """A policy to store, in place of one with the same name.

    `confirm`: how many memories it reaches now, as a dry run counted them. It is required when that is more than
    half of the graph, and the job asks again when it would reach more than both. `dry_run`: only count.
    """

    confirm: int | None = None
    dry_run: bool = False


class Share(RequestPart):
    """Copy a memory to a shared level, in the name of the citizen; sent again, it brings the copy up to date.

    `level` and `collective`: where it goes, as in the answer. `from_level` and `from_collective`: where the memory
    stands now. `with_links`: also its links to memories that the citizen shared there.
    """

    command_id: str | None = None
    citizen_id: str
    from_level: Literal[Level.N1, Level.N2] = Level.N1
    from_collective: str | None = None
    id: str
    level: Literal[Level.N2, Level.N3]
    collective: str | None = None
    with_links: bool = True


class Shared(InGraph, AnswerPart):
    """What became of a share. `id` is the copy's, always the same for the same memory.

    `unchanged`: the copy has this version already. `links`: those copied now. `left`: links that were refused, and
    why. `contested`: who contests the memory or its copy.
    """

    command_id: str
    status: Literal["shared", "updated", "unchanged"]
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    version: int | None
    shared_from: SharedFrom
    links: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    contested: tuple[Contest, ...] = ()


class Stimulus(AnswerPart):
    """What there is to answer to: `strength` in [0, 1], and `reason`, why it is one.

    A pain, a drive or a sense is that of the state; a message became known after the last cycle; what is due is
    planned by a memory.
    """

    kind: Literal["given", "pain", "drive", "sense", "message", "due"]
    text: str
    strength: float
    reason: str
    memory_id: str | None = None
    level: Level | None = None
    speaker: str | None = None
    at: datetime | None = None


class Shown(AnswerPart):
    """An item of the window of the last cycle; `text` is null where its memory is not there any more."""

    memory_id: str | None = None
    text: str | None = None
    shown_at: datetime | None = None


class Context(AnswerPart):
    """A memory in the working memory of a cycle (002).

    `emotion` is its strongest, `intensity` the one recorded, else that of the emotion. `abstraction` is the level
    of 002 (L0 to L3), `score` its resonance in [0, 1.15], × 0.9 for a shared memory.
    """

    memory_id: str
    level: Level
    collective: str | None = None
    name: str
    description: str
    speaker: str | None = None
    valid_at: datetime
    nodes: tuple[ContextNode, ...] = ()
    edges: tuple[ContextEdge, ...] = ()
    emotion: str | None = None
    intensity: float | None = None
    result: str | None = None
    rule: str | None = None
    abstraction: Literal["L0", "L1", "L2", "L3"] | None = None
    score: float


class ActiveRule(AnswerPart):
    """A rule and the memories that have it: those of the working memory, or the citizen's own."""

    rule: str
    memory_ids: tuple[str, ...]


class Change(AnswerPart):
    """What became known of a memory since the last cycle. `text` is what holds now, else what held.

    `before`: what was believed before, where that is another text; `reason`: why it was closed.
    """

    memory_id: str
    level: Level
    collective: str | None = None
    text: str
    before: str | None = None
    reason: str | None = None
    speaker: str | None = None
    at: datetime


class Changes(AnswerPart):
    """What changed since the last cycle, the latest first, at most ten of each kind; `more`: how many others.

    A memory stands under one kind: resolved, else closed, else corrected, else new.
    """

    new: tuple[Change, ...] = ()
    corrected: tuple[Change, ...] = ()
    closed: tuple[Change, ...] = ()
    resolved: tuple[Change, ...] = ()
    more: dict[Literal["new", "corrected", "closed", "resolved"], int] = Field(default_factory=dict)


class Situation(AnswerPart):
    """All that an agent of a cycle begins with, at `at` (002, prepare).

    `since`: from when on changes are told, null where no cycle has ended yet. `contexts`: at most seven memories
    that resonate with window, stimuli and focus, the strongest first, at most two of an emotion. `rules`: theirs,
    then the citizen's own that fit the stimuli or the focus, each once. `text` says the same for a prompt, in
    `tokens` tokens; `left_out` lines had no room.
    """

    citizen_id: str
    at: datetime
    since: datetime | None = None
    state: CitizenState
    stimuli: tuple[Stimulus, ...] = ()
    window: tuple[Shown, ...] = ()
    focus: str | None = None
    signal: SentSignal | None = None
    contexts: tuple[Context, ...] = ()
    rules: tuple[ActiveRule, ...] = ()
    changes: Changes = Field(default_factory=lambda: Changes())
    text: str
    tokens: int
    left_out: int = 0
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


class SituationRequest(AsksGraphs):
    """What of the situation is given; all else is read from the state and the memories.

    `window` and `focus` stand for the kept ones. `since` (default: the end of the last cycle): from when on
    changes and messages are told. `time_zone`: where planned days begin. `as_of_time` sets both time axes,
    `known_at` the transaction axis alone.
    """

    stimuli: tuple[GivenStimulus, ...] = ()
    window: tuple[WindowItem, ...] | None = None
    focus: str | None = None
    since: datetime | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )
    time_zone: str = "UTC"
    max_tokens: int = 1000
    """The most tokens of `text`, which is never longer."""
    as_of_time: datetime | None = None
    known_at: datetime | None = None


class StateChange(RequestPart):
    """Fields to set; others stay, null clears one. `drives`, `senses` and `window` replace those kept.

    Saving a `window`, also an empty one, is the end of a cycle (002): `last_cycle_at` becomes `valid_at`. Its
    items were shown then, unless they say when. A memory in it is kept by its id.

    The energy that is set is the ordinary one from then on: it stays until a stream with feedback changes it, and
    returns to it afterwards.

    It is valid from `valid_at` (default: now) on, and replaces what was stored for that time. `source`: whose word
    it is, at most the highest that the key may claim.
    """

    energy: float | None = None
    emotion_vector: dict[str, float] | None = None
    goal: str | None = None
    drives: dict[str, Drive] | None = None
    window: tuple[WindowItem, ...] | None = None
    focus: str | None = None
    senses: dict[str, Sense] | None = None
    reality_pressure: float | None = None
    valid_at: datetime | None = None
    source: Source = Source.CITIZEN


class StateWriter(AnswerPart):
    """Whose word a field of a state is: source and key of the change that set it, when it was sent (`at`), and the
    version of the state `over` which (0: the default).

    A `quarantine` had the field say again what this writer said, in place of what the version `held` says.
    """

    source: Source | None = None
    key_id: str | None = None
    at: datetime | None = None
    over: int = 0
    quarantine: str | None = None
    held: int | None = None


class StateRecord(Felt):
    """One record of a state, as it was written, with its valid time and its transaction time; null: no end.

    `feedback_at`: when the feedback of a stream set the energy, which has been returning to the ordinary one since
    then; null where the citizen set it. `baseline`: what the citizen had set before that feedback. `writers`: by
    name of a field, who set it; feedback of a stream sets none.
    """

    version: int
    baseline: float | None = None
    feedback_at: datetime | None = None
    writers: dict[str, StateWriter] = Field(default_factory=dict)
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None


class StateHistory(AnswerPart):
    """Records of a state in the order they became known; `next` is the cursor of the next page."""

    citizen_id: str
    records: tuple[StateRecord, ...]
    next: str | None = None


class StreamAnswer(RootModel[Any]):
    """A stream in any form, as an answer."""

    model_config = ConfigDict(defer_build=True)

    root: Annotated[ConsciousnessStream | ReferencedStream, Field(discriminator="form")]


class StreamSummary(AnswerPart):
    """One stream of a list: when it was asked for, how, what was asked, and how many memories it showed."""

    stream_id: str
    asked_at: datetime
    way: Way
    asked: str
    levels: tuple[Level, ...]
    shown: int


class StreamPage(AnswerPart):
    """A page of the streams of a citizen, the newest first."""

    citizen_id: str
    streams: tuple[StreamSummary, ...]
    next: str | None = None


class ShownMemory(InGraph, AnswerPart):
    """A memory that a stream showed, by its version."""

    level: Level
    collective: str | None | None = None
    id: str
    version: int


class ShownTiers(AnswerPart):
    """The memories that a stream showed, best first."""

    focus: tuple[ShownMemory, ...] = ()
    peripheral: tuple[ShownMemory, ...] = ()
    background: tuple[ShownMemory, ...] = ()


class StreamRecord(StreamSummary):
    """What is kept of a stream.

    It saw what held in `[valid_from, valid_to)` as known in `[known_from, known_to)`; null: without an end.
    `request`: as it was sent, with every option. `tiers`: what it showed. `hidden`: memories of shared graphs that
    this key may not read, which are left out. `weights` and `model`: names of what ranked it and of the model of
    its vectors; another name is another one. `degraded`: queries whose results were missing.
    """

    citizen_id: str
    goal: str | None = None
    request: dict[str, Any]
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    known_from: datetime | None = None
    known_to: datetime | None = None
    tiers: ShownTiers
    hidden: int = 0
    weights: str
    model: str
    degraded: tuple[str, ...] = ()


class Supersede(Revision):
    """The world changed (`reality_changed`): the old content ends at `effective_at`, the new begins there.

    `effective_at` (default: now) may lie in the past or in the future, but only where the memory has a record. The
    new content holds from there to `valid_to`, by default over every later record to the end of what is known.
    """

    command: Literal["supersede"] = "supersede"
    effective_at: datetime | None = None


class SupersedeLink(LinkRevision):
    """The world changed (`reality_changed`): the old metadata end at `effective_at`, the new begin there.

    `effective_at` (default: now) may lie in the past or in the future, but only where the link has a record. The
    new metadata hold from there to `valid_to`, by default over every later record to the end of what is known.
    """

    command: Literal["supersede_link"] = "supersede_link"
    effective_at: datetime | None = None


class GraphCounts(AnswerPart):
    """The contents of the graph when the sweep began."""

    memories: int = 0
    past_versions: int = 0
    traces: int = 0
    past_traces: int = 0
    links: int = 0
    past_links: int = 0


class Finding(AnswerPart):
    """A finding of a sweep, and the task that repairs it; None when a person must decide."""

    kind: Literal[
        "link_invalid",
        "memory_invalid",
        "overlap",
        "embedding_missing",
        "embedding_stale",
        "passages_missing",
        "passages_stray",
        "closed_end",
        "duplicate",
        "junk",
        "essay_emotion",
        "unreadable",
        "unset_default",
    ]
    severity: Literal["error", "warning", "info"]
    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    id: str
    message: str
    repair: ApplyCommand | ReEmbed | RetractLink | ReviseLink | CloseRecord | None = None


class SweepReport(InGraph, AnswerPart):
    """The state of one graph.

    `findings_by_kind` counts all findings, `findings` lists the first of each kind. `report` is the quality report
    of 003 over all links: its counts and ids are those of links. `important_missing` counts the links that lack
    each IMPORTANT field. Changes made during the sweep may or may not be seen.
    """

    level: Level
    collective: str | None = None
    """The id of the collective that holds it; null for the default one and in N1, N3."""
    citizen_id: str | None = None
    counts: GraphCounts = Field(default_factory=lambda: GraphCounts())
    findings_by_kind: dict[
        Literal[
            "link_invalid",
            "memory_invalid",
            "overlap",
            "embedding_missing",
            "embedding_stale",
            "passages_missing",
            "passages_stray",
            "closed_end",
            "duplicate",
            "junk",
            "essay_emotion",
            "unreadable",
            "unset_default",
        ],
        int,
    ] = Field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    report: MetadataValidationReport = Field(default_factory=lambda: MetadataValidationReport())
    important_missing: dict[str, int] = Field(default_factory=dict)
    pages: int = 0
    scanned_nodes: int = 0
    scanned_links: int = 0
    seconds: float = 0.0


class SweepAnswer(AnswerPart):
    """One report per graph. `next`: where the next batch begins, None after the last.

    `notes`: why the summary of a graph was not kept.
    """

    reports: tuple[SweepReport, ...]
    next: str | None = None
    notes: tuple[str, ...] = ()


class SweepRequest(GraphsRequest):
    """The graphs to check. Without `levels`: N2, N3, and N1 when a citizen is named.

    `findings_per_kind` limits the findings of each kind that are listed; all are counted. With `limit` the answer
    covers at most that many memories; its `next` is the `after` of the next batch. A batch checks its memories,
    the links that begin at them, and duplicates among them; duplicates in the whole graph, and memories by the
    links that end at them, are found only without a limit.
    """

    findings_per_kind: int = 100
    limit: int | None = None
    after: str | None = None


class TagWalk(Plural, Filtered, AsksGraphs):
    """A question, and how many characters the answer may fill: 70 % of them direct hits (001).

    A memory counts the characters of its text and of its speaker, or else its name. `as_of_time` sets both time
    axes, `known_at` the transaction axis alone.
    """

    citizen_id: str
    query_text: str
    max_chars: int = 8000
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    query_levels: tuple[Level, ...] = (
        Level.N1,
        Level.N2,
        Level.N3,
    )


class Undoing(ChangeCommand):
    """The last change is reverted, if it is the one that is named."""

    command: str
    undoes: str | None = None
    undoes_source: Source | None = None
    undoes_key: str | None = None


class Undo(Undoing):
    """Revert the last change of a memory by new records; the mistake stays visible in the past.

    `undoes` names the command that must be the last one; by default any is reverted. With `undoes_source` or
    `undoes_key` a change of another source, or made with another key, is not undone. An undo can be undone.
    """

    command: Literal["undo"] = "undo"
    id: str


class UndoLink(Undoing):
    """Revert the last change of a link by new records; `undoes`, `undoes_source`, `undoes_key` as for a memory."""

    command: Literal["undo_link"] = "undo_link"
    id: str


class Unrelate(Retracting):
    """The link does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`.

    Without `valid_to` it ends for good. With none of the three, the record that holds now never held. Where none
    holds now, it is the last one before, else the first one after, and the receipt says so.
    """

    command: Literal["unrelate"] = "unrelate"
    id: str


class ValidationResult(AnswerPart):
    """Errors and warnings on metadata, and its completeness in [0, 1]."""

    valid: bool
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    metadata_completeness: float


class ChangeFilter(GraphRequest):
    """A graph; optionally only some commands, types, sources, or one author.

    `commands` are kinds of change, such as `remember`, `correct` and `ingest`; `types` are those of memories and
    of links.
    """

    commands: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    author: str | None = None


class WebhookRequest(ChangeFilter):
    """Send each change of a graph to `url` from now on; optionally only some, as in the feed."""

    url: str


class WebhooksAnswer(AnswerPart):
    """The webhooks of a graph, the oldest first."""

    webhooks: tuple[Webhook, ...] = ()


class AsOf(RequestPart):
    """`as_of_time` sets both time axes, `known_at` the transaction axis alone; without either it is now."""

    as_of_time: datetime | None = None
    known_at: datetime | None = None


class IdentityPage(AsOf):
    """A page of the entities of an identity at a moment; `limit` counts entities."""

    limit: int = 10
    cursor: str | None = None
    """The `next` of the previous page."""


class WhoIs(IdentityPage):
    """A question about the identity of a citizen."""

    citizen_id: str


class WriteContext(RequestPart):
    """An episode of the citizen with all that it left behind, written as a whole or not at all.

    `description` says what happened, `action` in a few words what the citizen did: it becomes the memory's name.
    `emotion` is the name of a feeling and `intensity` its strength. `result` is what came of it: positive,
    negative, complex, or a word of your own. `certainty`: how sure the citizen is that it was so.
    `outcome_of` is the id of a kept prediction: `result` and `emotion` are what came of it.
    The same words within an hour of another context are that context, unless `restate` is set.
    """

    citizen_id: str
    command_id: str | None = None
    id: str | None = None
    description: str
    action: str | None = None
    nodes: tuple[GivenNode, ...] = ()
    edges: tuple[GivenEdge, ...] = ()
    emotion: str | None = None
    intensity: float | None = None
    result: str | None = None
    rule: str | None = None
    severity: Literal["block", "warn", "note"] | None = None
    goal: str | None = None
    certainty: float | None = None
    importance: float | None = None
    abstraction: Literal["L0", "L1", "L2", "L3"] = "L0"
    tags: tuple[str, ...] = ()
    outcome_of: str | None = None
    agent_log: tuple[AgentNote, ...] = ()
    valid_at: datetime | None = None
    source: Source = Source.CITIZEN
    restate: bool = False


def count_recurring(dissonances: Iterable[TemporalDissonance]) -> list[RecurringCorrection]:
    """How many beliefs each correction pattern corrected: the highest count first, equal counts by id.

    Repeated dissonances show systematic errors (003, component 2). Changes without a pattern, and those of the
    world, are left out.
    """
    corrected: defaultdict[str, list[str]] = defaultdict(list)
    for dissonance in dissonances:
        if dissonance.correction_pattern_id and dissonance.dissonance_type == "discovered_false":
            corrected[dissonance.correction_pattern_id].append(dissonance.node_id)
    recurring = [
        RecurringCorrection(correction_pattern_id=pattern, count=len(ids), node_ids=tuple(dict.fromkeys(ids)))
        for pattern, ids in corrected.items()
    ]
    return sorted(recurring, key=lambda correction: (-correction.count, correction.correction_pattern_id))


def count_again(learned: LearningMoments) -> LearningMoments:
    """With each correction pattern counted over all its changes, as when several pages were joined."""
    return learned.model_copy(update={"recurring": tuple(count_recurring(learned.dissonances))})


def as_stream(sent: ConsciousnessStream | ReferencedStream) -> ConsciousnessStream:
    """The usual stream, whichever form was sent."""
    return sent.expanded() if isinstance(sent, ReferencedStream) else sent


def expand_intended(sent: SentIntended) -> Intended:
    """The usual form of what was sent."""
    stream = None if sent.stream is None else as_stream(sent.stream)
    return Intended(citizen_id=sent.citizen_id, appetite=sent.appetite, decision=sent.decision, stream=stream)


def stream_of(answer: StreamAnswer) -> ConsciousnessStream:
    """The usual stream of an answer."""
    return as_stream(answer.root)
