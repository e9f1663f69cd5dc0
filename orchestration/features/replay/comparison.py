"""Compares what a stream showed with what it shows when it is asked again. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from orchestration.assembly.displayed_text import one_line
from orchestration.features.replay.values import Cause, Fate, Replacement, Replay, ReplayedMemory
from orchestration.mind.stream_note import ShownRecord
from schemas.memory import GraphKey, graph_fields
from schemas.temporal import END_OF_TIME, Instant, open_end
from substrate.store.stream_notes import RecordNow


class Difference(NamedTuple):
    """How two orders of memories differ, without what was erased. `freed`: this many places the erased had."""

    only_then: frozenset[ShownRecord]
    only_now: frozenset[ShownRecord]
    order_changed: bool
    freed: int = 0

    @property
    def is_none(self) -> bool:
        """Whether both have the same memories in the same order, but for others in the places of the erased."""
        return not (self.only_then or self.order_changed) and len(self.only_now) <= self.freed


def compare(then: Sequence[ShownRecord], now: Sequence[ShownRecord], *, freed: int = 0) -> Difference:
    """What only one of them has, and whether what both have is in another order. `freed`: as of `Difference`."""
    only_then, only_now = frozenset(then) - frozenset(now), frozenset(now) - frozenset(then)
    both = [each for each in then if each not in only_then]
    return Difference(only_then, only_now, both != [each for each in now if each not in only_now], freed)


def describe(
    then: Sequence[ShownRecord],
    now: Sequence[ShownRecord],
    records: Mapping[ShownRecord, RecordNow],
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


def _places(order: Iterable[ShownRecord]) -> dict[ShownRecord, int]:
    return {each: place for place, each in enumerate(order, start=1)}


def _memory(
    shown: ShownRecord,
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
    fate: Fate = "same" if record.expired_at == END_OF_TIME else "closed"
    if place_then is None or place_now is None:
        fate = "only_now" if place_then is None else "only_then"
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


def find_causes(known: Mapping[Cause, bool], difference: Difference) -> tuple[Cause, ...]:
    """Why there is a difference: the causes that there are, else `unknown`; none without a difference."""
    if difference.is_none and not difference.only_now:
        return ()
    return tuple(cause for cause, holds in known.items() if holds) or ("unknown",)


CAUSES: Final[dict[Cause, str]] = {
    "weights": "other weights: of the channels, or feedback that was taken back",
    "model": "another embedding model",
    "erased": "something was erased since that weighed on the rest",
    "degraded": "part of the answer was missing, then or now",
    "reranker": "a model ordered the answer",
    "written_meanwhile": "something was written while it was asked",
    "imported": "something was imported since, with an earlier date",
    "unknown": "not explained",
}


def tell(replay: Replay) -> Iterator[str]:
    """What was asked and when, what has become of each memory, and what it comes to."""
    yield one_line(replay.asked)
    yield f"asked at {replay.asked_at:%Y-%m-%d %H:%M:%S} UTC; asked again as of then and known then"
    for memory in replay.memories:
        yield f"  {one_line(_tell_memory(memory))}"
    if replay.hidden:
        yield f"  and {replay.hidden} of graphs that this key may not read"
    fates = Counter(memory.fate for memory in replay.memories)
    counts = ", ".join(f"{count} {fate.replace('_', ' ')}" for fate, count in fates.items())
    whole = "The same memories in the same order" if replay.same else "Not the same"
    yield f"{whole}{', but for what was erased' if replay.same and fates['erased'] else ''}: {counts or 'none'}."
    yield from (f"Because: {CAUSES[cause]}." for cause in replay.causes)


def _tell_memory(memory: ReplayedMemory) -> str:
    if memory.fate == "erased":
        return f"-. {memory.id}: erased since"
    parts = [f"{memory.place_then or memory.place_now}. {memory.name or memory.id}"]
    if memory.closed_at is not None:
        why = (memory.reason or "no reason given").replace("_", " ")
        parts.append(f"closed {memory.closed_at:%Y-%m-%d %H:%M} ({why})")
    if memory.replaced_by is not None:
        parts.append(f"now: {memory.replaced_by.description or memory.replaced_by.name}")
    if memory.fate in ("only_then", "only_now"):
        parts.append(f"found {memory.fate.replace('_', ' ')}")
    return " · ".join(parts)
