"""Which kind of change each memory had since a moment: new, corrected, closed or resolved. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from orchestration.features.situation.queries import ChangedRecord
from orchestration.features.situation.values import CHANGE_KINDS, Change, ChangeKind, Changes
from schemas.memory import GraphKey, ResolutionState, collective_of, level_of
from schemas.temporal import Instant, to_datetime

CHANGES_SHOWN: Final = 10
LINKED: Final = "linked"
"""The work of a record whose resolution a link tells."""


class _Told(NamedTuple):
    kind: ChangeKind
    change: Change


def sort_changes(records: Iterable[tuple[GraphKey, Sequence[ChangedRecord]]], since: Instant) -> Changes:
    """The changes of the memories of each graph since a moment, by kind, the latest first, at most ten of each."""
    told: defaultdict[ChangeKind, list[Change]] = defaultdict(list)
    for key, of_graph in records:
        for of_memory in _by_memory(of_graph):
            one = _read(of_memory, key, since)
            if one is not None:
                told[one.kind].append(one.change)
    for changes in told.values():
        changes.sort(key=lambda change: (change.at, change.memory_id), reverse=True)
    more = {kind: len(told[kind]) - CHANGES_SHOWN for kind in CHANGE_KINDS if len(told[kind]) > CHANGES_SHOWN}
    return Changes(**{kind: tuple(told[kind][:CHANGES_SHOWN]) for kind in CHANGE_KINDS}, more=more)


def _by_memory(records: Iterable[ChangedRecord]) -> Iterable[list[ChangedRecord]]:
    """The records of each memory, the first known first."""
    grouped: defaultdict[str, list[ChangedRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (record.known_at, record.at)):
        grouped[record.memory_id].append(record)
    return grouped.values()


def _read(records: Sequence[ChangedRecord], key: GraphKey, since: Instant) -> _Told | None:
    """What the records of one memory say together; None where nothing that a reader sees is another."""
    first, last = records[0], max(records, key=lambda record: record.at)
    was_known = first.known_at < since
    before = first.before
    resolved = any(record.work == LINKED for record in records) or (
        was_known and first.work != ResolutionState.RESOLVED and last.state == ResolutionState.RESOLVED
    )
    if resolved:
        kind: ChangeKind = "resolved"
    elif not last.holds:
        kind = "closed"
    else:
        kind = "corrected" if was_known else "new"
    if (kind == "closed" and not was_known) or (kind == "corrected" and before == last.now):
        return None
    text = last.now if last.holds else before or ""
    shown = before if kind == "corrected" else None
    reason = last.reason if kind in ("corrected", "closed") else None
    change = Change(
        memory_id=last.memory_id,
        level=level_of(key),
        collective=collective_of(key),
        text=text,
        before=shown,
        reason=reason,
        speaker=last.speaker,
        at=to_datetime(last.at),
    )
    return _Told(kind, change)
