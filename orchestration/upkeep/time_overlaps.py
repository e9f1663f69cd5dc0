"""Two records of one identity that are visible at the same moment: a question about it has two answers. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from orchestration.upkeep.findings import Place, attempt, finding
from schemas.temporal import END_OF_TIME, Period
from schemas.upkeep import CloseRecord, Finding, RetractLink
from substrate.store.upkeep import LinkRow, RecordRow, link_identity

type Pair = tuple[RecordRow, RecordRow]


def overlapping(records: Iterable[RecordRow]) -> Iterator[Pair]:
    """Pairs of records of one identity that share a moment on both axes, the earlier known first.

    Records that live together lie side by side in valid time, so that each new one need only be held against
    its neighbours.
    """
    together: list[RecordRow] = []
    for record in sorted(records, key=lambda one: (one.known.start, one.valid.start, one.carried)):
        place = bisect_left(together, record.valid.start, key=_start)
        while place > 0 and (left := together[place - 1]).valid.end > record.valid.start:
            place -= 1
            if left.known.end > record.known.start:
                yield left, record
                break
            del together[place]
        place = bisect_left(together, record.valid.start, key=_start)
        while place < len(together) and together[place].valid.start < record.valid.end:
            if together[place].known.end > record.known.start:
                yield together[place], record
                break
            del together[place]
        insort(together, record, key=_start)


def _start(record: RecordRow) -> int:
    return record.valid.start


def of_memories(records: Iterable[RecordRow], place: Place) -> Iterator[Finding]:
    """Overlapping records of memories; `records` of several identities, each whole."""
    identities = groupby(sorted(records, key=attrgetter("identity")), key=attrgetter("identity"))
    for identity, its in identities:
        for older, newer in overlapping(its):
            said = f"its versions {older.version} and {newer.version} hold and are believed at the same moment"
            yield finding("overlap", place, identity, said, _closing(older, newer, place))


def _closing(older: RecordRow, newer: RecordRow, place: Place) -> CloseRecord | None:
    """Close the past one of the two, if it was left open and the other says all of its time."""
    for left_open, other in ((older, newer), (newer, older)):
        both_known = left_open.known.end == other.known.end == END_OF_TIME
        within = other.valid.start <= left_open.valid.start and left_open.valid.end <= other.valid.end
        if both_known and within and not left_open.carried and isinstance(left_open.version, int):
            return attempt(
                CloseRecord,
                level=place.level,
                citizen_id=place.citizen_id,
                id=left_open.identity,
                version=left_open.version,
                seen=left_open.known.start,
                at=max(other.known.start, left_open.known.start + 1),
            )
    return None


def record_of(row: LinkRow) -> RecordRow | None:
    """A link as a record; None when it has no id or no times, which is found elsewhere."""
    fields = row.fields
    times = [fields[name] for name in ("valid_at", "invalid_at", "created_at", "expired_at")]
    if not isinstance(fields["id"], str) or not all(isinstance(time, int) for time in times):
        return None
    identity = link_identity(row.source.id, fields["id"], row.target.id)
    return RecordRow(identity, None, Period(*times[:2]), Period(*times[2:]), carried=True)


def of_links(records: Iterable[RecordRow], place: Place) -> Iterator[Finding]:
    """Overlapping records of links, open and closed."""
    identities = groupby(sorted(records, key=attrgetter("identity")), key=attrgetter("identity"))
    for identity, its in identities:
        source_id, link_id, target_id = identity.split("\0")
        for older, newer in overlapping(_seen_once(list(its))):
            ends = {"source_id": source_id, "target_id": target_id}
            task = {"level": place.level, "citizen_id": place.citizen_id, "id": link_id, **ends}
            yield finding(
                "overlap",
                place,
                link_id,
                "two of its records hold at the same moment",
                _withdrawing(older, newer, task),
            )


def _seen_once(records: list[RecordRow]) -> Iterator[RecordRow]:
    """The records without those that were read twice: open, and closed by another writer a moment later."""
    open_ones = {(one.valid, one.known.start) for one in records if one.carried}
    for one in records:
        if one.carried or one.known.end == END_OF_TIME or (one.valid, one.known.start) not in open_ones:
            yield one


def _withdrawing(older: RecordRow, newer: RecordRow, task: dict[str, Any]) -> RetractLink | None:
    """Withdraw the older of two open records: the newer one was meant to replace it."""
    both_open = older.carried and newer.carried and older.known.end == newer.known.end == END_OF_TIME
    if not both_open or older.known.start == newer.known.start:
        return None
    return attempt(RetractLink, **task, seen=older.known.start)
