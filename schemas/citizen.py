"""The state, identity and learning moments of a citizen, and its feedback on answers."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Emotions,
    Frozen,
    Identifier,
    Name,
    Request,
    ShortText,
    Unit,
    rewrite_map_schema,
)
from schemas.intention import ALL_LEVELS, Levels, QueryText
from schemas.memory import Level
from schemas.paging import Cursor, Paged
from schemas.stream_parts import RecurringCorrection, TemporalDissonance
from schemas.temporal import KnownMoment, Moment
from schemas.wave_signal import CHANNELS, Channel

Factor = Annotated[float, Field(strict=True, ge=0.0, le=100.0, allow_inf_nan=False)]


class Drive(Request):
    """A drive of a citizen: its satisfaction, its nodes, and its effect on channels.

    Below a satisfaction of 0.3 its nodes are added to every signal that is built (002), and `bias` multiplies the
    weights of channels (000).
    """

    satisfaction: Unit = 1.0
    nodes: Annotated[tuple[Name, ...], AtMost(32)] = ()
    bias: Annotated[dict[Channel, Factor], AtMost(len(CHANNELS))] = Field(default_factory=dict)


Drives = Annotated[dict[Name, Drive], AtMost(64), Field(json_schema_extra=rewrite_map_schema)]


class Felt(Frozen):
    """The content of a state. The defaults are the state of a citizen that has none."""

    energy: float = 0.5
    emotion_vector: dict[str, float] = Field(default_factory=dict)
    goal: str | None = None
    drives: dict[str, Drive] = Field(default_factory=dict)
    last_stream_id: str | None = None


class StateSource(Frozen):
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
    """

    citizen_id: CitizenId
    baseline: float | None = None
    valid_at: datetime | None = None
    updated_at: datetime | None = None
    derived: bool = False
    sources: tuple[StateSource, ...] = ()


class CitizenPage(Frozen):
    """Ids of citizens of whom something is stored, in their order; `next` is the cursor of the next page."""

    citizens: tuple[str, ...]
    next: str | None = None


class StateRecord(Felt):
    """One record of a state, as it was written, with its valid time and its transaction time; null: no end.

    `feedback_at`: when the feedback of a stream set the energy, which has been returning to the ordinary one since
    then; null where the citizen set it. `baseline`: what the citizen had set before that feedback.
    """

    version: int
    baseline: Unit | None = None
    feedback_at: datetime | None = None
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None


class StateHistory(Frozen):
    """Records of a state in the order they became known; `next` is the cursor of the next page."""

    citizen_id: CitizenId
    records: tuple[StateRecord, ...]
    next: str | None = None


class EnergyPoint(Frozen):
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


class EnergySeries(Frozen):
    """The energy of a citizen `now`, its `ordinary` one, and a page of the records that set it.

    Between two records the energy returns from what feedback made of it to the ordinary one, half the way in 12
    hours.
    """

    citizen_id: CitizenId
    now: float
    ordinary: float
    points: tuple[EnergyPoint, ...]
    next: str | None = None


class StateChange(Request):
    """Fields to set; others stay, null clears a field. `drives` replaces all drives.

    The energy that is set is the ordinary one from then on: it stays until a stream with feedback changes it, and
    returns to it afterwards.

    It is valid from `valid_at` (default: now) on, and replaces what was stored for that time.
    """

    energy: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: ShortText | None = None
    drives: Drives | None = None
    valid_at: Moment | None = None


class StateAsOf(Request):
    """`as_of_time` sets both time axes, `known_at` the transaction axis alone."""

    as_of_time: Moment | None = None
    known_at: KnownMoment | None = None


class LearningPage(Paged):
    """A page of the learning moments, as known at `known_at`."""

    known_at: KnownMoment | None = None


class LearningMoments(Frozen):
    """The beliefs of a citizen that changed, oldest first.

    `recurring` counts each correction pattern among them, `next` is the cursor of the next page.
    """

    citizen_id: CitizenId
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
    next: str | None = None


class AsOf(Request):
    """`as_of_time` sets both time axes, `known_at` the transaction axis alone; `limit` counts entities."""

    as_of_time: Moment | None = None
    known_at: KnownMoment | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    cursor: Cursor = None


class WhoIs(AsOf):
    """A question about the identity of a citizen."""

    citizen_id: CitizenId


class AttachedRule(Frozen):
    """A rule, and how many memories of the entity have it."""

    rule: str
    memories: int


class IdentityEntity(Frozen):
    """An entity, and how many memories point to it (`appearances`). `emotions`: how many have each."""

    node_id: str
    name: str
    node_type: str
    appearances: int
    emotions: dict[str, int] = Field(default_factory=dict)
    rules: tuple[AttachedRule, ...] = ()


class Told(Frozen):
    """What a citizen said of itself, in its own words, and the memories that say it."""

    value: str
    memory_ids: tuple[str, ...]


class IdentityPerson(Frozen):
    """A person that the citizen's own memories mention. `relation`: what it is to the citizen: "sister"."""

    node_id: str
    name: str
    relation: str | None = None
    appearances: int


class Identity(Frozen):
    """Who a citizen is at a moment: what it says of itself, its people, and what its memories point to (000).

    `name` and `role` are the latest that it told of itself. `people`: those it mentions most, first. `entities`:
    the most connected entities, most first; the emotions of the first are the personality, its rules the values.
    `name`, `role` and `people` come with the first page. `state` is that of the same moment, `next` the cursor of
    the next page.
    """

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    name: Told | None = None
    role: Told | None = None
    people: tuple[IdentityPerson, ...] = ()
    entities: tuple[IdentityEntity, ...] = ()
    state: CitizenState
    next: str | None = None
    notes: tuple[str, ...] = ()


def _each_once(ids: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


MemoryIds = Annotated[tuple[Identifier, ...], AtMost(50), AfterValidator(_each_once)]
"""Ids of memories, without repeats, in the order given."""


STEPS: Final = (".", "..")
"""Clients shorten a path with one of these as a part: `DELETE …/feedback/..` would reach the citizen."""


class Feedback(Request):
    """Which memories answered a question (`used`), and which did not (`wrong`): at least one of either.

    The question is that of `retrieve`, with what it was asked with. Sent again with the same `feedback_id` it
    counts once.
    """

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["used"]}, {"required": ["wrong"]}]})

    query_text: QueryText
    used: MemoryIds = ()
    wrong: MemoryIds = ()
    query_levels: Levels = ALL_LEVELS
    as_of_time: Moment | None = None
    known_at: KnownMoment | None = None
    feedback_id: Annotated[Identifier, Field(json_schema_extra={"not": {"enum": [*STEPS]}})] | None = None

    @model_validator(mode="after")
    def _says_something_once(self) -> Self:
        if not self.used and not self.wrong:
            raise ValueError("used and wrong are both empty; name at least one memory")
        if self.feedback_id in STEPS:
            raise ValueError(
                f"feedback_id cannot be {self.feedback_id}, a step in a path; leave it out or name another"
            )
        both = [name for name in self.used if name in self.wrong]
        if both:
            raise ValueError(f"{', '.join(both)} cannot be both used and wrong")
        return self

    def asked_with(self) -> dict[str, Any]:
        """The question with what it was asked with, as values of JSON."""
        fields = {"query_text", "query_levels", "as_of_time", "known_at"}
        return self.model_dump(mode="json", include=fields, exclude_none=True)


class FeedbackRecord(Frozen):
    """A feedback as it was told, at `told_at`. `query_levels`, `as_of_time`, `known_at`: what was asked with."""

    feedback_id: str
    told_at: datetime
    query_text: str
    query_levels: tuple[Level, ...]
    as_of_time: datetime | None = None
    known_at: datetime | None = None
    used: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


class LearnedFactors(Frozen):
    """What a citizen's feedback does to its questions: `told` is how many feedbacks stand.

    `factors`: by family of channels what their weights are multiplied by, in [0.5, 2]; empty without feedback.
    """

    told: int = 0
    factors: dict[str, float] = Field(default_factory=dict)


class FeedbackPage(Frozen):
    """Feedback of a citizen, oldest first, and what all of it does now; `next` is the cursor of the next page."""

    citizen_id: CitizenId
    feedback: tuple[FeedbackRecord, ...]
    learned: LearnedFactors
    next: str | None = None


class FeedbackTakenBack(Frozen):
    """How many feedbacks were taken back, and what the others do now."""

    citizen_id: CitizenId
    taken_back: int
    learned: LearnedFactors
