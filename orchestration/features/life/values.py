"""What a life by weeks says."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from schemas.base import Frozen


class WeekOfLife(Frozen):
    """What began in the week from `start`, a Monday: how many memories, and their mean `energy`.

    `emotions`: how many of them felt each, those felt by most first. `generalisations`: how many of them upkeep
    made of others.
    """

    start: datetime
    memories: int
    energy: float
    emotions: dict[str, int] = Field(default_factory=dict)
    generalisations: int = 0


class Life(Frozen):
    """The weeks of a citizen in which anything began, the earliest first; of a very long life the newest 1,040.

    `memories`: how many there are in these weeks. `known_from`: when the first of them was known.
    """

    citizen_id: str
    weeks: tuple[WeekOfLife, ...] = ()
    memories: int = 0
    known_from: datetime | None = None
