"""Commands on memories, and the union of all commands: a write is a value, applied once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, get_args

from pydantic import Discriminator, Field, TypeAdapter, model_validator

from schemas.base import Emotions, Identifier, JsonMap, Name, ShortText, Text, Unit
from schemas.commands.base import (
    ChangeCommand,
    Command,
    StretchCommand,
    Tags,
    WriteReceipt,
    check_correction,
    check_not_cleared,
    check_period,
    check_stretch_start,
    move_unknown_to_extra,
)
from schemas.commands.links import CorrectLink, Relate, ResolveLink, SupersedeLink, UndoLink, Unrelate
from schemas.memory import Abstraction, InvalidationReason, ResolutionState, Source
from schemas.temporal import Moment

__all__ = [
    "ANY_COMMAND", "KINDS", "AnyCommand", "Command", "Correct", "CorrectLink", "Relate", "Remember", "Resolve",
    "ResolveLink", "Retract", "Revision", "Supersede", "SupersedeLink", "Tags", "Undo", "UndoLink", "Unrelate",
    "WriteReceipt",
]  # fmt: skip


class Remember(Command):
    """A new memory. What is left out is absent; energy and confidence default to one half (003, task 4).

    A text that was retrieved and comes back word for word is recognised, not stored again; with `restate` it is.
    """

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
    restate: bool = False
    extra: JsonMap = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _unknown_fields_are_kept(cls, data: Any) -> Any:
        return move_unknown_to_extra(data, set(cls.model_fields))

    @model_validator(mode="after")
    def _holds_for_some_time(self) -> Remember:
        check_period(self.valid_at, self.invalid_at)
        return self


_NEVER_ABSENT = frozenset(("node_type", "name", "description", "energy", "confidence"))


class Revision(StretchCommand):
    """New content for a memory: only the fields given change, null clears a field that may be absent.

    `extra` is one field: what is given takes the place of all of it.
    """

    id: Identifier
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
    extra: JsonMap | None = None

    @model_validator(mode="after")
    def _what_every_memory_has_stays(self) -> Revision:
        check_not_cleared(self, _NEVER_ABSENT, "memory")
        return self


class Supersede(Revision):
    """The world changed (`reality_changed`): the old content ends at `effective_at`, the new begins there.

    `effective_at`, now if left out, may lie in the past or be to come, but where something is known of the memory.
    The new content holds from there to the end of what is known, over every record, or to `valid_to`.
    """

    command: Literal["supersede"] = "supersede"
    effective_at: Moment | None = None


class Correct(Revision):
    """We were wrong (`discovered_false`): the corrected content holds over the same valid time.

    That of the record which holds now, or the stretch that is named. `valid_at` and `invalid_at` correct the valid
    time itself; null leaves the end open.
    """

    command: Literal["correct"] = "correct"
    valid_at: Moment | None = None
    invalid_at: Moment | None = None

    @model_validator(mode="after")
    def _corrects_the_period_or_a_stretch(self) -> Correct:
        check_correction(self)
        return self


class Retract(StretchCommand):
    """A memory no longer holds from `effective_at` on, over every record; without one, the record that holds now
    never did. With `valid_to`, or `valid_from` and `valid_to`, it does not hold in that stretch.
    """

    command: Literal["retract"] = "retract"
    id: Identifier
    effective_at: Moment | None = None
    reason: InvalidationReason = "discovered_false"

    @model_validator(mode="after")
    def _the_stretch_begins(self) -> Retract:
        check_stretch_start(self)
        return self


class Resolve(StretchCommand):
    """Another resolution state with the same content, from `effective_at` (default: now) on, over every record to
    the end of what is known, or to `valid_to`.
    """

    command: Literal["resolve"] = "resolve"
    id: Identifier
    effective_at: Moment | None = None
    resolution_state: ResolutionState = ResolutionState.RESOLVED


class Undo(ChangeCommand):
    """Revert the last change of a memory by new records; the mistake stays visible in the past.

    `undoes` names the command of that change; left out, it is whichever was last. `undoes_source` and `undoes_key`
    guard it: a change of another source, or that came with another key, is not undone. An undo can be undone.
    """

    command: Literal["undo"] = "undo"
    id: Identifier
    undoes: Identifier | None = None
    undoes_source: Source | None = None
    undoes_key: ShortText | None = None


type _Any = (
    Remember | Supersede | Correct | Retract | Resolve | Undo
    | Relate | SupersedeLink | CorrectLink | Unrelate | ResolveLink | UndoLink
)  # fmt: skip
AnyCommand = Annotated[_Any, Discriminator("command")]
ANY_COMMAND: TypeAdapter[_Any] = TypeAdapter(AnyCommand)
KINDS: Final[Mapping[str, type[Command]]] = {
    kind.model_fields["command"].default: kind for kind in get_args(_Any.__value__)
}
"""Every kind of command by its `command` field."""
