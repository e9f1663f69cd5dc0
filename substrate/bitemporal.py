"""What each command closes and opens (DESIGN §4). Pure: records in, records out.

A record is visible in a scope when its valid time and its transaction time both overlap the scope's.
A closed record is never changed; the past is changed by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from schemas.memory import InvalidationReason
from schemas.temporal import END_OF_TIME, Instant, Period, Scope


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a memory: its content over a valid time, as known over a transaction time.

    `content` holds every property but the times, the version and the reason of its end.
    """

    id: str
    version: int
    valid: Period
    known: Period
    content: Mapping[str, Any] = field(default_factory=dict)
    reason: InvalidationReason | None = None


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
    return replace(record, known=Period(record.known.start, at), reason=reason)


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
    latest = Record(record.id, record.version + 2, Period(effective, record.valid.end), Period(at), content)
    return Change(_close(record, at, "reality_changed"), kept, latest)


def correct(record: Record, content: Mapping[str, Any], now: Instant) -> Change:
    """We were wrong: the corrected content holds over the same valid time."""
    at = after(now, record)
    latest = Record(record.id, record.version + 1, record.valid, Period(at), content)
    return Change(_close(record, at, "discovered_false"), None, latest)


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


def is_open(record: Record) -> bool:
    """Whether the record is part of what is known now."""
    return record.known.end == END_OF_TIME
