"""Commands on memories, and the union of all commands: a write is a value, applied once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal, get_args

from pydantic import ConfigDict, Discriminator, Field, TypeAdapter, model_validator

from schemas.base import Emotions, Identifier, JsonMap, LongText, Name, ShortText, Text, Unit
from schemas.commands.base import (
    ChangeCommand,
    Command,
    Correcting,
    Resolving,
    Retracting,
    Revising,
    Subject,
    Tags,
    Undoing,
    check_period,
)
from schemas.commands.links import CorrectLink, Relate, ResolveLink, SupersedeLink, UndoLink, Unrelate
from schemas.memory import Abstraction, ResolutionState, Severity, Source, Step
from schemas.temporal import Moment


class Remember(Command):
    """A new memory. Fields left out are absent; energy and confidence default to one half (003, task 4).

    A text that repeats a retrieved memory word for word is recognised and not stored again, unless `restate` is
    set.
    """

    keeps_unknown: ClassVar[bool] = True
    command: Literal["remember"] = "remember"
    id: Identifier | None = None
    node_type: Name = "Memory"
    name: Name
    description: LongText = ""
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
    severity: Severity | None = None
    abstraction: Abstraction | None = None
    step: Step | None = None
    correction_pattern_id: Identifier | None = None
    discovery_energy: Unit | None = None
    source: Source = Source.CITIZEN
    episode_id: Identifier | None = None
    speaker: ShortText | None = None
    about: Annotated[
        Tags, Field(description="Names of people, places or projects that it is about: it is linked with each.")
    ] = ()
    restate: bool = False
    extra: JsonMap = Field(default_factory=dict)

    @model_validator(mode="after")
    def _holds_for_some_time(self) -> Remember:
        check_period(self.valid_at, self.invalid_at)
        return self


class Revision(Revising):
    """New content for a memory: only the fields given change, null clears a field that may be absent.

    A given `extra` replaces the whole former `extra`.
    """

    _never_absent: ClassVar[frozenset[str]] = frozenset(
        ("node_type", "name", "description", "energy", "confidence")
    )
    id: Identifier
    node_type: Name | None = None
    name: Name | None = None
    description: LongText | None = None
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
    severity: Severity | None = None
    abstraction: Abstraction | None = None
    step: Step | None = None
    correction_pattern_id: Identifier | None = None
    discovery_energy: Unit | None = None
    extra: JsonMap | None = None


class Supersede(Revision):
    """The world changed (`reality_changed`): the old content ends at `effective_at`, the new begins there.

    `effective_at` (default: now) may lie in the past or in the future, but only where the memory has a record. The
    new content holds from there to `valid_to`, by default over every later record to the end of what is known.
    """

    command: Literal["supersede"] = "supersede"
    effective_at: Moment | None = None


class Correct(Correcting, Revision):
    """We were wrong (`discovered_false`): the corrected content holds over the same valid time.

    This is the valid time of the record that holds now, or the given stretch. Where none holds now, it is the last
    one before, else the first one after, and the receipt says so. `valid_at` and `invalid_at` correct the valid
    time itself; null leaves the end open; over another record they are refused.
    """

    command: Literal["correct"] = "correct"
    id: Identifier


class Retract(Retracting):
    """The memory does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`.

    Without `valid_to` it ends for good. With none of the three, the record that holds now never held. Where none
    holds now, it is the last one before, else the first one after, and the receipt says so.
    """

    command: Literal["retract"] = "retract"
    id: Identifier


class Resolve(Resolving):
    """Set another resolution state; the other content stays.

    It holds from `effective_at` (default: now) to `valid_to`, by default over every later record to the end of
    what is known.
    """

    command: Literal["resolve"] = "resolve"
    id: Identifier


class Undo(Undoing):
    """Revert the last change of a memory by new records; the mistake stays visible in the past.

    `undoes` names the command that must be the last one; by default any is reverted. With `undoes_source` or
    `undoes_key` a change of another source, or made with another key, is not undone. An undo can be undone.
    """

    command: Literal["undo"] = "undo"
    id: Identifier


type _Any = (
    Remember | Supersede | Correct | Retract | Resolve | Undo
    | Relate | SupersedeLink | CorrectLink | Unrelate | ResolveLink | UndoLink
)  # fmt: skip
AnyCommand = Annotated[_Any, Discriminator("command")]
ANY_COMMAND: TypeAdapter[_Any] = TypeAdapter(AnyCommand, config=ConfigDict(defer_build=True))
KINDS: Final[Mapping[str, type[Command]]] = {
    kind.model_fields["command"].default: kind for kind in get_args(_Any.__value__)
}
"""Every kind of command by its `command` field."""
CHANGES: Final[Mapping[tuple[str, Subject], type[ChangeCommand]]] = {
    ("supersede", "memory"): Supersede,
    ("supersede", "link"): SupersedeLink,
    ("correct", "memory"): Correct,
    ("correct", "link"): CorrectLink,
    ("retract", "memory"): Retract,
    ("retract", "link"): Unrelate,
    ("resolve", "memory"): Resolve,
    ("resolve", "link"): ResolveLink,
    ("undo", "memory"): Undo,
    ("undo", "link"): UndoLink,
}
"""Every kind of change by what it does, and to what."""


def subject_of(name: str) -> Subject:
    """What a command of this name writes; a stored name may be of no command, such as `ingest`: then a memory."""
    kind = KINDS.get(name)
    return "memory" if kind is None else kind.subject
