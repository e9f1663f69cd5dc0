"""How many rows one statement takes: fewer after one that ran past its deadline, then more again. Pure.

Additive increase, multiplicative decrease, as TCP finds how much a path carries (Chiu and Jain, 1989). A statement
that is late costs its whole time and changes nothing, so a size that only just meets the deadline is not exceeded:
a statement that was slow is not followed by a larger one, as delay-based congestion control does it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

DECREASE: Final = 2
"""After a late statement the next one has this many times fewer rows."""
STEPS: Final = 25
"""This many full statements in time lead from a single row back to the most rows."""
SLOW_S: Final = 0.3
"""A statement that took longer is not followed by a larger one. The deadline of the engine is one second."""


class BatchSize:
    """The size of the statements of one kind; `size` is from 1 to `most`."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.size = most

    def note_written(self, rows: int, seconds: float) -> None:
        """A statement of this many rows was in time. It says something of a larger one only if it was full."""
        if rows >= self.size and seconds <= SLOW_S:
            self.size = min(self.most, self.size + max(1, self.most // STEPS))

    def note_late(self, rows: int) -> None:
        """A statement of this many rows ran past its deadline."""
        self.size = max(1, min(self.size, rows // DECREASE))


class BatchSizes:
    """The sizes of all kinds of statements that one connection sends: what makes one late is the machine."""

    def __init__(self) -> None:
        self._sizes: dict[Hashable, BatchSize] = {}

    def of(self, kind: Hashable, most: int) -> BatchSize:
        """The size of the statements of this kind, which begins at `most`. A kind is a constant of the code."""
        return self._sizes.setdefault((kind, most), BatchSize(most))
