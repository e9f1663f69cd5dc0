"""What each command closes and opens (DESIGN §4). Pure: records in, records out.

A record is visible in a scope when its valid time and its transaction time both overlap the scope's.
A closed record is never changed; the past is changed by nobody. A command acts on a stretch of valid time (the
portion of valid time of SQL:2011): what is open in the stretch is closed, what lies beside it holds on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from schemas.memory import InvalidationReason, Source
from schemas.temporal import END_OF_TIME, Instant, Period, Scope, to_datetime

NOTHING_HOLDS: Final = "nothing of it is known at"
REPAIR_PREFIX: Final = "repair-"
"""How the id of a repair begins: it mends what no command leaves, so no undo brings that back."""


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a memory or a link: its content over a valid time, as known over a transaction time.

    `content` holds every property but these. `reason` says why the valid time ends, `closed_reason` why the
    transaction time did; `command_id` opened the record, with the key `key_id`; `closed_by` closed it, sent by
    `closed_source` with the key `closed_key`.
    """

    id: str
    version: int
    valid: Period
    known: Period
    content: Mapping[str, Any] = field(default_factory=dict)
    reason: InvalidationReason | None = None
    closed_reason: InvalidationReason | None = None
    command_id: str | None = None
    closed_by: str | None = None
    closed_source: Source | None = None
    key_id: str | None = None
    closed_key: str | None = None

    @property
    def last_known(self) -> Instant:
        """When it was written last: closed, or opened where it is still open."""
        return self.known.start if is_open(self) else self.known.end


@dataclass(frozen=True, slots=True)
class Opened:
    """A record that a change opens, made from the version `of`. `revised`: its content is another than that's."""

    record: Record
    of: int
    revised: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What a command does to an identity at the transaction time `at`.

    `closed` are the records that were open until then, `opened` those that are from then on: both in the order of
    their valid time. `undone` is the command that an undo reverts.
    """

    at: Instant
    closed: tuple[Record, ...]
    opened: tuple[Opened, ...]
    undone: str | None = None

    @property
    def told(self) -> Record:
        """What a receipt tells: the first record of new content, else the last one left, else what was closed."""
        new = next((one for one in self.opened if one.revised), self.opened[-1] if self.opened else None)
        return self.closed[0] if new is None else new.record


type Open = Sequence[Record]
"""The open records of one identity, by valid time: no two of them share an instant."""


def visible(record: Record, scope: Scope) -> bool:
    """Whether the record belongs to what the scope may see."""
    return record.valid.overlaps(scope.valid) and record.known.overlaps(scope.known)


def is_open(record: Record) -> bool:
    """Whether the record is part of what is known now."""
    return record.known.end == END_OF_TIME


def open_records(records: Iterable[Record]) -> Open:
    """The open ones among the records of an identity, by valid time."""
    return sorted(filter(is_open, records), key=_valid_start)


def held_at(open_ones: Open, moment: Instant) -> Record:
    """The record that holds at the moment; where none does, the last one before it, else the first behind it.

    `open_ones` has one record at least.
    """
    begun = [record for record in open_ones if record.valid.start <= moment]
    return begun[-1] if begun else open_ones[0]


def named_portion(open_ones: Open, portion: Period) -> Period:
    """The portion, checked. Without an end it reaches to the end of what is known.

    Raises ValueError for one that is empty, that begins where nothing is known, or that has an end and spans a
    time of which nothing is known.
    """
    if portion.end <= portion.start:
        raise ValueError("the portion of valid time is empty: valid_to must lie after valid_from")
    within = [record for record in open_ones if record.valid.overlaps(portion)]
    if not within or within[0].valid.start > portion.start:
        raise ValueError(_unknown(portion.start, open_ones))
    if portion.end == END_OF_TIME:
        return portion
    covered = portion.start
    for record in within:
        if record.valid.start > covered:
            break
        covered = record.valid.end
    if covered < portion.end:
        raise ValueError(_unknown(covered, open_ones))
    return portion


def _told(moment: Instant) -> str:
    return to_datetime(moment).isoformat().replace("+00:00", "Z")


def _unknown(moment: Instant, open_ones: Open) -> str:
    nearest = _stretch(held_at(open_ones, moment))
    return f"{NOTHING_HOLDS} {_told(moment)}: the nearest record holds {nearest}"


def _stretch(record: Record) -> str:
    end = "" if record.valid.end == END_OF_TIME else f" to {_told(record.valid.end)}"
    return f"from {_told(record.valid.start)}{end}"


type Revise = Callable[[Record], Mapping[str, Any] | None]
"""The new content of a record, None where nothing is to hold any longer."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """How a portion of valid time is written anew: when that is known, after which version, and why.

    Without a `reason` the old record was no worse than the new: it says the same.
    """

    at: Instant
    last_version: int
    reason: InvalidationReason | None


def rewrite(open_ones: Open, portion: Period, revise: Revise, how: Rewriting) -> Change:
    """Write what holds in the portion anew: the content of each record that `revise` gives for it, or nothing.

    What a record says beside the portion holds on, in a record of its own. A record whose content `revise` leaves
    as it is (the same object) stays untouched.
    """
    touched = [
        (record, content)
        for record in open_ones
        if record.valid.overlaps(portion) and (content := revise(record)) is not record.content
    ]
    opened: list[Opened] = []
    for record, content in touched:
        opened += _pieces(record, content, portion, how)
    closed = tuple(close(record, how.at, how.reason) for record, _ in touched)
    numbered = enumerate(opened, start=how.last_version + 1)
    return Change(
        how.at, closed, tuple(replace(one, record=replace(one.record, version=number)) for number, one in numbered)
    )


def _pieces(record: Record, content: Mapping[str, Any] | None, portion: Period, how: Rewriting) -> list[Opened]:
    start, end = max(record.valid.start, portion.start), min(record.valid.end, portion.end)
    still = replace(record, known=Period(how.at), command_id=None, **_NOT_CLOSED)
    pieces: list[Opened] = []
    if record.valid.start < start:
        before = replace(still, valid=Period(record.valid.start, start), reason=how.reason)
        pieces.append(Opened(before, record.version))
    if content is not None:
        reason = record.reason if end == record.valid.end else how.reason
        new = Record(record.id, 0, Period(start, end), Period(how.at), content, reason)
        pieces.append(Opened(new, record.version, revised=True))
    if end < record.valid.end:
        pieces.append(Opened(replace(still, valid=Period(end, record.valid.end)), record.version))
    return pieces


def correct_period(
    open_ones: Open, record: Record, corrected: tuple[Period, Mapping[str, Any]], how: Rewriting
) -> Change:
    """The record holds, and held, over another valid time, with this content.

    Raises ValueError when that is empty, or where another record of the identity holds.
    """
    valid, content = corrected
    if valid.end <= valid.start:
        raise ValueError("invalid_at must lie after valid_at: what ends before it begins never holds")
    _alone(valid, [one for one in open_ones if one is not record])
    reason = record.reason if valid.end == record.valid.end else None
    new = Record(record.id, how.last_version + 1, valid, Period(how.at), content, reason)
    closed = close(record, how.at, how.reason)
    return Change(how.at, (closed,), (Opened(new, record.version, revised=True),))


def begin(open_ones: Open, record: Record) -> Change:
    """An identity of which nothing is known over the record's valid time holds there, too.

    Raises ValueError where a record of it holds.
    """
    _alone(record.valid, open_ones)
    return Change(record.known.start, (), (Opened(record, 0, revised=True),))


def _alone(valid: Period, others: Iterable[Record]) -> None:
    over = [record for record in others if record.valid.overlaps(valid)]
    if over:
        raise ValueError(f"another record of it holds {_stretch(over[0])}")


def close(record: Record, at: Instant, reason: InvalidationReason | None) -> Record:
    """The record, known until `at`."""
    return replace(record, known=Period(record.known.start, at), closed_reason=reason)


_NOT_CLOSED: Final[Mapping[str, Any]] = dict.fromkeys(
    ("closed_reason", "closed_by", "closed_source", "closed_key")
)


def undo(records: Sequence[Record], undoes: str | None, at: Instant, last_version: int) -> Change:
    """Revert the last change of an identity, which `undoes` may name: what it opened is closed, what it closed
    holds again over the valid time that it had.

    `records` are all of the identity, `last_version` is the highest that one ever had. Raises ValueError when
    nothing was changed, when `undoes` changed nothing of it, and when another change came after that.
    """
    happened, undone = _last_change(records)
    if undoes is not None and undoes in _by(records, happened):
        undone = undoes
    if undoes is not None and undoes != undone:
        if not any(undoes in (record.command_id, record.closed_by) for record in records):
            raise ValueError(f"the command {undoes} changed nothing of it")
        raise ValueError(f"the command {undone} came after {undoes}; undo that first")
    opened = sorted((record for record in records if record.known.start == happened), key=_valid_start)
    reverted = sorted((record for record in records if record.known.end == happened), key=_valid_start)
    if len(opened) == len(records):
        raise ValueError("nothing was changed since it was written")
    if undone is not None and undone.startswith(REPAIR_PREFIX):
        raise ValueError("its last change was a repair, which is not undone")
    back = tuple(
        Opened(replace(one, version=version, known=Period(at), command_id=None, **_NOT_CLOSED), one.version)
        for version, one in enumerate(reverted, start=last_version + 1)
    )
    closed = tuple(close(record, at, "discovered_false") for record in opened)
    return Change(at, closed, back, undone)


def _valid_start(record: Record) -> Instant:
    return record.valid.start


def _by(records: Sequence[Record], moment: Instant) -> set[str | None]:
    """The commands that changed an identity at a moment: of an atomic list there may be several."""
    opened = {record.command_id for record in records if record.known.start == moment}
    return opened | {record.closed_by for record in records if record.known.end == moment}


def _last_change(records: Sequence[Record]) -> tuple[Instant, str | None]:
    """When an identity was changed last, and by which command."""
    opened = [(record.known.start, record.command_id) for record in records]
    closed = [(record.known.end, record.closed_by) for record in records if not is_open(record)]
    return max(opened + closed, key=lambda change: (change[0], change[1] is not None))
