"""Commands: a write is a value. Each is applied once, however often it is sent (DESIGN §4)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, TypeAdapter, model_validator

from schemas.base import CitizenId, Emotions, Frozen, Identifier, JsonMap, Name, Request, ShortText, Text, Unit
from schemas.memory import Abstraction, InvalidationReason, Level, ResolutionState, Source
from schemas.temporal import Moment

Tags = Annotated[tuple[ShortText, ...], Field(max_length=64)]
RelationType = Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9_]{0,63}$")]


class Command(Request):
    """What all commands share.

    `command_id` is made by the client so that a repeated send is recognised, per memory or link written; left
    out, each send counts as a new one. `citizen_id` names the N1 graph and is required there.
    """

    command_id: Identifier | None = None
    level: Level = Level.N1
    citizen_id: CitizenId | None = None

    @model_validator(mode="after")
    def _personal_needs_a_citizen(self) -> Command:
        if self.level is Level.N1 and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        return self


def _keep_unknown(data: Any, known: set[str]) -> Any:
    """Move fields that we do not know into `extra`, as they came (003, 6: unknown fields are allowed)."""
    if not isinstance(data, dict) or not isinstance(data.get("extra", {}), dict):
        return data
    unknown = {key: value for key, value in data.items() if key not in known}
    if not unknown:
        return data
    rest = {key: value for key, value in data.items() if key in known}
    return {**rest, "extra": {**unknown, **data.get("extra", {})}}


def _check_period(start: datetime | None, end: datetime | None) -> None:
    if start is not None and end is not None and end <= start:
        raise ValueError("invalid_at must lie after valid_at: what ends before it begins never holds")


class Remember(Command):
    """A new memory. What is left out is absent; energy and confidence default to one half (003, task 4)."""

    command: Literal["remember"] = "remember"
    id: Identifier | None = None
    node_type: Name = "Memory"
    name: Name
    description: Text = ""
    valid_at: Moment | None = None
    invalid_at: Moment | None = None
    energy: Unit = 0.5
    confidence: Unit = 0.5
    emotion_vector: Emotions | None = None
    felt_quality: Text | None = None
    body_sensation: Text | None = None
    goal: ShortText | None = None
    resolution_state: ResolutionState | None = None
    tags: Tags = ()
    buckets: Tags = ()
    aliases: Tags = ()
    importance: Unit | None = None
    intensity: Unit | None = None
    result: ShortText | None = None
    rule: Text | None = None
    abstraction: Abstraction | None = None
    correction_pattern_id: Identifier | None = None
    discovery_energy: Unit | None = None
    source: Source = Source.CITIZEN
    episode_id: Identifier | None = None
    speaker: ShortText | None = None
    extra: JsonMap = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _unknown_fields_are_kept(cls, data: Any) -> Any:
        return _keep_unknown(data, set(cls.model_fields))

    @model_validator(mode="after")
    def _holds_for_some_time(self) -> Remember:
        _check_period(self.valid_at, self.invalid_at)
        return self


class Relate(Command):
    """A new link. The REQUIRED tier of 003 component 6 has no defaults but those that 003 names."""

    command: Literal["relate"] = "relate"
    id: Identifier | None = Field(
        default=None, description="Left out: `source|TYPE|target`, so that the same link is made once."
    )
    source_id: Identifier
    target_id: Identifier
    relation_type: RelationType
    energy: Unit
    confidence: Unit
    emotion_vector: Emotions
    goal: Name
    mindstate: Name
    energy_transfer_coefficient: Unit = 0.5
    resolution_state: ResolutionState = ResolutionState.IN_PROGRESS
    formation_trigger: Text | None = None
    felt_quality: Text | None = None
    emotion_description: Text | None = None
    body_sensation: Text | None = None
    spatial_context: Text | None = None
    sensory_details: JsonMap | None = None
    valid_at: Moment | None = None
    invalid_at: Moment | None = None
    source: Source = Source.CITIZEN
    episode_id: Identifier | None = None
    extra: JsonMap = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _unknown_fields_are_kept(cls, data: Any) -> Any:
        return _keep_unknown(data, set(cls.model_fields))

    @model_validator(mode="after")
    def _holds_for_some_time(self) -> Relate:
        _check_period(self.valid_at, self.invalid_at)
        return self


_NEVER_ABSENT = frozenset(("node_type", "name", "description", "energy", "confidence"))


class Revision(Command):
    """New content for a memory: only the fields given change, null clears a field that may be absent.

    `expected_version` guards against a lost update.
    """

    id: Identifier
    expected_version: Annotated[int, Field(ge=1)] | None = None
    node_type: Name | None = None
    name: Name | None = None
    description: Text | None = None
    energy: Unit | None = None
    confidence: Unit | None = None
    emotion_vector: Emotions | None = None
    felt_quality: Text | None = None
    body_sensation: Text | None = None
    goal: ShortText | None = None
    resolution_state: ResolutionState | None = None
    tags: Tags | None = None
    buckets: Tags | None = None
    aliases: Tags | None = None
    importance: Unit | None = None
    intensity: Unit | None = None
    result: ShortText | None = None
    rule: Text | None = None
    abstraction: Abstraction | None = None
    correction_pattern_id: Identifier | None = None
    discovery_energy: Unit | None = None
    source: Source = Source.CITIZEN

    @model_validator(mode="after")
    def _what_every_memory_has_stays(self) -> Revision:
        cleared = sorted(n for n in _NEVER_ABSENT & self.model_fields_set if getattr(self, n) is None)
        if cleared:
            raise ValueError(f"{', '.join(cleared)} cannot be null: every memory has it; leave it out to keep it")
        return self


class Supersede(Revision):
    """The world changed (`reality_changed`): the old content ends at `effective_at`, the new begins there."""

    command: Literal["supersede"] = "supersede"
    effective_at: Moment | None = None


class Correct(Revision):
    """We were wrong (`discovered_false`): the corrected content holds over the same valid time."""

    command: Literal["correct"] = "correct"


class Retract(Command):
    """A memory no longer holds from `effective_at` on; without one it never did."""

    command: Literal["retract"] = "retract"
    id: Identifier
    expected_version: Annotated[int, Field(ge=1)] | None = None
    effective_at: Moment | None = None
    reason: InvalidationReason = "discovered_false"


AnyCommand = Annotated[Remember | Relate | Supersede | Correct | Retract, Discriminator("command")]
ANY_COMMAND: TypeAdapter[Remember | Relate | Supersede | Correct | Retract] = TypeAdapter(AnyCommand)


class WriteReceipt(Frozen):
    """What became of a command.

    `stored`: it is on disk. `refused`: nothing was changed, `faults` says why. `duplicate` is true when the
    same command had been applied before; the receipt is then that of the stored record.
    """

    command_id: str
    command: str
    status: Literal["stored", "refused"]
    id: str | None = None
    level: Level | None = None
    version: int | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    created_at: datetime | None = None
    duplicate: bool = False
    faults: tuple[str, ...] = ()
    problem: Literal["invalid-request", "not-found", "conflict", "forbidden"] | None = None
    warnings: tuple[str, ...] = ()
