"""The records that each command closes and opens (DESIGN §4). Pure.

A record is visible in a scope when its valid time and its transaction time both overlap the scope's. A closed
record never changes. A command acts on a portion of valid time (as in SQL:2011): open records in the portion are
closed, and what they say outside of it continues to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from schemas.memory import ClosedReason, InvalidationReason, Source
from schemas.temporal import END_OF_TIME, Instant, Period, Scope, to_datetime

NOTHING_HOLDS: Final = "nothing of it is known at"
UNDONE: Final = "undone"
"""Why an undo closes a record: it was withdrawn, and nothing new is believed."""
REPAIR_PREFIX: Final = "repair-"
"""Prefix of the id of a repair. It mends what no command leaves behind, so it cannot be undone."""


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a memory or a link: its content over a valid time, as known over a transaction time.

    `content` has every other property. `reason` says why the valid time ends, `closed_reason` why the transaction
    time ended. The command `command_id` opened the record with the key `key_id`; the command `closed_by` closed
    it, sent by `closed_source` with the key `closed_key`. `known_as_happened`: an import
    declared its transaction time.
    """

    id: str
    version: int
    valid: Period
    known: Period
    content: Mapping[str, Any] = field(default_factory=dict)
    reason: InvalidationReason | None = None
    closed_reason: ClosedReason | None = None
    command_id: str | None = None
    closed_by: str | None = None
    closed_source: Source | None = None
    key_id: str | None = None
    closed_key: str | None = None
    known_as_happened: bool | None = None

    @property
    def last_known(self) -> Instant:
        """The time of its last change: when it was closed, else when it was opened."""
        return self.known.start if is_open(self) else self.known.end


@dataclass(frozen=True, slots=True)
class OpenedRecord:
    """A record opened from `from_version`; `revised` if its content differs from that version's."""

    record: Record
    from_version: int
    revised: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The records of one identity that a command closes and opens at the transaction time `at`.

    `closed` are the records open until then, `opened` those open from then on, both by valid time. `undone` is the
    command that an undo reverts.
    """

    at: Instant
    closed: tuple[Record, ...]
    opened: tuple[OpenedRecord, ...]
    undone: str | None = None

    @property
    def receipt_record(self) -> Record:
        """The record for the receipt: the first with new content, else the last opened, else the first closed."""
        last = self.opened[-1] if self.opened else None
        new = next((opened for opened in self.opened if opened.revised), last)
        return self.closed[0] if new is None else new.record


type OpenRecords = Sequence[Record]
"""The open records of one identity, by valid time; no two of them overlap."""


def visible(record: Record, scope: Scope) -> bool:
    """True when the record overlaps the scope in valid time and in transaction time."""
    return record.valid.overlaps(scope.valid) and record.known.overlaps(scope.known)


def is_open(record: Record) -> bool:
    """True when the record is known now: its transaction time has not ended."""
    return record.known.end == END_OF_TIME


def open_records(records: Iterable[Record]) -> OpenRecords:
    """Return the open records of an identity, by valid time."""
    return sorted(filter(is_open, records), key=_valid_start)


def held_at(open_records: OpenRecords, moment: Instant) -> Record:
    """Return the record that holds at the moment; if none does, the last before it, else the first after it.
    `open_records` must not be empty."""
    begun = [record for record in open_records if record.valid.start <= moment]
    return begun[-1] if begun else open_records[0]


def named_portion(open_records: OpenRecords, portion: Period) -> Period:
    """Return the portion after checking that something is known in all of it. A portion without an end reaches to
    the end of what is known. Raises ValueError when the portion is empty, when nothing is known at its beginning,
    or when it has an end and nothing is known at some time in it."""
    if portion.end <= portion.start:
        raise ValueError("the portion of valid time is empty: valid_to must lie after valid_from")
    within = [record for record in open_records if record.valid.overlaps(portion)]
    if not within or within[0].valid.start > portion.start:
        raise ValueError(_unknown(portion.start, open_records))
    if portion.end == END_OF_TIME:
        return portion
    covered = portion.start
    for record in within:
        if record.valid.start > covered:
            break
        covered = record.valid.end
    if covered < portion.end:
        raise ValueError(_unknown(covered, open_records))
    return portion


def _format(moment: Instant) -> str:
    return to_datetime(moment).isoformat().replace("+00:00", "Z")


def _unknown(moment: Instant, open_records: OpenRecords) -> str:
    nearest = describe_period(held_at(open_records, moment))
    return f"{NOTHING_HOLDS} {_format(moment)}: the nearest record holds {nearest}"


def describe_period(record: Record) -> str:
    """The valid time of a record in words."""
    end = "" if record.valid.end == END_OF_TIME else f" to {_format(record.valid.end)}"
    return f"from {_format(record.valid.start)}{end}"


type Revise = Callable[[Record], Mapping[str, Any] | None]
"""Returns the new content of a record; None when nothing holds any longer."""


@dataclass(frozen=True, slots=True)
class RewriteContext:
    """The transaction time of a rewrite, the last version before it, and its reason.

    `reason` is None when the new record says the same as the old one. `closed_as`: why the old records are closed,
    where that is not `reason`.
    """

    at: Instant
    last_version: int
    reason: InvalidationReason | None
    closed_as: ClosedReason | None = None

    @property
    def closed_reason(self) -> ClosedReason | None:
        return self.closed_as or self.reason


def rewrite(open_records: OpenRecords, portion: Period, revise: Revise, context: RewriteContext) -> Change:
    """Replace the content of each record in the portion by what `revise` returns for it. Outside of the portion
    the old content continues in a record of its own. A record stays untouched when `revise` returns its content
    unchanged (the same object)."""
    touched = [
        (record, content)
        for record in open_records
        if record.valid.overlaps(portion) and (content := revise(record)) is not record.content
    ]
    opened: list[OpenedRecord] = []
    for record, content in touched:
        opened += _split_record(record, content, portion, context)
    closed = tuple(close(record, context.at, context.closed_reason) for record, _ in touched)
    numbered = enumerate(opened, start=context.last_version + 1)
    return Change(
        context.at,
        closed,
        tuple(replace(piece, record=replace(piece.record, version=version)) for version, piece in numbered),
    )


def _split_record(
    record: Record, content: Mapping[str, Any] | None, portion: Period, context: RewriteContext
) -> list[OpenedRecord]:
    start, end = max(record.valid.start, portion.start), min(record.valid.end, portion.end)
    unchanged = replace(record, known=Period(context.at), command_id=None, **_NOT_CLOSED)
    pieces: list[OpenedRecord] = []
    if record.valid.start < start:
        before = replace(unchanged, valid=Period(record.valid.start, start), reason=context.reason)
        pieces.append(OpenedRecord(before, record.version))
    if content is not None:
        reason = record.reason if end == record.valid.end else context.reason
        new = Record(record.id, 0, Period(start, end), Period(context.at), content, reason)
        pieces.append(OpenedRecord(new, record.version, revised=True))
    if end < record.valid.end:
        pieces.append(OpenedRecord(replace(unchanged, valid=Period(end, record.valid.end)), record.version))
    return pieces


def correct_period(
    open_records: OpenRecords,
    record: Record,
    context: RewriteContext,
    *,
    valid: Period,
    content: Mapping[str, Any],
) -> Change:
    """Replace the record by one with another valid time and content. Raises ValueError when the valid time is
    empty, or overlaps another record of the identity."""
    if valid.end <= valid.start:
        raise ValueError("invalid_at must lie after valid_at: what ends before it begins never holds")
    _check_free(valid, [other for other in open_records if other is not record])
    reason = record.reason if valid.end == record.valid.end else None
    new = Record(record.id, context.last_version + 1, valid, Period(context.at), content, reason)
    closed = close(record, context.at, context.reason)
    return Change(context.at, (closed,), (OpenedRecord(new, record.version, revised=True),))


def begin(open_records: OpenRecords, record: Record) -> Change:
    """Open a record over a valid time at which nothing is known of its identity yet. Raises ValueError when
    another record of the identity holds there."""
    _check_free(record.valid, open_records)
    return Change(record.known.start, (), (OpenedRecord(record, 0, revised=True),))


def _check_free(valid: Period, others: Iterable[Record]) -> None:
    overlapping = [record for record in others if record.valid.overlaps(valid)]
    if overlapping:
        before = valid.start < overlapping[0].valid.start
        advice = "; name an end (invalid_at) no later than that" if before else ""
        raise ValueError(f"another record of it holds {describe_period(overlapping[0])}{advice}")


def close(record: Record, at: Instant, reason: ClosedReason | None) -> Record:
    """Return the record with its transaction time ended at `at`."""
    return replace(record, known=Period(record.known.start, at), closed_reason=reason)


_NOT_CLOSED: Final[Mapping[str, Any]] = dict.fromkeys(
    ("closed_reason", "closed_by", "closed_source", "closed_key")
)


def undo(records: Sequence[Record], undoes: str | None, at: Instant, last_version: int) -> Change:
    """Revert the last change of an identity: close what it opened, and open again what it closed.

    `undoes` may name the command of that change. `records` are all records of the identity, `last_version` is the
    highest version ever used. Raises ValueError when nothing was changed since the identity was written, when
    `undoes` did not change it, when another change came later, and for a repair.
    """
    changed_at, undone = _last_change(records)
    if undoes is not None and undoes in _commands_at(records, changed_at):
        undone = undoes
    if undoes is not None and undoes != undone:
        if not any(undoes in (record.command_id, record.closed_by) for record in records):
            raise ValueError(f"the command {undoes} changed nothing of it")
        raise ValueError(f"the command {undone} came after {undoes}; undo that first")
    opened = sorted((record for record in records if record.known.start == changed_at), key=_valid_start)
    reverted = sorted((record for record in records if record.known.end == changed_at), key=_valid_start)
    if len(opened) == len(records):
        raise ValueError("nothing was changed since it was written")
    if undone is not None and undone.startswith(REPAIR_PREFIX):
        raise ValueError("its last change was a repair, which cannot be undone")
    closed = tuple(close(record, at, UNDONE) for record in opened)
    return Change(at, closed, _reopen(reverted, at, last_version), undone)


def _reopen(records: Iterable[Record], at: Instant, last_version: int) -> tuple[OpenedRecord, ...]:
    reopened: list[OpenedRecord] = []
    for version, record in enumerate(records, start=last_version + 1):
        again = replace(record, version=version, known=Period(at), command_id=None, **_NOT_CLOSED)
        reopened.append(OpenedRecord(again, record.version))
    return tuple(reopened)


def go_back(records: Sequence[Record], since: Instant, at: Instant, last_version: int) -> Change:
    """Take back every change known from `since` on: what was believed just before it is believed again. `records`
    are all records of the identity. What such a record says already stays open. Raises ValueError when nothing was
    known before."""
    before = known_before(records, since)
    if not before:
        raise ValueError("nothing was changed since it was written")
    reverted = [record for record in before if not is_open(record)]
    later = (record for record in open_records(records) if record.known.start >= since)
    closed = tuple(close(record, at, "discovered_false") for record in later)
    return Change(at, closed, _reopen(reverted, at, last_version))


def known_before(records: Iterable[Record], moment: Instant) -> OpenRecords:
    """The records of an identity that were open just before a moment, by valid time."""
    known = (record for record in records if record.known.start < moment <= record.known.end)
    return sorted(known, key=_valid_start)


def _valid_start(record: Record) -> Instant:
    return record.valid.start


def _commands_at(records: Sequence[Record], moment: Instant) -> set[str | None]:
    """Return the commands that changed an identity at a moment; an atomic list may contain several."""
    opened = {record.command_id for record in records if record.known.start == moment}
    return opened | {record.closed_by for record in records if record.known.end == moment}


def last_commands(records: Sequence[Record]) -> frozenset[str]:
    """Return the commands of the last change; an atomic list may contain several."""
    named = _commands_at(records, _last_change(records)[0]) if records else set()
    return frozenset(command for command in named if command is not None)


def _last_change(records: Sequence[Record]) -> tuple[Instant, str | None]:
    """Time and command of the last change."""
    opened = [(record.known.start, record.command_id) for record in records]
    closed = [(record.known.end, record.closed_by) for record in records if not is_open(record)]
    return max(opened + closed, key=lambda change: (change[0], change[1] is not None))


def changes_until(valid_at: Instant, invalid_at: Instant, at: Instant) -> Instant:
    """When a record begins or ends to hold for the last time; 0 where it does neither after `at`."""
    last = valid_at if invalid_at == END_OF_TIME else max(valid_at, invalid_at)
    return last if last > at else 0
