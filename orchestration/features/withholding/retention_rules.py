"""Which memories the policies of a graph do not keep. Pure.

Policies are independent of each other: what one of them does not keep is reached, whatever another one keeps. So a
policy may be added without reading the others, and a general one and a stricter one for a tag work together.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappush, heappushpop
from typing import Final, NamedTuple

from orchestration.appraisal.names import Kind
from orchestration.features.withholding.values import ASKS_FROM, PolicyRule
from schemas.memory import ResolutionState, Source
from schemas.temporal import Instant

DAY_US: Final = 86_400_000_000
NAMES: Final = frozenset((*(kind.value for kind in Kind), "Self"))
"""Types of memories that a policy without a type is not about: texts mention them."""

type Place = tuple[Instant, str]
"""The order of memories by age: when, then the id, so that equal times have an order."""


class Row(NamedTuple):
    """What a policy asks of a memory. `written`: when its record became known; `happened`: when that began."""

    id: str
    name: str
    source: Source
    node_type: str
    tags: tuple[str, ...]
    state: ResolutionState | None
    written: Instant
    happened: Instant


def is_about(rule: PolicyRule, row: Row) -> bool:
    """True when the rule is about the memory, kept or not."""
    if rule.node_type is None and row.node_type in NAMES:
        return False
    fits_type = rule.node_type in (None, row.node_type)
    fits_tag = rule.tag is None or rule.tag.lstrip("#") in row.tags
    return fits_type and fits_tag and rule.source in (None, row.source)


def place(rule: PolicyRule, row: Row) -> Place:
    """Where the memory stands in the order of age."""
    return (row.written if rule.age == "written" else row.happened), row.id


class NewestCut:
    """Finds the place of the oldest of the N newest memories, in one pass."""

    def __init__(self, newest: int) -> None:
        self._newest = newest
        self._heap: list[Place] = []

    def add(self, at: Place) -> None:
        if len(self._heap) < self._newest:
            heappush(self._heap, at)
        else:
            heappushpop(self._heap, at)

    @property
    def place(self) -> Place | None:
        """The place of the N-th newest; None when there are fewer."""
        return self._heap[0] if len(self._heap) == self._newest else None


def is_kept(rule: PolicyRule, row: Row, now: Instant, cut: Place | None) -> bool:
    """True when the rule keeps a memory that it is about. `cut`: that of `NewestCut`."""
    at = place(rule, row)
    if rule.keep_days is not None and at[0] > now - round(rule.keep_days * DAY_US):
        return True
    if rule.keep_newest is not None and (cut is None or at >= cut):
        return True
    return rule.keep_until_resolved and row.state is not ResolutionState.RESOLVED


def reached_by(rule: PolicyRule, rows: Sequence[Row], now: Instant, cut: Place | None) -> list[Row]:
    """The memories among some that the rule does not keep."""
    return [row for row in rows if is_about(rule, row) and not is_kept(rule, row, now, cut)]


def asks(reached_count: int, total: int, confirmed: int) -> bool:
    """True when so many memories may not be reached without asking: more than the share and than was confirmed."""
    return reached_count > confirmed and reached_count > ASKS_FROM * total
