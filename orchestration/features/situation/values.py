"""The situation of a citizen at the beginning of a cycle (002, prepare)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from schemas.base import AtMost, CitizenId, Frozen, Name, Request, ShortText, Text, Whole
from schemas.collectives import AsksGraphs
from schemas.intention import ALL_LEVELS, Levels, TimeZone
from schemas.memory import Abstraction, Level
from schemas.mind.state import CitizenState, KeptWindow
from schemas.temporal import AskedMoment, KnownMoment, Moment
from schemas.wave_signal import ContextEdge, ContextNode, SentSignal

MAX_SITUATION_TOKENS: Final = 1000
"""The default of `max_tokens`: seven contexts and all else take about this many."""
MOST_STIMULI: Final = 32
StimulusKind = Literal["given", "pain", "drive", "sense", "message", "due"]
ChangeKind = Literal["new", "corrected", "closed", "resolved"]
CHANGE_KINDS: Final[tuple[ChangeKind, ...]] = ("new", "corrected", "closed", "resolved")


class GivenStimulus(Request):
    """What reached the citizen from outside. A text alone stands for one without a speaker."""

    text: Annotated[Text, Field(min_length=1)]
    speaker: Name | None = None

    @model_validator(mode="before")
    @classmethod
    def _wrap_plain_text(cls, raw: Any) -> Any:
        return {"text": raw} if isinstance(raw, str) else raw


class SituationRequest(AsksGraphs):
    """What of the situation is given; all else is read from the state and the memories.

    `window` and `focus` stand for the kept ones. `since` (default: the end of the last cycle): from when on
    changes and messages are told. `time_zone`: where planned days begin. `as_of_time` sets both time axes,
    `known_at` the transaction axis alone.
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"stimuli": ["Felix asks whether we are still on"]}]}
    )

    stimuli: Annotated[tuple[GivenStimulus, ...], Field(fail_fast=True), AtMost(MOST_STIMULI)] = ()
    window: KeptWindow | None = None
    focus: ShortText | None = None
    since: Moment | None = None
    query_levels: Levels = ALL_LEVELS
    time_zone: TimeZone = "UTC"
    max_tokens: Annotated[
        Whole, Field(ge=1, le=100_000, description="The most tokens of `text`, which is never longer.")
    ] = MAX_SITUATION_TOKENS
    as_of_time: AskedMoment | None = None
    known_at: KnownMoment | None = None


class Stimulus(Frozen):
    """What there is to answer to: `strength` in [0, 1], and `reason`, why it is one.

    A pain, a drive or a sense is that of the state; a message became known after the last cycle; what is due is
    planned by a memory.
    """

    kind: StimulusKind
    text: str
    strength: float
    reason: str
    memory_id: str | None = None
    level: Level | None = None
    speaker: str | None = None
    at: datetime | None = None


class Shown(Frozen):
    """An item of the window of the last cycle; `text` is null where its memory is not there any more."""

    memory_id: str | None = None
    text: str | None = None
    shown_at: datetime | None = None


class Context(Frozen):
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
    abstraction: Abstraction | None = None
    score: float


class ActiveRule(Frozen):
    """A rule and the memories that have it: those of the working memory, or the citizen's own."""

    rule: str
    memory_ids: tuple[str, ...]


class Change(Frozen):
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


class Changes(Frozen):
    """What changed since the last cycle, the latest first, at most ten of each kind; `more`: how many others.

    A memory stands under one kind: resolved, else closed, else corrected, else new.
    """

    new: tuple[Change, ...] = ()
    corrected: tuple[Change, ...] = ()
    closed: tuple[Change, ...] = ()
    resolved: tuple[Change, ...] = ()
    more: dict[ChangeKind, int] = Field(default_factory=dict)


class Situation(Frozen):
    """All that an agent of a cycle begins with, at `at` (002, prepare).

    `since`: from when on changes are told, null where no cycle has ended yet. `contexts`: at most seven memories
    that resonate with window, stimuli and focus, the strongest first, at most two of an emotion. `rules`: theirs,
    then the citizen's own that fit the stimuli or the focus, each once. `text` says the same for a prompt, in
    `tokens` tokens; `left_out` lines had no room.
    """

    citizen_id: CitizenId
    at: datetime
    since: datetime | None = None
    state: CitizenState
    stimuli: tuple[Stimulus, ...] = ()
    window: tuple[Shown, ...] = ()
    focus: str | None = None
    signal: SentSignal | None = None
    contexts: tuple[Context, ...] = ()
    rules: tuple[ActiveRule, ...] = ()
    changes: Changes = Changes()
    text: str
    tokens: int
    left_out: int = 0
    notes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
