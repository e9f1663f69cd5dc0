"""The base models of commands, and their receipt."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, Self

from pydantic import ConfigDict, Field, PrivateAttr, model_validator

from schemas.base import AtMost, Flag, Frozen, Identifier, ShortText, Whole
from schemas.collectives import GraphRequest
from schemas.errors import SubstrateError, refusal_error
from schemas.memory import Collective, InvalidationReason, Level, ResolutionState, SharedFrom, Source
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
        if writer == self._writer:
            return self
        written = self.model_copy()
        written._writer = writer
        return written

    @property
    def inferred(self) -> bool:
        """True for a command that the service made from words or from other memories; no writer gave its values.

        A new link then takes feelings, energy and state from its ends, where these have any. What it takes is no
        part of what was sent, so a repeat of the command stays a repeat.
        """
        return self._inferred

    def as_inferred(self) -> Self:
        inferred = self.model_copy()
        inferred._inferred = True
        return inferred

    @property
    def quarantining(self) -> Quarantining | None:
        """Set for a command of a quarantine: what it closes is closed as `quarantined`."""
        return self._quarantining

    def as_quarantining(self, since: Instant | None = None) -> Self:
        quarantining = self.model_copy()
        quarantining._quarantining = Quarantining(since)
        return quarantining

    @property
    def copy_of(self) -> dict[str, Any] | None:
        """Set for a command that writes a copy: what it was shared from, in stored form."""
        return None if self._copy_of is None else self._copy_of.model_dump(mode="json", exclude_none=True)

    def as_copy_of(self, origin: SharedFrom) -> Self:
        copying = self.model_copy()
        copying._copy_of = origin
        return copying

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
