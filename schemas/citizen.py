"""A citizen's own state: what it feels and wants, since when, and the last stream that it was given."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from schemas.base import AtMost, CitizenId, Emotions, Frozen, Name, Request, ShortText, Unit, rewrite_map_schema
from schemas.paging import Cursor, Paged
from schemas.stream_parts import RecurringCorrection, TemporalDissonance
from schemas.temporal import Moment
from schemas.wave_signal import CHANNELS, Channel

Factor = Annotated[float, Field(strict=True, ge=0.0, le=100.0, allow_inf_nan=False)]


class Drive(Request):
    """A drive of a citizen: how satisfied it is, what it is about, and by how much it moves which channel.

    Below a satisfaction of 0.3 its nodes join every signal that is built (002), and `bias` multiplies the
    weights of channels (000).
    """

    satisfaction: Unit = 1.0
    nodes: Annotated[tuple[Name, ...], AtMost(32)] = ()
    bias: Annotated[dict[Channel, Factor], AtMost(len(CHANNELS))] = Field(default_factory=dict)


Drives = Annotated[dict[Name, Drive], AtMost(64), Field(json_schema_extra=rewrite_map_schema)]


class Felt(Frozen):
    """What a state says. A citizen that never had one has energy one half and no emotions."""

    energy: float = 0.5
    emotion_vector: dict[str, float] = Field(default_factory=dict)
    goal: str | None = None
    drives: dict[str, Drive] = Field(default_factory=dict)
    last_stream_id: str | None = None


class CitizenState(Felt):
    """The state of one moment: it holds from `valid_at` on, and is known since `updated_at`.

    Both are null where none was set: the default state is told then.
    """

    citizen_id: CitizenId
    valid_at: datetime | None = None
    updated_at: datetime | None = None


class StateRecord(Felt):
    """One record of a state: over which time it held, and over which time that was known. Null: without end."""

    version: int
    valid_at: datetime
    invalid_at: datetime | None = None
    created_at: datetime
    expired_at: datetime | None = None


class StateHistory(Frozen):
    """The records of a state, in the order in which they became known; `next` is the cursor of the page behind."""

    citizen_id: CitizenId
    records: tuple[StateRecord, ...]
    next: str | None = None


class StateChange(Request):
    """What is set of a state; what is left out stays, a null clears it. `drives` replaces all of them.

    It holds from `valid_at` on, now unless that is named, whatever was told before of the time since.
    """

    energy: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: ShortText | None = None
    drives: Drives | None = None
    valid_at: Moment | None = None


class StateAsOf(Request):
    """As of when: `as_of_time` asks on both axes, `known_at` moves what was known apart."""

    as_of_time: Moment | None = None
    known_at: Moment | None = None


class OfLearning(Paged):
    """Which page of the learning moments, and as they were known at `known_at`: without one all that are known."""

    known_at: Moment | None = None


class LearningMoments(Frozen):
    """The beliefs of a citizen that changed, oldest first.

    `recurring` says how often each correction pattern recurs among them, `next` is the cursor of the page behind.
    """

    citizen_id: CitizenId
    dissonances: tuple[TemporalDissonance, ...] = ()
    recurring: tuple[RecurringCorrection, ...] = ()
    next: str | None = None


class AsOf(Request):
    """As of when, and of how many: `as_of_time` asks on both axes, `known_at` moves what was known apart."""

    as_of_time: Moment | None = None
    known_at: Moment | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    cursor: Cursor = None


class WhoIs(AsOf):
    """Whose identity is asked for."""

    citizen_id: CitizenId


class AttachedRule(Frozen):
    """A rule, and in how many of the entity's memories it stands."""

    rule: str
    memories: int


class IdentityEntity(Frozen):
    """An entity by the memories that point to it. `emotions`: in how many of them each is felt, most first."""

    node_id: str
    name: str
    node_type: str
    appearances: int
    emotions: dict[str, int] = Field(default_factory=dict)
    rules: tuple[AttachedRule, ...] = ()


class Identity(Frozen):
    """The most connected entities, most first: the first is the self, its emotions the personality, its rules
    the values (000). Empty when nothing was lived yet at that moment. `state` is that of the same moment,
    `next` the cursor of the page behind.
    """

    citizen_id: str
    as_of_time: datetime
    known_at: datetime
    entities: tuple[IdentityEntity, ...] = ()
    state: CitizenState
    next: str | None = None
    notes: tuple[str, ...] = ()
