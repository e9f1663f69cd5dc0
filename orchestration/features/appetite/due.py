"""What comes due: memories that begin soon, days that a text plans, and rules that come back. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import Final, NamedTuple

from orchestration.features.appetite.formulas import nearness
from orchestration.features.appetite.queries import Stirring
from orchestration.question.planned_times import read_planned_times
from schemas.memory import ResolutionState
from schemas.temporal import Instant, Period, to_datetime

LEAST: Final = 0.01
"""What is less due, more than six days away, is not mentioned."""
_DONE: Final = ResolutionState.RESOLVED.value


class Plan(NamedTuple):
    """A memory with a time that it plans, and whether that comes back."""

    memory: Stirring
    period: Period
    recurring: bool = False


class Due(NamedTuple):
    """A memory and the time that it plans. `amount`, in [0, 1]: how due it is."""

    memory: Stirring
    period: Period
    amount: float


def find_due(
    memories: Iterable[Stirring], now: Instant, zone: tzinfo, *, last: Instant | None = None
) -> list[Due]:
    """What is due, most first; of each memory the time that is nearest.

    `last`: when the citizen last asked for a stream. A rule that comes back is due once each time: not after it.
    """
    return rate_plans(read_plans(memories, now, zone), now, last=last)


def rate_plans(plans: Iterable[Plan], now: Instant, *, last: Instant | None = None) -> list[Due]:
    """The plans that are due, most first; of each memory the one that is nearest. `last`: as for `find_due`."""
    nearest: dict[str, Due] = {}
    for memory, period, recurring in plans:
        if recurring and (memory.kind != "rule" or (last is not None and last >= period.start)):
            continue
        each = Due(memory, period, nearness(period, now))
        before = nearest.get(each.memory.id)
        if each.amount >= LEAST and (before is None or each.amount > before.amount):
            nearest[each.memory.id] = each
    return sorted(nearest.values(), key=lambda each: (-each.amount, each.period, each.memory.id))


def most_due(due: Sequence[Due]) -> float:
    """How due the first is; 0 where nothing is."""
    return max((each.amount for each in due), default=0.0)


def read_plans(memories: Iterable[Stirring], now: Instant, zone: tzinfo) -> list[Plan]:
    """What the memories plan. It is the same at any moment of one day in this zone."""
    return [plan for memory in memories for plan in _plans(memory, now, zone)]


def _plans(memory: Stirring, now: Instant, zone: tzinfo) -> Iterator[Plan]:
    if memory.kind == "planned":
        yield Plan(memory, Period(memory.valid_at, memory.valid_at))
        return
    if memory.kind not in ("said", "rule") or memory.work == _DONE:
        return
    text = memory.rule or memory.text if memory.kind == "rule" else memory.text
    is_work = memory.kind == "rule" or memory.goal is not None or memory.work is not None
    said, moment = (to_datetime(each).astimezone(zone) for each in (memory.valid_at, now))
    for planned in read_planned_times(text, said, moment, is_work=is_work):
        yield Plan(memory, planned.period, planned.recurring)
