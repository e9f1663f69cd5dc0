"""The oracle: a bitemporal store as a list of records, written from DESIGN §4 and nothing else.

Each command is one method, each question one comprehension. Instants are microseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from schemas.commands import (
    ChangeCommand,
    Command,
    CorrectLink,
    Relate,
    Remember,
    ResolveLink,
    SupersedeLink,
    Undoing,
    UndoLink,
    Unrelate,
)
from schemas.temporal import END_OF_TIME
from tests.oracle.held import LINK, MEMORY, NEVER_BEGUN, Held, Refused, Told, Window, as_known, told
from tests.oracle.stretches import (
    CORRECTS,
    RESOLVES,
    RETRACTS,
    Content,
    Fate,
    Piece,
    Stretch,
    acted_on,
    addressed,
    corrected,
    pieces,
    said_at,
    spoken_of,
    touched,
)

OF_LINKS = (SupersedeLink, CorrectLink, ResolveLink, Unrelate, UndoLink)

UNNAMED = "unnamed "
AT_ONCE = 10
"""More commands are not sent at once."""


def said(command: Command) -> dict[str, Any]:
    """What a command says, without the id under which it was sent."""
    return {"kind": type(command), **command.model_dump(exclude_unset=True, exclude={"command_id"})}


def named(command: Command) -> str:
    """The id of a command, or a name that nobody can know."""
    return command.command_id or f"{UNNAMED}{id(command)}"


@dataclass
class Oracle:
    """One graph: all records that there ever were, and what every command was told."""

    records: list[Held] = field(default_factory=list)
    done: dict[str, tuple[dict[str, Any], Told]] = field(default_factory=dict)
    clock: int = NEVER_BEGUN

    # --- commands ---------------------------------------------------------------------------------------

    def moment(self, now: int, receipt: Told, *, ahead: bool) -> int:
        """From when on a command is known that is told `now`: after all before.

        Where the clock of the graph was ahead of those sent at once, by how little is the store's own affair.
        """
        least, told = max(now, self.clock + 1), receipt.created_at or 0
        return told if ahead and not receipt.duplicate and least < told < least + AT_ONCE else least

    def ahead(self, now: int) -> bool:
        """Whether the clock of the graph may be ahead of a moment: what was refused may have moved it too."""
        return now <= self.clock + AT_ONCE

    def at(self, command: Command, now: int, at: int) -> Told:
        """Carry out one command once: what is not said of valid time begins `now`, it is known from `at` on."""
        known = self.done.get(command.command_id or "")
        if known is not None:
            return known[1]._replace(duplicate=True) if known[0] == said(command) else Told("refused", "conflict")
        try:
            receipt = self.carry_out(command, now, at)
        except Refused as refusal:
            return Told("refused", str(refusal))
        if not receipt.duplicate:
            self.clock = at
        if command.command_id is not None:
            self.done[command.command_id] = (said(command), receipt._replace(duplicate=False))
        return receipt

    def carry_out(self, command: Command, now: int, at: int) -> Told:
        """One command that was not carried out before. Raises Refused."""
        if isinstance(command, (Remember, Relate)):
            return self.begin(command, now, at)
        assert isinstance(command, ChangeCommand)
        self.expected(command, now)
        before = self.believed(command.id)
        if isinstance(command, Undoing):
            receipt = self.undo(command, at)
        elif not before:
            raise Refused("conflict")
        else:
            receipt = self.change(command, now, at)
        for record in self.records_of(command.id):
            if record.created_at == at and record.opened_by is None:
                record.opened_by = named(command)
            if record.expired_at == at and record.closed_by is None:
                record.closed_by = named(command)
        return receipt._replace(created_at=at, elsewhere=is_elsewhere(command, receipt, now))

    def begin(self, command: Remember | Relate, now: int, at: int) -> Told:
        """A new identity, or one that holds again where nothing of it holds."""
        record = first_record(command, now, at)
        if not all(self.believed(end) for end in record.ends or ()):
            raise Refused("not-found")
        clash = [
            one
            for one in self.believed(record.id)
            if max(one.valid_at, record.valid_at) < min(one.invalid_at, record.invalid_at)
        ]
        if clash:
            present = max(record.valid_at, self.last_change(record.id)[0])
            to_come = command.valid_at is None and all(one.valid_at > present for one in clash)
            if to_come or not any(one.origin == record.origin for one in clash):
                raise Refused("conflict")
            begun = [one for one in self.records_of(record.id) if one.origin == record.origin]
            return told(min(begun, key=lambda one: one.version))._replace(duplicate=True)
        if any(one.ends != record.ends for one in self.records_of(record.id)):
            raise Refused("conflict")
        if self.records_of(record.id):
            record.version = self.highest(record.id) + 1
        self.records.append(record)
        return told(record)

    def change(self, command: ChangeCommand, now: int, at: int) -> Told:
        """Supersede, correct, retract or resolve."""
        held = self.believed(command.id)
        fate, reason = fate_of(command), reason_of(command)
        period = corrected(command, held, now)
        if period is not None:
            whole, stretch = period
            content = fate(whole.content)
            assert content is not None
            ended = whole.ended if stretch.end == whole.invalid_at else None
            return self.replaced([whole], [Piece(stretch, content, whole, ended)], at, reason)[0]
        stretch = acted_on(command, held, now)
        changing = touched(held, stretch, fate)
        if not changing:
            raise Refused("conflict")
        opened = self.replaced(changing, pieces(changing, stretch, fate, reason), at, reason)
        within = [one for one in opened if one.valid_at is not None and one.valid_at >= stretch.start]
        if isinstance(command, RETRACTS):
            return opened[-1] if opened else told(addressed(changing, stretch.start))
        return within[0]

    def undo(self, command: Undoing, at: int) -> Told:
        """What the last moment of an identity opened is closed, what it closed holds again."""
        records = self.records_of(command.id)
        last, by = self.last_change(command.id)
        first = min(one.created_at for one in records)
        if last == first or (command.undoes is not None and command.undoes not in by):
            raise Refused("conflict")
        opened = [one for one in records if one.created_at == last]
        closed = sorted((one for one in records if one.expired_at == last), key=lambda one: one.valid_at)
        again = [Piece(Stretch(one.valid_at, one.invalid_at), one.content, one, one.ended) for one in closed]
        back = self.replaced(opened, again, at, "undone")
        return back[-1] if back else told(opened[0])

    def last_change(self, identity: str) -> tuple[int, set[str | None]]:
        """When an identity was changed last, and by which commands."""
        records = self.records_of(identity)
        moments = {one.created_at for one in records} | {one.expired_at for one in records}
        last = max(moments - {END_OF_TIME})
        opened = {one.opened_by for one in records if one.created_at == last}
        return last, opened | {one.closed_by for one in records if one.expired_at == last}

    def expected(self, command: ChangeCommand, now: int) -> None:
        """Raises Refused for what is unknown, or not as the sender saw it."""
        records = self.records_of(command.id)
        if not any((one.ends is not None) is isinstance(command, OF_LINKS) for one in records):
            raise Refused("not-found")
        if command.expected_version not in (None, self.version_at(command, now)):
            raise Refused("conflict")

    def version_at(self, command: ChangeCommand, now: int) -> int:
        """The version of what holds at the moment of which a command speaks, else of what was opened last."""
        held = self.believed(command.id)
        return addressed(held, spoken_of(command, now)).version if held else self.highest(command.id)

    def replaced(self, old: Sequence[Held], new: Sequence[Piece], at: int, reason: str) -> list[Told]:
        """Close records, and open others in their place."""
        for record in old:
            record.expired_at, record.closed = at, reason
        return [self.opened(piece, at) for piece in new]

    def opened(self, piece: Piece, at: int) -> Told:
        """A new record of what holds on a stretch."""
        record = replace(
            piece.before,
            version=self.highest(piece.before.id) + 1,
            content=piece.content,
            valid_at=piece.stretch.start,
            invalid_at=piece.stretch.end,
            created_at=at,
            expired_at=END_OF_TIME,
            ended=piece.ended,
            closed=None,
            opened_by=None,
            closed_by=None,
        )
        self.records.append(record)
        return told(record)

    # --- questions --------------------------------------------------------------------------------------

    def records_of(self, identity: str) -> list[Held]:
        """All records of one memory or link."""
        return [record for record in self.records if record.id == identity]

    def highest(self, identity: str) -> int:
        """The version of the record opened last."""
        return max(record.version for record in self.records_of(identity))

    def believed(self, identity: str) -> list[Held]:
        """What is believed of it now, over all valid time."""
        held = [record for record in self.records_of(identity) if record.expired_at == END_OF_TIME]
        return sorted(held, key=lambda one: one.valid_at)

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


def first_record(command: Remember | Relate, now: int, at: int) -> Held:
    """The record that a new memory or link begins with. Raises Refused for what would end before it begins."""
    start, end = said_at(command, "valid_at"), said_at(command, "invalid_at")
    valid = (now if start is None else start, END_OF_TIME if end is None else end)
    if valid[1] <= valid[0]:
        raise Refused("invalid-request")
    by: dict[str, Any] = {"opened_by": named(command), "origin": said(command)}
    if isinstance(command, Remember):
        assert command.id is not None
        return Held(command.id, 1, {name: getattr(command, name) for name in MEMORY}, *valid, at, **by)
    ends = (command.source_id, command.target_id)
    identity = command.id or f"{ends[0]}|{command.relation_type}|{ends[1]}"
    return Held(identity, 1, {name: getattr(command, name) for name in LINK}, *valid, at, ends=ends, **by)


def is_elsewhere(command: ChangeCommand, receipt: Told, now: int) -> bool:
    """Whether a correction, a retraction or an undo names no time and changed a record that does not hold now."""
    assert receipt.valid_at is not None
    assert receipt.invalid_at is not None
    named = [said_at(command, name) for name in ("effective_at", "valid_from", "valid_to")]
    period = isinstance(command, CORRECTS) and command.model_fields_set & {"valid_at", "invalid_at"}
    alone = isinstance(command, (*CORRECTS, *RETRACTS, Undoing)) and named == [None] * 3 and not period
    return alone and not receipt.valid_at <= now < receipt.invalid_at


def reason_of(command: ChangeCommand) -> str:
    """Why what was believed before is believed no longer."""
    if isinstance(command, RETRACTS):
        return command.reason
    return "discovered_false" if isinstance(command, CORRECTS) else "reality_changed"


def fate_of(command: ChangeCommand) -> Fate:
    """What a command makes of a content: what it sets replaces what was there."""

    def becomes(content: Content) -> Content | None:
        if isinstance(command, RETRACTS):
            return None
        if isinstance(command, RESOLVES):
            stands = content["resolution_state"] == command.resolution_state
            return content if stands else {**content, "resolution_state": command.resolution_state}
        given = command.model_fields_set
        return {name: getattr(command, name) if name in given else value for name, value in content.items()}

    return becomes
