"""The oracle: a bitemporal store as a list of records, written from DESIGN §4 and nothing else.

Each command is one method, each question one comprehension. Instants are microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from schemas.commands import Command, Correct, Relate, Remember, Retract, Supersede
from schemas.temporal import END_OF_TIME, to_instant

NEVER_BEGUN = -END_OF_TIME
MEMORY = ("name", "description", "energy", "confidence", "goal")
LINK = ("relation_type", "goal", "mindstate", "energy", "confidence", "resolution_state")
"""The fields of a memory and of a link that are held against the engine."""


@dataclass
class Held:
    """One record. `ends` are the two memories of a link, None for a memory."""

    id: str
    version: int
    content: Mapping[str, Any]
    valid_at: int
    invalid_at: int
    created_at: int
    expired_at: int = END_OF_TIME
    end_reason: str | None = None
    closed_reason: str | None = None
    ends: tuple[str, str] | None = None

    @property
    def reason(self) -> str | None:
        """Why it became invalid: why its valid time ends, else why it was closed."""
        return self.end_reason or self.closed_reason


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


def ever(known_from: int | None, known_to: int | None) -> Window:
    """Every record that was held some time between two instants."""
    start = NEVER_BEGUN if known_from is None else known_from
    end = END_OF_TIME + 1 if known_to is None else known_to
    return Window(NEVER_BEGUN, END_OF_TIME + 1, start, end)


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
    firsts: dict[str, tuple[dict[str, Any], Told]] = field(default_factory=dict)

    # --- commands ---------------------------------------------------------------------------------------

    def apply(self, command: Command, now: int) -> Told:
        """Carry out one command once."""
        known = self.done.get(command.command_id or "")
        if known is not None:
            return known[1]._replace(duplicate=True) if known[0] == said(command) else Told("refused", "conflict")
        try:
            told = self.carry_out(command, now)
        except Refused as refusal:
            return Told("refused", str(refusal))
        if command.command_id is not None:
            self.done.setdefault(command.command_id, (said(command), told._replace(duplicate=False)))
        return told

    def carry_out(self, command: Command, now: int) -> Told:
        methods: dict[type[Command], Callable[[Any, int], Told]] = {
            Remember: self.remember,
            Relate: self.relate,
            Supersede: self.supersede,
            Correct: self.correct,
            Retract: self.retract,
        }
        return methods[type(command)](command, now)

    def remember(self, command: Remember, at: int) -> Told:
        assert command.id is not None
        content = {name: getattr(command, name) for name in MEMORY}
        return self.begin(command, Held(command.id, 1, content, *period(command, at), at))

    def relate(self, command: Relate, at: int) -> Told:
        ends = (command.source_id, command.target_id)
        content = {name: getattr(command, name) for name in LINK}
        identity = command.id or f"{ends[0]}|{command.relation_type}|{ends[1]}"
        begun = Held(identity, 1, content, *period(command, at), at, ends=ends)
        if not all(self.records_of(end) and self.is_open(end) for end in ends):
            raise Refused("not-found")
        return self.begin(command, begun)

    def begin(self, command: Remember | Relate, record: Held) -> Told:
        first = self.firsts.get(record.id)
        if first is not None:
            if first[0] == said(command) and self.is_open(record.id):
                return first[1]._replace(duplicate=True)
            raise Refused("conflict")
        self.records.append(record)
        self.firsts[record.id] = (said(command), told(record))
        return told(record)

    def supersede(self, command: Supersede, at: int) -> Told:
        old = self.revisable(command)
        effective = at if command.effective_at is None else to_instant(command.effective_at)
        if not old.valid_at < effective < old.invalid_at:
            raise Refused("invalid-request")
        self.close(old, at, "reality_changed")
        self.open(old, at, invalid_at=effective, end_reason="reality_changed")
        return self.open(old, at, valid_at=effective, content=changed(old, command))

    def correct(self, command: Correct, at: int) -> Told:
        old = self.revisable(command)
        self.close(old, at, "discovered_false")
        return self.open(old, at, content=changed(old, command))

    def retract(self, command: Retract, at: int) -> Told:
        old = self.revisable(command)
        until = None if command.effective_at is None else to_instant(command.effective_at)
        if until is not None and until >= old.invalid_at:
            raise Refused("invalid-request")
        self.close(old, at, command.reason)
        if until is None or until <= old.valid_at:
            return told(old)._replace(created_at=at)
        return self.open(old, at, invalid_at=until, end_reason=command.reason)

    def revisable(self, command: Any) -> Held:
        """The record that a command changes."""
        if not self.records_of(command.id):
            raise Refused("not-found")
        if not self.is_open(command.id):
            raise Refused("conflict")
        latest = self.latest(command.id)
        if command.expected_version not in (None, latest.version):
            raise Refused("conflict")
        return latest

    def close(self, record: Held, at: int, reason: str) -> None:
        record.expired_at, record.closed_reason = at, reason

    def open(self, old: Held, at: int, **differing: Any) -> Told:
        version = self.latest(old.id).version + 1
        known: dict[str, Any] = {
            "version": version,
            "created_at": at,
            "expired_at": END_OF_TIME,
            "closed_reason": None,
        }
        new = replace(old, **known, **differing)
        self.records.append(new)
        return told(new)

    # --- questions --------------------------------------------------------------------------------------

    def records_of(self, identity: str) -> list[Held]:
        """All records of one memory or link."""
        return [record for record in self.records if record.id == identity]

    def latest(self, identity: str) -> Held:
        """The record opened last."""
        return max(self.records_of(identity), key=lambda record: record.version)

    def is_open(self, identity: str) -> bool:
        """Whether it was not taken back."""
        return self.latest(identity).expired_at == END_OF_TIME

    def seen(self, window: Window) -> list[Held]:
        """Every record that a question may see."""
        return [
            record
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
