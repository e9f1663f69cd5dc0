"""Compares what a stream showed with what it shows when it is asked again. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from orchestration.features.replay.values import Cause, Fate, Replacement, ReplayedMemory
from orchestration.mind.stream_note import Shown
from schemas.memory import GraphKey, graph_fields
from schemas.temporal import END_OF_TIME, Instant, open_end
from substrate.store.stream_notes import RecordNow


class Difference(NamedTuple):
    """How two orders of memories differ, without what was erased. `freed`: so many places the erased had."""

    only_then: frozenset[Shown]
    only_now: frozenset[Shown]
    order_changed: bool
    freed: int = 0

    @property
    def is_none(self) -> bool:
        """Whether both have the same memories in the same order, but for others in the places of the erased."""
        return not (self.only_then or self.order_changed) and len(self.only_now) <= self.freed


def compare(then: Sequence[Shown], now: Sequence[Shown], *, freed: int = 0) -> Difference:
    """What only one of them has, and whether what both have is in another order. `freed`: as of `Difference`."""
    only_then, only_now = frozenset(then) - frozenset(now), frozenset(now) - frozenset(then)
    both = [each for each in then if each not in only_then]
    return Difference(only_then, only_now, both != [each for each in now if each not in only_now], freed)


def describe(
    then: Sequence[Shown],
    now: Sequence[Shown],
    records: Mapping[Shown, RecordNow],
    causes: Sequence[Cause],
    *,
    moment: Instant,
    may_read: Callable[[GraphKey], bool],
) -> list[ReplayedMemory]:
    """What has become of each memory: those of then in their order, then those that are shown only now.

    `records`: the records that still exist, as they are at `moment`; one that is missing was erased.
    """
    standing = [each for each in then if each in records]
    places_then, places_now = _places(standing), _places(now)
    return [
        _memory(each, records.get(each), (places_then.get(each), places_now.get(each)), causes, moment=moment)
        for each in dict.fromkeys((*then, *now))
        if may_read(each.graph)
    ]


def _places(order: Iterable[Shown]) -> dict[Shown, int]:
    return {each: place for place, each in enumerate(order, start=1)}


def _memory(
    shown: Shown,
    record: RecordNow | None,
    places: tuple[int | None, int | None],
    causes: Sequence[Cause],
    *,
    moment: Instant,
) -> ReplayedMemory:
    named = {**graph_fields(shown.graph), "id": shown.id, "version": shown.version}
    if record is None:
        return ReplayedMemory(**named, fate="erased")
    place_then, place_now = places
    fate = _fate(record, place_then, place_now)
    replaced_by, holds = None, record.newest_expired_at == END_OF_TIME and record.newest_invalid_at > moment
    if record.expired_at != END_OF_TIME and holds:
        version, name, description = record.newest_version, record.newest_name, record.newest_description
        replaced_by = Replacement(version=version, name=name, description=description)
    return ReplayedMemory(
        **named,
        fate=fate,
        name=record.name,
        place_then=place_then,
        place_now=place_now,
        closed_at=open_end(record.expired_at),
        reason=record.reason if record.expired_at != END_OF_TIME else None,
        replaced_by=replaced_by,
        causes=tuple(causes) if fate in ("only_then", "only_now") else (),
    )


def _fate(record: RecordNow, place_then: int | None, place_now: int | None) -> Fate:
    if place_then is None:
        return "only_now"
    if place_now is None:
        return "only_then"
    return "same" if record.expired_at == END_OF_TIME else "closed"


def find_causes(known: Mapping[Cause, bool], difference: Difference) -> tuple[Cause, ...]:
    """Why there is a difference: the causes that there are, else `unknown`; none without a difference."""
    if difference.is_none and not difference.only_now:
        return ()
    return tuple(cause for cause, holds in known.items() if holds) or ("unknown",)
