"""Commands on memories and links, and erasures: a write is a value, applied once. And their receipts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self, get_args

from pydantic import AfterValidator, ConfigDict, Discriminator, Field, PrivateAttr, TypeAdapter, model_validator

from schemas.base import (
    AtMost,
    CitizenId,
    Emotions,
    Flag,
    Frozen,
    Identifier,
    JsonMap,
    LongText,
    Name,
    RelationType,
    Request,
    ShortText,
    Text,
    Unit,
    Whole,
    check_identifier,
)
from schemas.collectives import CollectiveId, GraphRequest
from schemas.errors import SubstrateError, refusal_error
from schemas.memory import (
    REQUIRED,
    Abstraction,
    Collective,
    InvalidationReason,
    Level,
    ResolutionState,
    Severity,
    SharedFrom,
    Source,
    Step,
)
from schemas.temporal import EndMoment, Instant, Moment

type Subject = Literal["memory", "link"]
Tags = Annotated[tuple[ShortText, ...], AtMost(64)]
ExpectedVersion = Annotated[Whole, Field(ge=1)]


class Writer(NamedTuple):
    """The sender of commands, set by the receiver: the id of the key, the citizen who writes into a shared level,
    and the highest source that may be claimed.

    `steward`: it may change shared records of every author, as the service itself may.
    `as_happened`: what it writes was known when it happened, as an administrator declares.
    """

    key_id: str | None = None
    author: str | None = None
    highest_source: Source = Source.SYSTEM
    as_happened: bool = False
    steward: bool = True

    @property
    def mark(self) -> bool | None:
        """The stored `known_as_happened` of its records."""
        return self.as_happened or None


NO_WRITER: Final = Writer()


class Quarantining(NamedTuple):
    """What a command of a quarantine says beside its fields.

    `since`: an undo takes back every change known from then on; without it, the last change.
    """

    since: Instant | None = None


class Command(GraphRequest):
    """The fields of all commands.

    `command_id` is chosen by the client and unique in a graph: it identifies a repeated send, and the receipt can
    be read again by it. Without one, each send is a new command. `citizen_id` names the N1 graph and is required
    there; `collective` names a graph of N2 beside the default one. `subject`: what a command of this kind writes.
    """

    subject: ClassVar[Subject] = "memory"
    command_id: Identifier | None = None

    _writer: Writer = PrivateAttr(default_factory=lambda: NO_WRITER)
    _inferred: bool = PrivateAttr(default=False)
    _quarantining: Quarantining | None = PrivateAttr(default=None)
    _copy_of: SharedFrom | None = PrivateAttr(default=None)

    @property
    def writer(self) -> Writer:
        return self._writer

    def with_writer(self, writer: Writer) -> Self:
        return self if writer == self._writer else self._marked("_writer", writer)

    def _marked(self, name: str, value: Any) -> Self:
        """The same command with a value that is no field of it."""
        marked = self.model_copy()
        setattr(marked, name, value)
        return marked

    @property
    def inferred(self) -> bool:
        """True for a command that the service made from words or from other memories; no writer gave its values.

        A new link then takes feelings, energy and state from its ends, where these have any. What it takes is no
        part of what was sent, so a repeat of the command stays a repeat.
        """
        return self._inferred

    def as_inferred(self) -> Self:
        return self._marked("_inferred", value=True)

    @property
    def quarantining(self) -> Quarantining | None:
        """Set for a command of a quarantine: what it closes is closed as `quarantined`."""
        return self._quarantining

    def as_quarantining(self, since: Instant | None = None) -> Self:
        return self._marked("_quarantining", Quarantining(since))

    @property
    def copy_of(self) -> dict[str, Any] | None:
        """Set for a command that writes a copy: what it was shared from, in stored form."""
        return None if self._copy_of is None else self._copy_of.model_dump(mode="json", exclude_none=True)

    def as_copy_of(self, origin: SharedFrom) -> Self:
        return self._marked("_copy_of", origin)

    def with_source(self, source: Source) -> Self:
        """The same command with this source; unchanged if its kind has no source."""
        return self.model_copy(update={"source": source}) if "source" in type(self).model_fields else self

    def assuming(self, *names: str) -> Self:
        """The same command with these fields marked as unset: stored, but ignored when commands are compared."""
        assumed = self.model_copy()
        object.__setattr__(assumed, "__pydantic_fields_set__", self.model_fields_set - set(names))
        return assumed


def check_period(start: datetime | None, end: datetime | None) -> None:
    """Raises ValueError for a period that ends before it begins."""
    if start is not None and end is not None and end <= start:
        raise ValueError("invalid_at must lie after valid_at: what ends before it begins never holds")


class ChangeCommand(Command):
    """A change of a memory or a link, by its id.

    `expected_version` guards against a lost update: the change is refused when the record valid at the beginning
    of the stretch (else now) has another version. `source` is the source of the change; the rule of trust refuses
    one that weighs less than the source of the record.
    """

    id: str
    expected_version: ExpectedVersion | None = None
    source: Source = Source.CITIZEN


class StretchCommand(ChangeCommand):
    """A change of a stretch of valid time: `[valid_from, valid_to)`.

    Without `valid_from` it begins now; without `valid_to` it reaches to the end of what is known, and a gap on the
    way stays one. An empty stretch, or one that begins where nothing is known or ends beyond a gap, is refused.
    Each command defines what it changes when neither is given.
    """

    valid_from: Moment | None = None
    valid_to: EndMoment | None = None

    @model_validator(mode="after")
    def _check_stretch(self) -> Self:
        effective_at: datetime | None = getattr(self, "effective_at", None)
        if effective_at is not None and self.valid_from is not None:
            raise ValueError("effective_at and valid_from both say where the stretch begins: name one")
        start = self.valid_from if effective_at is None else effective_at
        if start is not None and self.valid_to is not None and self.valid_to <= start:
            raise ValueError("valid_to must lie after the beginning of the stretch: this one is empty")
        return self


_NO_CHANGE = frozenset(
    (
        "command", "command_id", "level", "citizen_id", "collective", "id", "expected_version", "source",
        "effective_at", "valid_from", "valid_to",
    )
)  # fmt: skip
"""Fields of a revision that say of what and when, and not what changes."""


def require_a_change(schema: dict[str, Any]) -> None:
    """Says in a JSON schema that a revision changes something."""
    schema["anyOf"] = [{"required": [name]} for name in schema["properties"] if name not in _NO_CHANGE]


class Revising(StretchCommand):
    """New values for fields of the `subject`; it is never without the fields of `_never_absent`."""

    model_config = ConfigDict(json_schema_extra=require_a_change)
    _never_absent: ClassVar[frozenset[str]]

    @model_validator(mode="after")
    def _changes_something_that_may_change(self) -> Self:
        if not self.model_fields_set - _NO_CHANGE:
            raise ValueError("nothing changes: name at least one field that changes")
        given = self._never_absent & self.model_fields_set
        cleared = sorted(name for name in given if getattr(self, name) is None)
        if cleared:
            names = ", ".join(cleared)
            raise ValueError(f"{names} cannot be null: every {self.subject} has it; leave it out to keep it")
        return self


class Retracting(StretchCommand):
    """Something no longer holds, or never held."""

    command: str
    effective_at: Moment | None = None
    reason: InvalidationReason = "discovered_false"


class Correcting(StretchCommand):
    """What is believed to have held is another than it was."""

    command: str
    valid_at: Moment | None = None
    invalid_at: Moment | None = None

    @model_validator(mode="after")
    def _corrects_the_period_or_a_stretch(self) -> Self:
        """Refuses a corrected valid time that is empty or comes with a stretch."""
        corrected = {"valid_at", "invalid_at"} & self.model_fields_set
        if not corrected:
            return self
        if not self.valid_from is self.valid_to is None:
            raise ValueError("valid_at and invalid_at correct a whole record: leave valid_from and valid_to out")
        if "valid_at" in corrected and self.valid_at is None:
            raise ValueError("valid_at cannot be null: every record has a beginning; leave it out to keep it")
        check_period(self.valid_at, self.invalid_at)
        return self


_CASCADE: Final = (
    "Do at once what follows: resolve the problem and its open links, and unblock what waited for it alone. One "
    "command, which an undo takes back as a whole."
)


class Resolving(StretchCommand):
    """Work gets another state."""

    command: str
    effective_at: Moment | None = None
    resolution_state: ResolutionState = ResolutionState.RESOLVED
    cascade: Flag = Field(default=False, description=_CASCADE)

    @model_validator(mode="after")
    def _check_cascade(self) -> Self:
        if self.cascade and self.resolution_state != ResolutionState.RESOLVED:
            raise ValueError("cascade goes with resolution_state resolved: nothing follows from another state")
        return self


class Undoing(ChangeCommand):
    """The last change is reverted, if it is the one that is named."""

    command: str
    undoes: Identifier | None = None
    undoes_source: Source | None = None
    undoes_key: ShortText | None = None


class Consequence(Frozen):
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


class WriteReceipt(Frozen):
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
    collective: Collective = None
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


WITH_COPIES: Final = "Erase the copies too that the citizen shared; else the report only names them."
WithCopies = Annotated[Flag, Field(description=WITH_COPIES)]


MOST_ALSO: Final = 100
"""At most this many memories can go with the one that an erasure names."""


class EraseMemory(Command):
    """Remove one memory with all its records, its links in both directions, and everything that points to it.

    `also`: other memories of the same graph that go with it, such as those that repeat it. `dry_run`: only name
    these, and the copies.
    """

    id: Identifier
    dry_run: Flag = False
    also: Annotated[tuple[Identifier, ...], AtMost(MOST_ALSO)] = ()
    with_copies: WithCopies = False


class EraseEpisode(Command):
    """Remove one conversation: its memories, its links, and the people that only it mentions."""

    episode_id: Identifier
    with_copies: WithCopies = False


class EraseCitizen(Request):
    """Remove the whole personal memory of one citizen."""

    command_id: Identifier | None = None
    citizen_id: CitizenId
    with_copies: WithCopies = False


class EraseCollective(Request):
    """Remove one collective beside the default one, with all that anybody wrote there."""

    command_id: Identifier | None = None
    collective: CollectiveId


type Erase = EraseMemory | EraseEpisode | EraseCitizen | EraseCollective


class Removed(Frozen):
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


class ErasedCopy(Frozen):
    """A copy on a shared level of something that was erased; `erased` where it went too."""

    level: Level
    collective: Collective = None
    id: str
    erased: bool = False


class ErasureReport(Frozen):
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
    collective: Collective = None
    removed: Removed = Removed()
    log_rewritten: bool
    duplicate: bool = False
    copies: tuple[ErasedCopy, ...] = ()
    further_copies: int = 0
    repeats: tuple[str, ...] = ()
    dry_run: bool = False
    notes: tuple[str, ...] = ()


def _link_id(text: str) -> str:
    parts = text.split("|")
    if len(parts) not in (1, 3):
        raise ValueError("the id of a link is its own id, or `source|TYPE|target`")
    for part in parts:
        check_identifier(part)
    return text


LinkId = Annotated[str, Field(min_length=1, max_length=470), AfterValidator(_link_id)]
"""The own id of a link, or `source|TYPE|target`."""


class Relate(Command):
    """A new link. The REQUIRED tier of 003, component 6, has only the defaults that 003 names."""

    keeps_unknown: ClassVar[bool] = True
    subject: ClassVar[Subject] = "link"
    command: Literal["relate"] = "relate"
    id: Identifier | None = Field(
        default=None, description="Default: `source|TYPE|target`, so that the same link is made only once."
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

    @model_validator(mode="after")
    def _holds_for_some_time(self) -> Relate:
        check_period(self.valid_at, self.invalid_at)
        return self


class LinkRevision(Revising):
    """New metadata for a link: only the fields given change, null clears a field that may be absent.

    Its ends and its type never change: a link with other ends is another link.
    """

    subject: ClassVar[Subject] = "link"
    _never_absent: ClassVar[frozenset[str]] = frozenset(REQUIRED)
    id: LinkId
    energy: Unit | None = None
    confidence: Unit | None = None
    emotion_vector: Emotions | None = None
    goal: Name | None = None
    mindstate: Name | None = None
    energy_transfer_coefficient: Unit | None = None
    resolution_state: ResolutionState | None = None
    formation_trigger: Text | None = None
    felt_quality: Text | None = None
    emotion_description: Text | None = None
    body_sensation: Text | None = None
    spatial_context: Text | None = None
    sensory_details: JsonMap | None = None


class SupersedeLink(LinkRevision):
    """The world changed (`reality_changed`): the old metadata end at `effective_at`, the new begin there.

    `effective_at` (default: now) may lie in the past or in the future, but only where the link has a record. The
    new metadata hold from there to `valid_to`, by default over every later record to the end of what is known.
    """

    command: Literal["supersede_link"] = "supersede_link"
    effective_at: Moment | None = None


class CorrectLink(Correcting, LinkRevision):
    """We were wrong (`discovered_false`): the corrected metadata hold over the same valid time.

    This is the valid time of the record that holds now, or the given stretch. Where none holds now, it is the last
    one before, else the first one after, and the receipt says so. `valid_at` and `invalid_at` correct the valid
    time itself; null leaves the end open; over another record they are refused.
    """

    command: Literal["correct_link"] = "correct_link"
    id: LinkId


class Unrelate(Retracting):
    """The link does not hold from `effective_at` or `valid_from` (default: now) to `valid_to`.

    Without `valid_to` it ends for good. With none of the three, the record that holds now never held. Where none
    holds now, it is the last one before, else the first one after, and the receipt says so.
    """

    subject: ClassVar[Subject] = "link"
    command: Literal["unrelate"] = "unrelate"
    id: LinkId


class ResolveLink(Resolving):
    """Set another resolution state; other metadata stay.

    It holds from `effective_at` (default: now) to `valid_to`, by default over every later record to the end of
    what is known.
    """

    subject: ClassVar[Subject] = "link"
    command: Literal["resolve_link"] = "resolve_link"
    id: LinkId


class UndoLink(Undoing):
    """Revert the last change of a link by new records; `undoes`, `undoes_source`, `undoes_key` as for a memory."""

    subject: ClassVar[Subject] = "link"
    command: Literal["undo_link"] = "undo_link"
    id: LinkId


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
