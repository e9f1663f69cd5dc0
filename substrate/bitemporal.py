"""What each command closes and opens (DESIGN §4). Pure: records in, records out.

A record is visible in a scope when its valid time and its transaction time both overlap the scope's.
A closed record is never changed; the past is changed by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from schemas.memory import InvalidationReason, Source
from schemas.temporal import END_OF_TIME, Instant, Period, Scope


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a memory or a link: its content over a valid time, as known over a transaction time.

    `content` holds every property but these. `reason` says why the valid time ends, `closed_reason` why the
    transaction time did; `command_id` opened the record, `closed_by` closed it, sent by
    `closed_source`.
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


@dataclass(frozen=True, slots=True)
class Change:
    """What a command does to an identity.

    `closed` is the open record as it ends. `kept` goes on in the past side: content that stays true until
    the change. `latest` is the record that the identity carries from now on, None when nothing is left.
    """

    closed: Record
    kept: Record | None
    latest: Record | None


def visible(record: Record, scope: Scope) -> bool:
    """Whether the record belongs to what the scope may see."""
    return record.valid.overlaps(scope.valid) and record.known.overlaps(scope.known)


def after(now: Instant, record: Record) -> Instant:
    """The transaction time of a change to `record`: now, but never before what it changes."""
    return max(now, record.known.start + 1)


def _close(record: Record, at: Instant, reason: InvalidationReason) -> Record:
    return replace(record, known=Period(record.known.start, at), closed_reason=reason)


def supersede(record: Record, content: Mapping[str, Any], effective: Instant, now: Instant) -> Change:
    """The world changed at `effective`: the old content is valid until then, the new from then on.

    Raises ValueError when `effective` does not lie inside the record's valid time.
    """
    if not record.valid.start < effective < record.valid.end:
        raise ValueError("effective_at must lie after the beginning and before the end of the record")
    at = after(now, record)
    kept = replace(
        record,
        version=record.version + 1,
        valid=Period(record.valid.start, effective),
        known=Period(at),
        reason="reality_changed",
    )
    rest = Period(effective, record.valid.end)
    latest = Record(record.id, record.version + 2, rest, Period(at), content, record.reason)
    return Change(_close(record, at, "reality_changed"), kept, latest)


def correct(record: Record, content: Mapping[str, Any], now: Instant) -> Change:
    """We were wrong: the corrected content holds over the same valid time."""
    return _replaced(record, content, "discovered_false", now)


def resolve(record: Record, content: Mapping[str, Any], now: Instant) -> Change:
    """The work stands otherwise: the content in its new state holds over the same valid time."""
    return _replaced(record, content, "reality_changed", now)


def _replaced(record: Record, content: Mapping[str, Any], reason: InvalidationReason, now: Instant) -> Change:
    at = after(now, record)
    latest = Record(record.id, record.version + 1, record.valid, Period(at), content, record.reason)
    return Change(_close(record, at, reason), None, latest)


def retract(record: Record, effective: Instant | None, reason: InvalidationReason, now: Instant) -> Change:
    """The content holds until `effective`; without one, or when that is not after its beginning, never.

    Raises ValueError when `effective` lies after the end of the record's valid time.
    """
    at = after(now, record)
    closed = _close(record, at, reason)
    if effective is None or effective <= record.valid.start:
        return Change(closed, None, None)
    if effective >= record.valid.end:
        raise ValueError("effective_at must lie before the end of the record")
    latest = replace(
        record,
        version=record.version + 1,
        valid=Period(record.valid.start, effective),
        known=Period(at),
        reason=reason,
    )
    return Change(closed, None, latest)


@dataclass(frozen=True, slots=True)
class Reversal:
    """What an undo does to an identity.

    `closed`: the open records that end. `latest` and `kept` hold again what the undone command had closed,
    `latest_from` and `kept_from` are the versions that held it then.
    """

    undone: str | None
    at: Instant
    closed: tuple[Record, ...]
    kept: Record | None
    latest: Record | None
    kept_from: int | None
    latest_from: int | None


_NOT_CLOSED: Final[Mapping[str, Any]] = {"closed_reason": None, "closed_by": None, "closed_source": None}


def undo(records: Sequence[Record], undoes: str | None, now: Instant) -> Reversal:
    """Revert the last change of an identity, which `undoes` may name: what it opened is closed, what it closed
    holds again over the valid time that it had.

    `records` are all of the identity. Raises ValueError when nothing was changed, when `undoes` changed nothing
    of it, and when another change came after that.
    """
    happened, undone = _last_change(records)
    if undoes is not None and undoes != undone:
        if not any(undoes in (record.command_id, record.closed_by) for record in records):
            raise ValueError(f"the command {undoes} changed nothing of it")
        raise ValueError(f"the command {undone} came after {undoes}; undo that first")
    opened = [record for record in records if record.known.start == happened]
    reverted = sorted((record for record in records if record.known.end == happened), key=_valid_start)
    if not reverted and len(records) == 1:
        raise ValueError("nothing was changed since it was written")
    if reverted and not opened and any(map(is_open, records)) and _carried(records) not in reverted:
        raise ValueError("its last change was a repair, which is not undone")
    at = max(now, happened + 1)
    closed = tuple(_close(record, at, "discovered_false") for record in opened)
    back = [
        replace(record, version=version, known=Period(at), command_id=None, **_NOT_CLOSED)
        for version, record in enumerate(reverted, start=_carried(records).version + 1)
    ]
    return Reversal(
        undone,
        at,
        closed,
        kept=back[0] if len(back) > 1 else None,
        latest=back[-1] if back else None,
        kept_from=reverted[0].version if len(back) > 1 else None,
        latest_from=reverted[-1].version if back else None,
    )


def _valid_start(record: Record) -> Instant:
    return record.valid.start


def _carried(records: Sequence[Record]) -> Record:
    """The record with the highest version: each change gives that to what the identity carries."""
    return max(records, key=lambda record: record.version)


def _last_change(records: Sequence[Record]) -> tuple[Instant, str | None]:
    """When an identity was changed last, and by which command."""
    opened = [(record.known.start, record.command_id) for record in records]
    closed = [(record.known.end, record.closed_by) for record in records if not is_open(record)]
    return max(opened + closed, key=lambda change: (change[0], change[1] is not None))


def is_open(record: Record) -> bool:
    """Whether the record is part of what is known now."""
    return record.known.end == END_OF_TIME
