"""The oracle: a bitemporal store as a list of records, written from DESIGN §4 and nothing else.

Each command is one method, each question one comprehension. Instants are microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from schemas.command import ChangeCommand
from schemas.commands import Command, Correct, Remember, Resolve, Retract, Supersede, Undo
from schemas.link_commands import CorrectLink, Relate, ResolveLink, SupersedeLink, UndoLink, Unrelate
from schemas.temporal import END_OF_TIME, to_instant

NEVER_BEGUN = -END_OF_TIME
MEMORY = ("name", "description", "energy", "confidence", "goal", "resolution_state")
LINK = ("relation_type", "goal", "mindstate", "energy", "confidence", "resolution_state")
"""The fields of a memory and of a link that are held against the engine."""


@dataclass
class Held:
    """One record. `ends` are the two memories of a link, None for a memory.

    `ended` says why its valid time ends, `closed` why it is believed no longer.
    """

    id: str
    version: int
    content: Mapping[str, Any]
    valid_at: int
    invalid_at: int
    created_at: int
    expired_at: int = END_OF_TIME
    ended: str | None = None
    closed: str | None = None
    ends: tuple[str, str] | None = None


class Told(NamedTuple):
    """What a receipt says."""

    status: str
    problem: str | None = None
    version: int | None = None
    valid_at: int | None = None
    invalid_at: int | None = None
    created_at: int | None = None
    duplicate: bool = False


class Window(NamedTuple):
    """What a question may see: `[from, to)` on each axis."""

    valid_from: int
    valid_to: int
    known_from: int
    known_to: int


def moment(valid_at: int, known_at: int) -> Window:
    """What was true at one instant, as known at another."""
    return Window(valid_at, valid_at + 1, known_at, known_at + 1)


def present(now: int) -> Window:
    """What is true now, as it is known."""
    return Window(now, now + 1, END_OF_TIME - 1, END_OF_TIME)


def ever(known_from: int | None, known_to: int | None) -> Window:
    """Every record that was held some time from one instant to another, and what was changed at the first."""
    start = NEVER_BEGUN if known_from is None else known_from - 1
    end = END_OF_TIME + 1 if known_to is None else known_to
    return Window(NEVER_BEGUN, END_OF_TIME + 1, start, end)


@dataclass
class Change:
    """What one command closed and opened."""

    command_id: str | None
    closed: list[Held] = field(default_factory=list)
    opened: list[Held] = field(default_factory=list)


class Refused(Exception):
    """A command that changes nothing."""


def said(command: Command) -> dict[str, Any]:
    """What a command says, without the id under which it was sent."""
    return {"kind": type(command), **command.model_dump(exclude_unset=True, exclude={"command_id"})}


@dataclass
class Oracle:
    """One graph: all records that there ever were, and what every command was told."""

    records: list[Held] = field(default_factory=list)
    done: dict[str, tuple[dict[str, Any], Told]] = field(default_factory=dict)
    firsts: dict[str, tuple[Remember | Relate, Told]] = field(default_factory=dict)
    changes: dict[str, list[Change]] = field(default_factory=dict)
    clock: int = NEVER_BEGUN

    # --- commands ---------------------------------------------------------------------------------------

    def apply(self, command: Command, now: int) -> Told:
        """Carry out one command once, at a moment after all before."""
        known = self.done.get(command.command_id or "")
        if known is not None:
            return known[1]._replace(duplicate=True) if known[0] == said(command) else Told("refused", "conflict")
        at = max(now, self.clock + 1)
        try:
            told = self.carry_out(command, now, at)
        except Refused as refusal:
            return Told("refused", str(refusal))
        if not told.duplicate:
            self.clock = at
        if command.command_id is not None:
            self.done[command.command_id] = (said(command), told._replace(duplicate=False))
        return told

    def carry_out(self, command: Command, now: int, at: int) -> Told:
        """What is not said of valid time begins `now`; it is known from `at` on."""
        if isinstance(command, (Remember, Relate)):
            return self.begin(command, now, at)
        assert isinstance(command, ChangeCommand)
        changes: dict[type[Command], Callable[[Any, Change, int, int], Told]] = {
            Supersede: self.supersede,
            SupersedeLink: self.supersede,
            Correct: self.correct,
            CorrectLink: self.correct,
            Resolve: self.resolve,
            ResolveLink: self.resolve,
            Retract: self.retract,
            Unrelate: self.retract,
            Undo: self.undo,
            UndoLink: self.undo,
        }
        change = Change(command.command_id)
        told = changes[type(command)](command, change, now, at)
        self.changes.setdefault(command.id, []).append(change)
        return told._replace(created_at=at)

    def begin(self, command: Remember | Relate, now: int, at: int) -> Told:
        record = first_record(command, now, at)
        if not all(self.is_open(end) for end in record.ends or ()):
            raise Refused("not-found")
        if record.id not in self.firsts:
            self.firsts[record.id] = command, told(record)
            self.records.append(record)
            return told(record)
        first, receipt = self.firsts[record.id]
        if said(first) == said(command) and self.is_open(record.id):
            return receipt._replace(duplicate=True)
        raise Refused("conflict")

    def supersede(self, command: Supersede | SupersedeLink, change: Change, now: int, at: int) -> Told:
        old = self.revisable(command)
        effective = now if command.effective_at is None else to_instant(command.effective_at)
        if not old.valid_at < effective < old.invalid_at:
            raise Refused("invalid-request")
        self.close(change, old, at, "reality_changed")
        self.open(change, old, at, invalid_at=effective, ended="reality_changed")
        return self.open(change, old, at, valid_at=effective, content=changed(old, command))

    def correct(self, command: Correct | CorrectLink, change: Change, now: int, at: int) -> Told:
        old = self.revisable(command)
        self.close(change, old, at, "discovered_false")
        return self.open(change, old, at, content=changed(old, command))

    def resolve(self, command: Resolve | ResolveLink, change: Change, now: int, at: int) -> Told:
        old = self.revisable(command)
        self.close(change, old, at, "reality_changed")
        return self.open(change, old, at, content={**old.content, "resolution_state": command.resolution_state})

    def retract(self, command: Retract | Unrelate, change: Change, now: int, at: int) -> Told:
        old = self.revisable(command)
        until = None if command.effective_at is None else to_instant(command.effective_at)
        if until is not None and until >= old.invalid_at:
            raise Refused("invalid-request")
        self.close(change, old, at, command.reason)
        if until is None or until <= old.valid_at:
            return told(old)
        return self.open(change, old, at, invalid_at=until, ended=command.reason)

    def undo(self, command: Undo | UndoLink, change: Change, now: int, at: int) -> Told:
        self.expected(command)
        before = self.changes.get(command.id, [])
        if not before or command.undoes not in (None, before[-1].command_id):
            raise Refused("conflict")
        last = before[-1]
        for record in last.opened:
            self.close(change, record, at, "discovered_false")
        back = [self.open(change, record, at) for record in sorted(last.closed, key=lambda one: one.valid_at)]
        return back[-1] if back else told(last.opened[0])

    def expected(self, command: ChangeCommand) -> Held:
        """The record that was opened last, if that is the one which the command expects."""
        of_link = isinstance(command, (SupersedeLink, CorrectLink, ResolveLink, Unrelate, UndoLink))
        if not any((record.ends is not None) is of_link for record in self.records_of(command.id)):
            raise Refused("not-found")
        latest = self.latest(command.id)
        if command.expected_version not in (None, latest.version):
            raise Refused("conflict")
        return latest

    def revisable(self, command: ChangeCommand) -> Held:
        """The record that a command changes."""
        latest = self.expected(command)
        if not self.is_open(command.id):
            raise Refused("conflict")
        return latest

    def close(self, change: Change, record: Held, at: int, reason: str) -> None:
        record.expired_at, record.closed = at, reason
        change.closed.append(record)

    def open(self, change: Change, old: Held, at: int, **differing: Any) -> Told:
        version = self.latest(old.id).version + 1
        new = replace(old, version=version, created_at=at, expired_at=END_OF_TIME, closed=None, **differing)
        self.records.append(new)
        change.opened.append(new)
        return told(new)

    # --- questions --------------------------------------------------------------------------------------

    def records_of(self, identity: str) -> list[Held]:
        """All records of one memory or link."""
        return [record for record in self.records if record.id == identity]

    def latest(self, identity: str) -> Held:
        """The record opened last."""
        return max(self.records_of(identity), key=lambda record: record.version)

    def is_open(self, identity: str) -> bool:
        """Whether it is there and was not taken back."""
        return bool(self.records_of(identity)) and self.latest(identity).expired_at == END_OF_TIME

    def seen(self, window: Window) -> list[Held]:
        """Every record that a question may see, without what became of it later."""
        return [
            as_known(record, window.known_to)
            for record in self.records
            if record.valid_at < window.valid_to
            and record.invalid_at > window.valid_from
            and record.created_at < window.known_to
            and record.expired_at > window.known_from
        ]

    def memories(self, window: Window, min_energy: float = 0.0) -> list[Held]:
        """The memories among them that are felt strongly enough."""
        return [
            record
            for record in self.seen(window)
            if record.ends is None and record.content["energy"] >= min_energy
        ]

    def links(self, window: Window, min_energy: float = 0.0) -> list[Held]:
        """The links among them, both of whose ends are seen."""
        there = {record.id for record in self.memories(window, min_energy)}
        return [record for record in self.seen(window) if record.ends is not None and {*record.ends} <= there]

    def instants(self) -> list[int]:
        """Every instant at which something begins or ends, on either axis."""
        times = {
            instant
            for record in self.records
            for instant in (record.valid_at, record.invalid_at, record.created_at, record.expired_at)
        }
        return sorted(times - {END_OF_TIME})


def as_known(record: Held, known_to: int) -> Held:
    """The record as it was told before an instant."""
    return record if record.expired_at < known_to else replace(record, expired_at=END_OF_TIME, closed=None)


def first_record(command: Remember | Relate, now: int, at: int) -> Held:
    """The record that a new memory or link begins with."""
    valid = period(command, now)
    if isinstance(command, Remember):
        assert command.id is not None
        return Held(command.id, 1, {name: getattr(command, name) for name in MEMORY}, *valid, at)
    ends = (command.source_id, command.target_id)
    identity = command.id or f"{ends[0]}|{command.relation_type}|{ends[1]}"
    return Held(identity, 1, {name: getattr(command, name) for name in LINK}, *valid, at, ends=ends)


def period(command: Remember | Relate, now: int) -> tuple[int, int]:
    """The valid time that a command gives; what would end before it begins is refused."""
    start = now if command.valid_at is None else to_instant(command.valid_at)
    end = END_OF_TIME if command.invalid_at is None else to_instant(command.invalid_at)
    if end <= start:
        raise Refused("invalid-request")
    return start, end


def changed(old: Held, command: Command) -> dict[str, Any]:
    """The content after a command: what it sets replaces what was there."""
    return {name: getattr(command, name) if name in command.model_fields_set else value
            for name, value in old.content.items()}  # fmt: skip


def told(record: Held) -> Told:
    """What the receipt of a record says."""
    return Told("stored", None, record.version, record.valid_at, record.invalid_at, record.created_at)
