"""Transaction times that lie ahead of the present become times just before it, in the same order. Pure.

Transaction time never goes back, so a clock that was ahead once stamps all later changes after that day.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from schemas.temporal import END_OF_TIME, Instant
from substrate.store import states

TIMES: Final = tuple(
    "created_at expired_at touched clock feedback_at answered_at erased_at at last_cycle_at".split()
)
"""The properties of an exported line that say when something was written; valid times are none of them."""


class Restamping:
    """Takes the times of all lines, then moves those that need it: by no more than the order demands.

    So what was known at a moment before the present stays known then, and nothing else becomes so. `moved`: the
    new time by the old one.
    """

    def __init__(self, present: Instant) -> None:
        self._present = present
        self._seen: set[Instant] = set()
        self.moved: dict[Instant, Instant] = {}

    def take(self, properties: Mapping[str, Any]) -> None:
        self._seen.update(properties.get(name, END_OF_TIME) for name in TIMES)

    def settle(self) -> None:
        """Decide where the times go: the last to the present, each other a microsecond before the next."""
        free = self._present
        for at in sorted(self._seen - {END_OF_TIME}, reverse=True):
            if at <= free:
                return
            self.moved[at] = free
            free -= 1

    def restamp(self, properties: Mapping[str, Any]) -> Mapping[str, Any]:
        """The properties of a line with its times moved; a past state lies in another cell then."""
        moved = {**properties}
        for name in TIMES:
            if properties.get(name) in self.moved:
                moved[name] = self.moved[properties[name]]
        return {**moved, "cell": states.cell_of(states.record_of(moved))} if "cell" in moved else moved
