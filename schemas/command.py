"""What all commands share, and the receipt of each."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from schemas.base import CitizenId, Frozen, Identifier, Request, ShortText, Whole
from schemas.memory import Level, Source

Tags = Annotated[tuple[ShortText, ...], Field(max_length=64)]
ExpectedVersion = Annotated[Whole, Field(ge=1)]


class Command(Request):
    """What all commands share.

    `command_id` is made by the client, and is that of one command in a graph: a repeated send is recognised by
    it, and its receipt can be read again. Left out, each send counts as a new one. `citizen_id` names the N1
    graph and is required there.
    """

    command_id: Identifier | None = None
    level: Level = Level.N1
    citizen_id: CitizenId | None = None

    @model_validator(mode="after")
    def _personal_needs_a_citizen(self) -> Command:
        if self.level is Level.N1 and self.citizen_id is None:
            raise ValueError("level N1 is personal: name its citizen_id")
        return self

    def assuming(self, *names: str) -> Self:
        """The same command, these fields assumed: they are stored, and commands differing in them say the same."""
        assumed = self.model_copy()
        object.__setattr__(assumed, "__pydantic_fields_set__", self.model_fields_set - set(names))
        return assumed


def keep_unknown(data: Any, known: set[str]) -> Any:
    """Move fields that we do not know into `extra`, as they came (003, 6: unknown fields are allowed)."""
    if not isinstance(data, dict) or not isinstance(data.get("extra", {}), dict):
        return data
    unknown = {key: value for key, value in data.items() if key not in known}
    if not unknown:
        return data
    rest = {key: value for key, value in data.items() if key in known}
    return {**rest, "extra": {**unknown, **data.get("extra", {})}}


def check_period(start: datetime | None, end: datetime | None) -> None:
    """Raises ValueError for a period that ends before it begins."""
    if start is not None and end is not None and end <= start:
        raise ValueError("invalid_at must lie after valid_at: what ends before it begins never holds")


class ChangeCommand(Command):
    """A change of a memory or a link, by its id.

    `expected_version` guards against a lost update: the change is refused when the latest record has another.
    `source` says who changes it; the rule of trust refuses one that weighs less than the record's own.
    """

    id: str
    expected_version: ExpectedVersion | None = None
    source: Source = Source.CITIZEN


def never_absent(command: ChangeCommand, fields: frozenset[str], of: str) -> None:
    """Raises ValueError when the command clears one of the fields that every record has."""
    cleared = sorted(name for name in fields & command.model_fields_set if getattr(command, name) is None)
    if cleared:
        raise ValueError(f"{', '.join(cleared)} cannot be null: every {of} has it; leave it out to keep it")


class WriteReceipt(Frozen):
    """What became of a command.

    `stored`: it is on disk. `refused`: nothing was changed, `faults` says why. `duplicate` is true when the
    same command had been applied before; the receipt is then the first one. `created_at` is the transaction
    time of the command. `current_version` is that of the record which a conflict is about. `recognised` is the
    memory that says word for word what a new one would have said; that one was not stored.
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
    recognised: str | None = None
    current_version: int | None = None
    faults: tuple[str, ...] = ()
    problem: (
        Literal["invalid-request", "not-found", "conflict", "forbidden", "not-trusted", "not-applied"] | None
    ) = None
    warnings: tuple[str, ...] = ()
